// The figures of a step: the four that are asked for most, large, and the rest; memory as one bar.
import {drawn, element, range_text, replaced, shown, table, text, was_open} from "./format.js";
import {explained, told} from "./glossary.js";
import {permalink, state} from "./state.js";

const large = {serving: ["ttft_p50_ns", "tpot_p50_ns", "tokens_per_s", "requests_per_s"]};
const large_of_step = ["step_ns", "tokens_per_s", "flops_per_s", "mfu"];
const coming = "is being simulated";
let shown_figures = new Map(), shown_phase = "", kept = null;

function interval_text(figure) {
  if (figure.low === null || figure.high === null) return figure.note;
  const range = range_text(figure.low, figure.high, figure.unit);
  return figure.is_bound ? `${range}: the doubt of collectives alone` : range;
}

function headline(figure) {
  const [number, unit] = shown(figure.value, figure.unit);
  return element("div", {"data-figure": figure.key},
    element("div", {class: "name"}, explained(figure.term, figure.title)),
    element("div", {class: "value"}, figure.is_bound && figure.value !== null ? element("span", {class: "bound"}, "at best") : null,
      number, element("span", {class: "unit"}, unit)),
    element("div", {class: "interval"}, interval_text(figure) || figure.reason || (shown_phase === "serving" ? "" : "no interval")),
    beside_kept(figure, "div"),
    element("div", {class: "from"}, told(figure.from, figure.means)));
}

function listed(figure) {
  const quiet = interval_text(figure) || figure.reason;
  const from = figure.reason === coming ? null : element("span", {class: "from"}, told(figure.from, figure.means));
  return element("div", {"data-figure": figure.key},
    element("dt", {}, explained(figure.term, figure.title)),
    element("dd", {}, text(figure.value, figure.unit)),
    element("dd", {class: "interval"}, quiet && from ? `${quiet}, ` : quiet, from),
    beside_kept(figure, "dd"));
}

// "kept 4.24 ms: now 2.55 x", beside a figure of another state than the one that was kept.
function beside_kept(figure, name) {
  const before = kept && kept.link !== permalink() ? kept.rows.get(figure.key) : null;
  if (!before?.value || figure.value === null) return null;
  return element(name, {class: "interval kept"}, `kept ${text(before.value, figure.unit)}: now ${text(figure.value / before.value, "x")}`);
}

// The figures that are shown stay beside those of the states that follow.
export function keep_figures(title) {
  kept = {title, link: permalink(), rows: shown_figures};
  draw_figures();
}

function show_kept() {
  document.getElementById("kept").hidden = !kept;
  if (!kept) return;
  if (kept.link === permalink()) kept.rows = shown_figures;
  replaced("kept", "Kept to compare: ", element("a", {href: kept.link}, kept.title), " ",
    element("button", {type: "button", class: "term", onclick: () => { kept = null; draw_figures(); }}, "forget it"));
}

// What a million tokens cost at the reader's price of a device and hour; the interval is that of the throughput.
function priced() {
  const tokens = shown_figures.get("tokens_per_s"), price = Number(state.price);
  if (!tokens?.value || !(price > 0)) return;
  const cost = (rate) => rate === null ? null : price * Number(state.shards) / 3600 / rate * 1e6;
  shown_figures.set("usd_per_mtoken", {...tokens, key: "usd_per_mtoken", title: "a million tokens", term: "cost", unit: "USD",
    value: cost(tokens.value), low: cost(tokens.high), high: cost(tokens.low)});
}

export function figure_rows() { return [...shown_figures.values()]; }

export function show_figures(step) {
  shown_phase = step.state.phase;
  shown_figures = new Map(step.figures.map((figure) => [figure.key, figure]));
  draw_figures();
  replaced("memory");
  if (step.memory) show_memory(step.memory);
}

// What came later takes the place of what was shown; new figures follow the one before them.
export function show_more_figures(figures) {
  const rows = figure_rows();
  let at = rows.length - 1;
  for (const figure of figures) {
    const place = rows.findIndex((row) => row.key === figure.key);
    if (place >= 0) { rows[place] = figure; at = place; } else { rows.splice(++at, 0, figure); }
  }
  shown_figures = new Map(rows.map((figure) => [figure.key, figure]));
  draw_figures();
}

// Nothing more is to come: why.
export function show_missing_figures(message) {
  show_more_figures(figure_rows().filter((figure) => figure.reason === coming).map((figure) => ({...figure, reason: message})));
}

function draw_figures() {
  priced();
  show_kept();
  const keys = large[shown_phase] || large_of_step;
  const focused = document.activeElement?.closest?.("#figures [data-figure]")?.dataset.figure;
  replaced("headline", keys.filter((key) => shown_figures.has(key)).map((key) => headline(shown_figures.get(key))));
  replaced("figure-list", figure_rows().filter((figure) => !keys.includes(figure.key)).map(listed));
  // Who read a figure keeps its place.
  if (focused) document.querySelector(`#figures [data-figure=${focused}] .term`)?.focus();
}

const memory_tones = {weights: "0", cache: "3", gradients: "3", optimizer: "2", activations: "4", working: "1"};

function show_memory(memory) {
  const whole = Math.max(memory.device, memory.used);
  let x = 0;
  const bars = memory.parts.map(({name, bytes}) => {
    const width = bytes / whole * 1000;
    const bar = drawn("rect", {x, y: 0, width, height: 10, class: `f${memory_tones[name]}`}, drawn("title", {}, `${name} ${text(bytes, "B")}`));
    x += width;
    return bar;
  });
  const over = memory.used - memory.device;
  if (memory.device > 0 && over > 0) bars.push(drawn("rect", {x: memory.device / whole * 1000, y: 0, width: over / whole * 1000, height: 10, class: "over"}));
  const room = memory.device > 0 ? ` of ${text(memory.device, "B")}` : "";
  const verdict = memory.fits ? "" : `: does not fit, short by ${text(over, "B")}`;
  replaced("memory",
    element("div", {class: "legend"}, element("strong", {class: memory.fits ? undefined : "alarm"}, explained("memory", "Peak memory of a device"), ` ${text(memory.used, "B")}${room}${verdict}`),
      memory.parts.map(({name, bytes}) => element("span", {}, element("span", {class: `key k${memory_tones[name]}`}), `${name} ${text(bytes, "B")}`))),
    drawn("svg", {class: "bar", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img", "aria-label": `Memory ${text(memory.used, "B")}${room}${verdict}`},
      drawn("rect", {x: 0, y: 0, width: 1000, height: 10, class: "free"}), bars));
}

// Every layout of these devices at this batch, and why some are none.
export function show_layout_table(step, choose) {
  if (step.layouts.length < 2) { replaced("layouts"); return; }
  const columns = [
    [() => explained("strategy"), (row) => row.step_ns ? element("button", {type: "button", class: "term", onclick: () => choose(row.strategy)}, row.strategy) : row.strategy],
    [() => step.state.phase === "training" ? "step" : explained("step of a stream"), (row) => row.step_ns ? text(row.step_ns, "ns") : "-", true], ["tokens/s", (row) => row.step_ns ? text(row.tokens_per_s, "") : "-", true],
    ["memory", (row) => row.bytes_per_rank ? text(row.bytes_per_rank, "B") : "-", true], ["why not", (row) => row.reason || "", false, "long"]];
  const rows = step.layouts.map((row) => ({...row, mark: row.strategy === step.state.strategy ? "chosen" : undefined}));
  replaced("layouts", element("details", {class: "more", open: was_open("layouts")}, element("summary", {}, `All ${rows.length} layouts of ${step.state.shards} devices at batch ${step.state.batch}`),
    table("Fastest first; choose one, or see why it is none", columns, rows)));
}

const tones = {compute: 0, memory: 1, communication: 3, launch: 4};

export function tone_of(bound) { return tones[bound] ?? 2; }

export function show_operators(step) {
  const total = step.operators.reduce((sum, row) => sum + row.ns, 0);
  const rows = [...step.operators].sort((a, b) => b.ns - a.ns);
  const bounds = ["compute", "memory", "communication", "launch", "unknown"].map((bound) =>
    [bound, rows.filter((row) => row.bound === bound).reduce((sum, row) => sum + row.ns, 0)]).filter(([, ns]) => ns > 0);
  let x = 0;
  const bar = drawn("svg", {class: "bar", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img",
    "aria-label": bounds.map(([bound, ns]) => `${bound} ${text(ns / total, "1")}`).join(", ")},
    bounds.map(([bound, ns]) => {
      const rect = drawn("rect", {x, y: 0, width: ns / total * 1000, height: 10, class: `f${tone_of(bound)}`});
      x += ns / total * 1000;
      return rect;
    }));
  const share = (row) => drawn("svg", {class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true", width: 90},
    drawn("rect", {x: 0, y: 0, width: Math.max(.5, row.ns / rows[0].ns * 100), height: 10, class: `f${tone_of(row.bound)}`}));
  const columns = [
    ["operator", (row) => row.name], ["layer", (row) => row.layer],
    ["time", (row) => text(row.ns, "ns"), true], [() => explained("time share", "share"), (row) => text(row.ns / total, "1"), true],
    ["", share, false, "bars"], [() => explained("interval"), (row) => row.low_ns < row.high_ns ? range_text(row.low_ns, row.high_ns, "ns") : "-", true],
    [() => explained("bottleneck", "waits for"), (row) => row.bound], [() => explained("times from", "from"), (row) => row.from], ["type", (row) => row.dtype],
    ["count", (row) => String(row.count), true]];
  const first = rows.slice(0, 10), rest = rows.slice(10);
  replaced("operators",
    element("p", {}, explained("bottleneck", "Bottleneck"), `: ${step.bottleneck}`),
    bar,
    element("div", {class: "legend"}, bounds.map(([bound, ns]) => element("span", {}, element("span", {class: `key k${tone_of(bound)}`}), `${bound} ${text(ns / total, "1")}`))),
    table("Operators of the slowest rank, longest first", columns, first),
    rest.length ? element("details", {class: "more", open: was_open("operators")}, element("summary", {}, `${rest.length} more`), table("Further operators", columns, rest)) : null,
    element("p", {class: "from"}, step.times_from.join("; ")));
}
