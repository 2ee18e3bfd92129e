// The controls: each says a word of the state, with what it means behind its label.
import {element, replaced} from "./format.js";
import {explained} from "./glossary.js";
import {grid} from "./source.js";
import {matters, phase_words, short_strategy, state, steps_of} from "./state.js";

const inputs = {};
let known = null, changed = () => {};

function values_of(name) {
  if (grid && grid.controls[name]) return grid.controls[name];
  const fabric = known.fabrics.find((one) => one.id === state.fabric);
  const most = name === "shards" && fabric ? fabric.devices : name === "new" ? Number(state.context) : Infinity;
  const out = steps_of[name].filter((value) => value <= most);
  if (name === "shards" && fabric && !out.includes(fabric.devices) && fabric.devices <= 1024) out.push(fabric.devices);
  const own = Number(state[name]);
  if (own >= 1 && !out.includes(own) && own <= most) out.push(own);
  return out.sort((a, b) => a - b);
}

export function set_state(words) {
  Object.assign(state, words);
  fit_state();
  show_controls();
  changed();
}

function fit_state() {
  for (const name of ["shards", "new"]) {
    const values = values_of(name);
    if (Number(state[name]) > values.at(-1)) state[name] = String(values.at(-1));
  }
}

function choose(name, value) {
  state[name] = String(value);
  // A layout is one of a number of devices.
  if (["shards", "model", "phase", "recompute", "optimizer", "zero", "micro"].includes(name)) state.strategy = "auto";
  if (name === "fabric" && !grid) {
    const fabric = known.fabrics.find((one) => one.id === value);
    if (fabric && Number(state.shards) > fabric.devices) state.strategy = "auto";
    if (fabric && fabric.device && known.devices.some((one) => one.id === fabric.device)) state.device = fabric.device;
  }
  if (name === "device") fit_fabric();
  fit_state();
  if (state.strategy !== "auto" && devices_of(state.strategy) !== Number(state.shards)) state.strategy = "auto";
  show_controls();
  changed();
}

function devices_of(strategy) {
  return [...strategy.matchAll(/(?:dp|tp|pp|cp)(\d+)/g)].reduce((product, [, degree]) => product * Number(degree), 1);
}

// A fabric is of one device, or of any; another device has its own link until a fabric is chosen.
function fit_fabric() {
  const fabric = known.fabrics.find((one) => one.id === state.fabric);
  if (!fabric || !fabric.device || fabric.device === state.device) return;
  const own = known.fabrics.find((one) => one.device === state.device && one.devices >= Number(state.shards));
  state.fabric = own ? own.id : "";
}

function selected(name, label, word, groups, hint = "") {
  const id = `control-${name}`;
  const input = element("select", {id, name, onchange: () => choose(name, input.value)});
  inputs[name] = {input, groups};
  return element("div", {class: "control", "data-control": name},
    element("label", {for: id}, explained(word, label)), searched_lists.includes(name) && !grid ? search_field(name, label) : null, input,
    hint ? element("p", {class: "hint", id: `${id}-hint`}, hint) : null);
}

// Lists that are too long to look through.
const searched_lists = ["model", "device"];

// The list below it has what matches every word; Enter takes the first of these.
function search_field(name, label) {
  const field = element("input", {type: "search", "aria-label": `Search: ${label}`, placeholder: "Search",
    oninput: () => show_controls(),
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const first = matching(name, inputs[name].groups()).flatMap(([, list]) => list).find((one) => one.value !== state[name]);
      field.value = "";
      if (first) choose(name, first.value); else show_controls();
    }});
  inputs[name].search = field;
  return field;
}

// What is chosen stays in the list.
function matching(name, groups) {
  const words = (inputs[name].search?.value || "").toLowerCase().split(/\s+/).filter((word) => word);
  if (!words.length) return groups;
  const others = Object.fromEntries([...known.models, ...known.devices].map((one) => [one.id, one.aliases.join(" ")]));
  const has = (one) => words.every((word) => `${one.value} ${one.label} ${others[one.value] || ""}`.toLowerCase().includes(word));
  return groups.map(([label, list]) => [label, list.filter((one) => one.value === state[name] || has(one))]);
}

function slider(name, label, word) {
  const id = `control-${name}`;
  const output = element("output", {for: id});
  const input = element("input", {type: "range", id, name, min: 0, step: 1,
    oninput: () => choose(name, values_of(name)[Number(input.value)])});
  inputs[name] = {input, output};
  return element("div", {class: "control", "data-control": name},
    element("label", {for: id}, explained(word, label), output), input);
}

// A figure of the reader's own; empty: none.
function number(name, label, word, placeholder) {
  const id = `control-${name}`;
  const input = element("input", {type: "number", id, name, min: 0, step: "any", placeholder, onchange: () => choose(name, input.value)});
  inputs[name] = {input, is_number: true};
  return element("div", {class: "control", "data-control": name}, element("label", {for: id}, explained(word, label)), input);
}

function phases() {
  const choices = (grid && grid.controls.phase) || phase_words;
  const boxes = choices.map((value) => {
    const input = element("input", {type: "radio", name: "phase", value, onchange: () => choose("phase", value)});
    inputs[`phase-${value}`] = {input};
    return element("label", {}, input, value);
  });
  return element("fieldset", {class: "control"}, element("legend", {}, explained("phase", "Phase")), element("div", {class: "segments"}, boxes));
}

const option = (value, label) => ({value, label});

function device_groups() {
  const groups = new Map();
  for (const device of known.devices) {
    const group = device.is_measured ? "This machine, measured" : device.vendor || device.kind;
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(option(device.id, device.name || device.id));
  }
  return [...groups].sort(([a], [b]) => (b.startsWith("This") - a.startsWith("This")) || a.localeCompare(b));
}

function model_groups() {
  return [["", known.models.map((model) => option(model.id, model.id))]];
}

function fabric_groups() {
  const fits = (fabric) => !fabric.device || fabric.device === state.device;
  const listed = (fabric) => option(fabric.id, `${fabric.id} (${fabric.devices})`);
  return [["", [option("", "the device's own link")]],
    ["Of this device, or any", known.fabrics.filter(fits).map(listed)],
    ["Of another device", known.fabrics.filter((fabric) => !fits(fabric)).map(listed)]];
}

let layouts = [];
function strategy_groups() {
  const possible = layouts.filter((row) => row.step_ns);
  const label = (row) => `${short_strategy(row.strategy)}   ${(row.step_ns / possible[0].step_ns).toFixed(2)} x`;
  const own = state.strategy !== "auto" && !possible.some((row) => row.strategy === state.strategy)
    ? [option(state.strategy, short_strategy(state.strategy))] : [];
  const fastest = possible.length ? `auto: ${short_strategy(possible[0].strategy)}` : "auto: the fastest that fits";
  return [["", [option("auto", fastest), ...own]],
    ["Layouts that fit, fastest first", possible.map((row) => option(row.strategy, label(row)))]];
}

export function show_layouts(rows) {
  layouts = rows || [];
  show_controls();
}

const units_of = {rate: " /s"};

function fill(select, groups, value) {
  const key = JSON.stringify(groups);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    const options = (list) => list.map((one) => element("option", {value: one.value}, one.label));
    select.replaceChildren(...groups.filter(([, list]) => list.length).flatMap(([name, list]) =>
      name ? [element("optgroup", {label: name}, options(list))] : options(list)));
  }
  select.value = value;
  select.disabled = select.options.length < 2;
}

function show_controls() {
  for (const [name, control] of Object.entries(inputs)) {
    if (control.groups) fill(control.input, matching(name, limited(name, control.groups())), state[name]);
    if (control.is_number) control.input.value = state[name];
    if (control.output) {
      const values = values_of(name);
      const place = Math.max(0, values.indexOf(Number(state[name])));
      control.input.max = values.length - 1;
      control.input.value = place;
      control.input.disabled = values.length < 2;
      control.input.setAttribute("aria-valuetext", String(values[place]));
      control.output.textContent = Number(values[place]).toLocaleString("en") + (units_of[name] || "");
    }
    if (name.startsWith("phase-")) control.input.checked = state.phase === control.input.value;
  }
  for (const control of document.querySelectorAll("#controls [data-control]")) control.hidden = !matters(control.dataset.control);
}

// A file knows the values of its grid alone.
function limited(name, groups) {
  if (!grid || name === "strategy") return grid ? [["", [option("auto", "auto: the fastest that fits")]]] : groups;
  const allowed = grid.controls[name] || [state[name]];
  return groups.map(([label, list]) => [label, list.filter((one) => allowed.includes(one.value))]);
}

export function begin_controls(documents, on_change) {
  known = documents;
  for (const [key, list] of [["model", known.models], ["device", known.devices]]) {
    state[key] = (list.find((one) => one.aliases.includes(state[key])) || {id: state[key]}).id;
  }
  if (!known.fabrics.some((one) => one.id === state.fabric)) state.fabric = "";
  changed = on_change;
  const choices = (pairs) => () => [["", pairs.map(([value, label]) => option(value, label))]];
  replaced("controls",
    phases(),
    selected("model", "Model", "model", model_groups),
    selected("device", "Accelerator", "accelerator", device_groups, grid || known.devices.some((one) => one.is_measured) ? "" : "halmark peaks adds this machine, measured"),
    selected("fabric", "Fabric", "fabric", fabric_groups),
    slider("shards", "Shards", "shards"),
    selected("strategy", "Strategy", "strategy", strategy_groups),
    slider("batch", "Batch", "batch"),
    slider("context", "Context", "context"),
    slider("new", "New tokens of it", "new tokens"),
    selected("dtype", "Types", "recipe", () => [["", known.recipes.map((name) => option(name, name))]]),
    number("measured", "Your step, ms", "own figure", "such as 8.1"),
    number("price", "Price, USD/h each", "cost", "of a device"),
    selected("micro", "Micro-batch", "micro-batch", choices([["", "as large as it can be"], ...[1, 2, 4, 8, 16, 32].map((n) => [String(n), String(n)])])),
    selected("recompute", "Recomputed", "recomputation", choices(["none", "selective", "alternate", "full"].map((word) => [word, word]))),
    selected("optimizer", "Optimizer", "optimizer", choices(["adam", "adam8bit", "momentum", "sgd", "none"].map((word) => [word, word]))),
    selected("zero", "ZeRO stage", "zero", choices(["0", "1", "2", "3"].map((word) => [word, word === "0" ? "0: replicas copy all" : word]))),
    selected("schedule", "Schedule", "schedule", choices([["1f1b", "1F1B"], ["interleaved", "interleaved"], ["zero-bubble", "zero-bubble"]])),
    selected("arrivals", "Requests come", "arrivals", choices([["clients", "from clients that wait"], ["rate", "by chance, at a rate"]])),
    slider("clients", "Clients", "clients"),
    slider("rate", "Rate", "request rate"),
    slider("input", "Prompt tokens", "prompt tokens"),
    slider("output", "Answer tokens", "answer tokens"),
    selected("requests", "Requests", "requests", choices([["", "as benchmarks have them"], ...steps_of.requests.map((n) => [String(n), String(n)])])),
    selected("engine", "Engine", "engine", () => [["", [option("", "the forecast's"), option("none", "none: kernels alone"), ...(known.fitted_engines || []).map((name) => option(name, name))]]]));
  fit_state();
  show_controls();
}
