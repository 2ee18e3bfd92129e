// What a sweep does now, as it does it.
import {element, replaced} from "./format.js";
import {act, grid} from "./source.js";

function show_progress(said, notify) {
  const sweep = said.sweep;
  const start = said.sweeps && said.sweeps.length ? start_form(said.sweeps, notify) : null;
  if (!sweep) { replaced("progress-view", start); return; }
  const share = sweep.total > 0 ? Math.min(1, sweep.done / sweep.total) : null;
  const left = sweep.left_s >= 0 ? `, about ${Math.ceil(sweep.left_s)} s left` : "";
  const lines = (sweep.lines || []).slice(-8);
  replaced("progress-view",
    element("div", {class: "notice calm"},
      element("strong", {}, sweep.is_running ? `Running: ${sweep.name}` : `Ended: ${sweep.name}, ${sweep.outcome}`),
      element("div", {}, `${sweep.done}${sweep.total > 0 ? ` of ${sweep.total}` : " kernels so far"}${sweep.is_running && sweep.subject ? `, now ${sweep.subject}` : ""}${sweep.is_running ? left : ""}${sweep.failed ? `, ${sweep.failed} failed` : ""}`),
      share === null ? null : element("progress", {max: 1, value: share, "aria-label": "Part that is done"}),
      lines.length ? element("pre", {class: "scroll", tabindex: 0, role: "region", "aria-label": "What it said last"}, lines.join("\n")) : null,
      sweep.is_ours || !sweep.is_running ? null : element("p", {class: "from"}, "It was not started here: where it was, Ctrl-C stops it."),
      sweep.is_ours && sweep.is_running ? button("Stop", () => act("stop", {}), notify) : null,
      sweep.is_ours && !sweep.is_running && sweep.can_resume ? button("Resume", () => act("start", {sweep: sweep.name}), notify) : null),
    sweep.is_running ? null : start);
}

function button(label, action, notify) {
  return element("button", {type: "button", onclick: async () => { try { await action(); } catch (error) { notify(error.message); } }}, label);
}

let last_key = "";
function start_form(sweeps, notify) {
  const input = element("select", {"aria-label": "Sweep"}, sweeps.map((name) => element("option", {value: name}, name)));
  return element("div", {class: "toolbar"}, element("label", {}, "Measure here", input), button("Start", () => act("start", {sweep: input.value}), notify));
}

// `back`: called when the server answers again after it did not; `ended`: when a sweep has ended.
export function follow_progress(notify, back, ended) {
  if (grid || !window.EventSource) return;
  const events = new EventSource("/api/events");
  let is_lost = false, was_running = false;
  events.onmessage = (event) => {
    // What did not change keeps its focus.
    if (event.data === last_key) return;
    last_key = event.data;
    const said = JSON.parse(event.data), is_running = Boolean(said.sweep && said.sweep.is_running);
    show_progress(said, notify);
    if (was_running && !is_running) ended();
    was_running = is_running;
  };
  // A browser asks again by itself, every few seconds.
  events.onerror = () => {
    if (is_lost) return;
    is_lost = true;
    last_key = "";
    notify("The server does not answer. What stands here stays; it is asked again every few seconds.");
  };
  events.onopen = () => {
    if (is_lost) back();
    is_lost = false;
  };
  window.addEventListener("pagehide", () => events.close());
}
