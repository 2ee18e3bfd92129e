// The figures of a step: the four that are asked for most, large, and the rest; memory as one bar.
import {drawn, element, range_text, replaced, shown, table, text, was_open} from "./format.js";
import {explained, told} from "./glossary.js";

const large = ["step_ns", "tokens_per_s", "flops_per_s", "mfu"];

function interval_text(figure) {
  if (figure.low === null || figure.high === null) return "";
  return range_text(figure.low, figure.high, figure.unit);
}

function headline(figure) {
  const [number, unit] = shown(figure.value, figure.unit);
  return element("div", {"data-figure": figure.key},
    element("div", {class: "name"}, explained(figure.term, figure.title)),
    element("div", {class: "value"}, number, element("span", {class: "unit"}, unit)),
    element("div", {class: "interval"}, interval_text(figure) || figure.reason || "a bound, no interval"),
    element("div", {class: "from"}, told(figure.from, figure.means)));
}

function listed(figure) {
  const quiet = interval_text(figure) || figure.reason;
  return element("div", {"data-figure": figure.key},
    element("dt", {}, explained(figure.term, figure.title)),
    element("dd", {}, text(figure.value, figure.unit)),
    element("dd", {class: "interval"}, quiet ? `${quiet}, ` : "", element("span", {class: "from"}, told(figure.from, figure.means))));
}

export function show_figures(step) {
  const by_key = new Map(step.figures.map((figure) => [figure.key, figure]));
  replaced("headline", large.filter((key) => by_key.has(key)).map((key) => headline(by_key.get(key))));
  replaced("figure-list", step.figures.filter((figure) => !large.includes(figure.key)).map(listed));
  show_memory(step.memory);
}

function show_memory(memory) {
  const used = memory.weights + memory.cache + memory.activations;
  const whole = Math.max(memory.device, used);
  const parts = [["weights", memory.weights, "f0"], ["cache", memory.cache, "f3"], ["activations", memory.activations, "f4"]];
  let x = 0;
  const bars = parts.map(([name, bytes, tone]) => {
    const width = bytes / whole * 1000;
    const bar = drawn("rect", {x, y: 0, width, height: 10, class: tone}, drawn("title", {}, `${name} ${text(bytes, "B")}`));
    x += width;
    return bar;
  });
  if (memory.device > 0 && used > memory.device) {
    bars.push(drawn("rect", {x: memory.device / whole * 1000, y: 0, width: (used - memory.device) / whole * 1000, height: 10, class: "over"}));
  }
  const room = memory.device > 0 ? ` of ${text(memory.device, "B")}` : "";
  const verdict = memory.fits ? "" : `: does not fit, short by ${text(used - memory.device, "B")}`;
  const keys = [["k0", "weights", memory.weights], ["k3", "cache", memory.cache], ["k4", "activations", memory.activations]];
  replaced("memory",
    element("div", {class: "legend"}, element("strong", {}, explained("memory", "Memory of the fullest device"), ` ${text(used, "B")}${room}${verdict}`),
      keys.map(([tone, name, bytes]) => element("span", {}, element("span", {class: `key ${tone}`}), `${name} ${text(bytes, "B")}`))),
    drawn("svg", {class: "bar", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img", "aria-label": `Memory ${text(used, "B")}${room}${verdict}`},
      drawn("rect", {x: 0, y: 0, width: 1000, height: 10, class: "free"}), bars));
}

// Every layout of these devices at this batch, and why some are none.
export function show_layout_table(step, choose) {
  if (!step.layouts.length) { replaced("layouts"); return; }
  const columns = [
    [() => explained("strategy"), (row) => row.step_ns ? element("button", {type: "button", class: "term", onclick: () => choose(row.strategy)}, row.strategy) : row.strategy],
    ["step", (row) => row.step_ns ? text(row.step_ns, "ns") : "-", true], ["tokens/s", (row) => row.step_ns ? text(row.tokens_per_s, "") : "-", true],
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
  const bounds = ["compute", "memory", "communication", "launch"].map((bound) =>
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
    ["time", (row) => text(row.ns, "ns"), true], [() => explained("time share", "of the step"), (row) => text(row.ns / total, "1"), true],
    ["", share, false, "bars"], [() => explained("interval"), (row) => row.low_ns < row.high_ns ? range_text(row.low_ns, row.high_ns, "ns") : "-", true],
    [() => explained("bottleneck", "waits for"), (row) => row.bound], [() => explained("times from", "from"), (row) => row.from], ["type", (row) => row.dtype],
    ["executions", (row) => String(row.count), true]];
  const first = rows.slice(0, 10), rest = rows.slice(10);
  replaced("operators",
    element("p", {}, explained("bottleneck", "Bottleneck"), `: ${step.bottleneck}`),
    bar,
    element("div", {class: "legend"}, bounds.map(([bound, ns]) => element("span", {}, element("span", {class: `key k${tone_of(bound)}`}), `${bound} ${text(ns / total, "1")}`))),
    table("Operators of the slowest rank, longest first", columns, first),
    rest.length ? element("details", {class: "more", open: was_open("operators")}, element("summary", {}, `${rest.length} more`), table("Further operators", columns, rest)) : null,
    element("p", {class: "from"}, step.times_from.join("; ")));
}
