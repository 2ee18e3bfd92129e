// Batches and layouts of up to the chosen number of devices, by two figures; what no other beats in
// both is the front.
import {drawn, element, replaced, text} from "./format.js";
import {set_state} from "./controls.js";
import {short_strategy, state} from "./state.js";
import {explained, hide_tip, show_tip} from "./glossary.js";

const axes = {
  step_ns: {title: "step of a stream", unit: "ns", best: -1},
  tokens_per_s: {title: "tokens/s", unit: "tokens/s", best: 1},
  tokens_per_s_per_device: {title: "tokens/s per device", unit: "tokens/s", best: 1},
  bytes_per_rank: {title: "peak memory of a device", unit: "B", best: -1},
  mfu: {title: "MFU", unit: "1", best: 1},
  j_per_token_most: {title: "energy per token at most, devices at their limit", unit: "J", best: -1},
  devices: {title: "devices", unit: "", best: -1},
};
let chosen = {x: "step_ns", y: "tokens_per_s_per_device"};
let points = [], stored = [], here = null, tried = 0, difference = "";

export function front_rows() { return points; }
export function read_axes(words) {
  for (const key of ["x", "y"]) if (axes[words.get(key)]) chosen[key] = words.get(key);
}
export function axis_words() { return chosen; }

function front_of(list) {
  const x = axes[chosen.x].best, y = axes[chosen.y].best;
  const sorted = [...list].sort((a, b) => x * (b[chosen.x] - a[chosen.x]) || y * (b[chosen.y] - a[chosen.y]));
  const out = [];
  let best = -Infinity;
  for (const point of sorted) {
    if (y * point[chosen.y] > best) { out.push(point); best = y * point[chosen.y]; }
  }
  return out.sort((a, b) => a[chosen.x] - b[chosen.x]);
}

function scale_of(values, low, high) {
  const least = Math.log10(Math.min(...values)), most = Math.log10(Math.max(...values));
  const room = Math.max(.04, (most - least) * .05);
  const from = least - room, to = most + room;
  const at = (value) => low + (Math.log10(value) - from) / (to - from) * (high - low);
  const ticks = [];
  const factors = to - from > 2.2 ? [1] : to - from > .9 ? [1, 2, 5] : to - from > .4 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : [1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9];
  for (let power = Math.floor(from); power <= to; ++power) {
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (Math.log10(value) >= from && Math.log10(value) <= to) ticks.push(value);
    }
  }
  return {at, ticks};
}

const has = (point) => point && point[chosen.x] > 0 && point[chosen.y] > 0;
const name_of = (point) => `${short_strategy(point.strategy)}, batch ${point.batch}, ${point.devices} device${point.devices > 1 ? "s" : ""}`;
const says = (point) => `${name_of(point)}\n${axes[chosen.x].title}: ${text(point[chosen.x], axes[chosen.x].unit)}\n${axes[chosen.y].title}: ${text(point[chosen.y], axes[chosen.y].unit)}`;

function choose_point(point) {
  set_state({shards: String(point.devices), batch: String(point.batch), strategy: point.strategy});
}

function front_point(point, x, y) {
  const node = drawn("circle", {cx: x.at(point[chosen.x]), cy: y.at(point[chosen.y]), r: 5.5, class: "point", tabindex: 0, role: "button", "aria-label": `${says(point).replaceAll("\n", ", ")}. Choose it.`});
  node.addEventListener("click", () => choose_point(point));
  node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose_point(point); } });
  for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => show_tip(node, `${says(point)}\nchoose it: click or Enter`));
  for (const event of ["mouseleave", "blur"]) node.addEventListener(event, hide_tip);
  return node;
}

function axes_drawn(x, y, width, height, left, bottom) {
  const out = [];
  let last = -Infinity;
  for (const value of x.ticks) {
    out.push(drawn("line", {x1: x.at(value), x2: x.at(value), y1: 10, y2: height - bottom, class: "grid"}));
    if (x.at(value) - last > 62) { out.push(drawn("text", {x: x.at(value), y: height - bottom + 16, class: "tick", "text-anchor": x.at(value) > width - 40 ? "end" : "middle"}, text(value, axes[chosen.x].unit))); last = x.at(value); }
  }
  let above = Infinity;
  for (const value of y.ticks) {
    out.push(drawn("line", {x1: left, x2: width - 10, y1: y.at(value), y2: y.at(value), class: "grid"}));
    if (above - y.at(value) > 20) { out.push(drawn("text", {x: left - 8, y: y.at(value) + 4, class: "tick", "text-anchor": "end"}, text(value, axes[chosen.y].unit))); above = y.at(value); }
  }
  out.push(drawn("text", {x: (left + width) / 2, y: height - 4, "text-anchor": "middle"}, axes[chosen.x].title),
    drawn("text", {x: 12, y: (height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(height - bottom) / 2})`}, axes[chosen.y].title));
  return out;
}

function here_drawn(x, y) {
  const at_x = x.at(here[chosen.x]), at_y = y.at(here[chosen.y]);
  const out = [drawn("circle", {cx: at_x, cy: at_y, r: 9, class: "here"}), drawn("text", {x: at_x, y: at_y - 14, class: "here-label", "text-anchor": "middle"}, "here")];
  if (chosen.x === "step_ns" && here.low_ns < here.high_ns) out.unshift(drawn("line", {x1: x.at(here.low_ns), x2: x.at(here.high_ns), y1: at_y, y2: at_y, class: "whisker"}));
  return out;
}

function select_of(which) {
  const input = element("select", {"aria-label": which === "x" ? "Figure along the horizontal axis" : "Figure along the vertical axis", onchange: () => { chosen[which] = input.value; draw_front(); }},
    Object.entries(axes).map(([key, axis]) => element("option", {value: key, selected: key === chosen[which]}, axis.title)));
  return element("label", {}, which === "x" ? "across" : "up", input);
}

function draw_front() {
  const list = points.filter(has), others = stored.filter(has);
  if (!list.length) { replaced("front-view", element("p", {class: "empty"}, "No batch and layout fits these devices.")); return; }
  const width = Math.max(340, Math.min(1200, document.getElementById("front-view").clientWidth)), height = Math.max(300, Math.min(460, width * .5)), left = 122, bottom = 46;
  const all = [...list, ...others, ...(has(here) ? [here] : [])];
  const ends = chosen.x === "step_ns" && has(here) && here.low_ns ? [here.low_ns, here.high_ns] : [];
  const x = scale_of([...all.map((point) => point[chosen.x]), ...ends], left, width - 16), y = scale_of(all.map((point) => point[chosen.y]), height - bottom, 16);
  const front = front_of(list);
  const cloud = list.map((point) => `M${x.at(point[chosen.x]).toFixed(1)} ${y.at(point[chosen.y]).toFixed(1)}h0`).join("");
  const line = front.map((point, i) => `${i ? "L" : "M"}${x.at(point[chosen.x]).toFixed(1)} ${y.at(point[chosen.y]).toFixed(1)}`).join("");
  const svg = drawn("svg", {id: "front-chart", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${front.length} of ${list.length} configurations on the front of ${axes[chosen.x].title} and ${axes[chosen.y].title}`},
    axes_drawn(x, y, width, height, left, bottom), drawn("path", {d: cloud, class: "cloud"}), drawn("path", {d: line, class: "frontline"}),
    others.map((point) => drawn("rect", {x: x.at(point[chosen.x]) - 4, y: y.at(point[chosen.y]) - 4, width: 8, height: 8, class: "stored", transform: `rotate(45 ${x.at(point[chosen.x])} ${y.at(point[chosen.y])})`}, drawn("title", {}, `stored: ${point.name}`))),
    front.map((point) => front_point(point, x, y)), has(here) ? here_drawn(x, y) : null);
  replaced("front-view", element("div", {class: "toolbar"}, select_of("x"), select_of("y"),
    element("span", {class: "grow"}), element("span", {}, `${front.length} of ${list.length} on the `, explained("front", "front"), tried > list.length ? `; ${tried - list.length} more do not fit` : "")),
    svg,
    element("div", {class: "legend"}, element("span", {}, element("span", {class: "key k0"}), "on the front: choose one"), element("span", {}, element("span", {class: "key k2"}), "beaten"), element("span", {}, element("span", {class: "key ring"}), "here"), others.length ? element("span", {}, element("span", {class: "key k3"}), "of the stored run") : null),
    element("p", {class: "from"}, `${state.model} on ${state.device}, ${state.phase}, context ${state.context}: batches 1 to 1024 in powers of two on 1 to ${state.shards} devices; without context parallelism. Steps follow each other: pipelines stay full.${difference}`));
}

export function show_front(answer) {
  points = answer.points;
  tried = answer.tried;
  draw_front();
}

// By the same sums as the points around it.
export function show_here(step) {
  const row = step.layouts.find((one) => one.strategy === step.state.strategy);
  here = row && row.step_ns ? {...row, devices: step.state.shards, batch: step.state.batch} : null;
  const by_key = new Map(step.figures.map((figure) => [figure.key, figure]));
  const shown_ns = (by_key.get("stream_ns") || by_key.get("step_ns")).value;
  difference = here && Math.abs(here.step_ns / shown_ns - 1) > .01
    ? ` Here kernels are summed as they would be measured, every expert with whole rows: ${text(here.step_ns, "ns")}, where the step above has the expected share of each, ${text(shown_ns, "ns")}.` : "";
  if (points.length) draw_front();
}

export function show_front_refusal(message) {
  points = [];
  replaced("front-view", element("p", {class: "empty"}, message));
}

let drawn_width = 0;
new ResizeObserver(([entry]) => {
  if (points.length && Math.abs(entry.contentRect.width - drawn_width) > 4) { drawn_width = entry.contentRect.width; draw_front(); }
}).observe(document.getElementById("front-view"));

export function show_stored(rows) {
  stored = rows;
  if (points.length) draw_front();
}
