// From a change of a control to everything that follows from it.
import {text} from "./format.js";
import {ask, grid, query_of, taken_token} from "./source.js";
import {learn, show_words} from "./glossary.js";
import {asked_state, begin_controls, permalink, read_address, set_state, short_strategy, show_layouts} from "./controls.js";
import {show_figures, show_layout_table, show_operators} from "./figures.js";
import {show_fabric} from "./fabric.js";
import {show_sharding} from "./sharding.js";
import {show_timeline, show_timeline_refusal} from "./timeline.js";
import {axis_words, read_axes, show_front, show_here} from "./front.js";
import {show_journal} from "./journal.js";
import {exported_step, show_exports} from "./exports.js";
import {follow_progress} from "./progress.js";

const notice = document.getElementById("notice");
let running = null, settled = 0, drawn_fabric = {id: null, drawing: null}, front_key = "", timeline_key = "";

function notify(message, is_calm = false) {
  notice.textContent = message;
  notice.hidden = !message;
  notice.classList.toggle("calm", is_calm);
}

async function fabric_of(asked, signal) {
  if (!asked.fabric) return null;
  if (drawn_fabric.id !== asked.fabric) {
    const {device, model, fabric} = asked;
    drawn_fabric = {id: fabric, drawing: await ask("fabric", {device, model, fabric}, signal)};
  }
  return drawn_fabric.drawing;
}

function show_title(step) {
  const {model, device, shards, strategy, phase, batch} = step.state;
  const by_key = Object.fromEntries(step.figures.map((figure) => [figure.key, figure]));
  const line = `${model} on ${shards} x ${device} (${short_strategy(strategy)}), ${phase}, batch ${batch}`;
  document.getElementById("title").textContent = line;
  document.title = `${line}: ${text(by_key.step_ns.value, "ns")} - Halmark`;
}

function show_step(step, drawing) {
  const began = performance.now();
  show_title(step);
  show_figures(step);
  show_layouts(step.layouts);
  show_layout_table(step, (strategy) => set_state({strategy}));
  show_operators(step);
  show_sharding(step);
  show_fabric(drawing, step);
  show_here(step);
  exported_step(step);
  notify(step.warnings.join(" "));
  document.body.classList.remove("waiting", "refused");
  requestAnimationFrame(() => setTimeout(() => { document.body.dataset.paintMs = (performance.now() - began).toFixed(1); document.body.dataset.shown = query_of(asked_state()); }));
}

// What is expensive follows when the hand rests.
async function show_rest(asked, signal) {
  const {strategy, batch, ...space} = asked;
  if (query_of(space) !== front_key) {
    show_front(await ask("front", space, signal));
    front_key = query_of(space);
  }
  if (query_of(asked) !== timeline_key) {
    try {
      show_timeline(await ask("timeline", asked, signal));
      timeline_key = query_of(asked);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      show_timeline_refusal(error.message);
    }
  }
  document.body.dataset.settled = query_of(asked);
}

async function update() {
  if (running) running.abort();
  running = new AbortController();
  const {signal} = running, asked = asked_state(), mine = ++settled;
  history.replaceState(null, "", permalink());
  document.body.classList.add("waiting");
  const began = performance.now();
  try {
    const [step, drawing] = await Promise.all([ask("step", asked, signal), fabric_of(asked, signal)]);
    document.body.dataset.answerMs = (performance.now() - began).toFixed(1);
    show_step(step, drawing);
    await new Promise((resolve) => setTimeout(resolve, 120));
    if (mine === settled) await show_rest(asked, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    document.body.classList.remove("waiting");
    // What stands below is of another state: it steps back.
    document.body.classList.add("refused");
    document.body.dataset.shown = query_of(asked);
    notify(`${error.message}. Below is the last state that was possible.`);
  }
}

async function begin() {
  const words = new URLSearchParams(location.hash.slice(1));
  taken_token(words);
  read_address(words);
  read_axes(words);
  const documents = await ask("documents");
  learn(documents.glossary);
  document.getElementById("version").textContent = `Halmark ${documents.version}`;
  document.getElementById("origin").textContent = grid ? grid.note : "";
  begin_controls(documents, update);
  show_words();
  show_exports(notify, documents.engines);
  document.getElementById("copy-link").addEventListener("click", async () => {
    const axes = axis_words();
    const link = `${permalink()}&x=${axes.x}&y=${axes.y}`;
    try { await navigator.clipboard.writeText(link); notify("The link is copied: it opens this state.", true); } catch { history.replaceState(null, "", link); notify("The link is in the address bar: it opens this state.", true); }
  });
  window.addEventListener("hashchange", () => {
    const said = new URLSearchParams(location.hash.slice(1));
    if (!said.has("model")) return;
    read_address(said);
    begin_controls(documents, update);
    update();
  });
  await update();
  await show_journal().catch((error) => notify(error.message));
  follow_progress(notify);
}

begin().catch((error) => notify(error.message));
