// What is seen, as files: pictures, tables, the timeline for Perfetto, the deployment.
import {element, replaced} from "./format.js";
import {figure_rows} from "./figures.js";
import {asked_state} from "./state.js";
import {front_rows} from "./front.js";
import {ask, grid} from "./source.js";
import {timeline_data} from "./timeline.js";

let shown_step = null;

export function exported_step(step) { shown_step = step; }

function step_of(name) {
  if (shown_step && shown_step[name]) return shown_step[name].rows || shown_step[name];
  throw new Error(`this state has no table of ${name}`);
}

function save(name, content, type) {
  const link = element("a", {href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  document.body.dataset.saved = name;
}

// A cell that a spreadsheet would take for a formula is text.
function csv_cell(value) {
  let content = value === null || value === undefined ? "" : String(value);
  if (/^[=+\-@\t\r]/.test(content) && typeof value !== "number") content = `'${content}`;
  return /[",\n]/.test(content) ? `"${content.replaceAll('"', '""')}"` : content;
}

export function csv_of(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names.join(","), ...rows.map((row) => names.map((name) => csv_cell(row[name])).join(","))].join("\n") + "\n";
}

const drawn_properties = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-opacity", "opacity", "font-size", "font-family", "font-weight", "paint-order"];

// A picture that needs no style sheet: what the page's rules gave becomes attributes.
function standalone(svg) {
  const copy = svg.cloneNode(true), sources = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(sources[i]);
    for (const name of drawn_properties) {
      const value = style.getPropertyValue(name);
      if (value) node.setAttribute(name, value);
    }
    node.removeAttribute("class");
    node.removeAttribute("tabindex");
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({width, height, fill: getComputedStyle(document.body).backgroundColor})) paper.setAttribute(name, value);
  copy.prepend(paper);
  return {text: new XMLSerializer().serializeToString(copy), width: Number(width), height: Number(height)};
}

function save_svg(id) {
  const svg = document.getElementById(id);
  if (!svg || !svg.getClientRects().length) throw new Error("there is no such picture in this state");
  save(`halmark-${id}.svg`, standalone(svg).text, "image/svg+xml");
}

async function save_png(id) {
  const node = document.getElementById(id);
  if (!node || !node.getClientRects().length) throw new Error("there is no such picture in this state");
  if (node instanceof HTMLCanvasElement) { node.toBlob((blob) => save(`halmark-${id}.png`, blob)); return; }
  const picture = standalone(node), image = new Image();
  image.src = URL.createObjectURL(new Blob([picture.text], {type: "image/svg+xml"}));
  await image.decode();
  const canvas = element("canvas", {width: picture.width * 2, height: picture.height * 2});
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((blob) => save(`halmark-${id}.png`, blob));
}

// The trace event format, which Perfetto and chrome://tracing open.
export function perfetto_of(data) {
  const events = [];
  data.actors.forEach((name, i) => events.push({ph: "M", name: "process_name", pid: i + 1, args: {name}}));
  data.resources.forEach((resource, i) => {
    const owner = data.events.find((event) => event[4] === i);
    if (owner) events.push({ph: "M", name: "thread_name", pid: owner[3] + 1, tid: i + 1, args: {name: resource.name}});
  });
  for (const [start, end, label, actor, resource, kind, critical] of data.events) {
    events.push({ph: "X", name: data.labels[label], cat: data.kinds[kind], ts: start, dur: end - start, pid: actor + 1, tid: resource + 1, args: {critical: Boolean(critical)}});
  }
  return JSON.stringify({displayTimeUnit: "ns", traceEvents: events});
}

// Of every device, where the page shows some.
async function save_perfetto() {
  let data = timeline_data();
  if (!data) throw new Error("there is no timeline to save");
  if (data.left_out && !grid) data = (await ask("simulation", {...asked_state(), all: 1})).timeline;
  save("halmark-timeline.json", perfetto_of(data), "application/json");
}

async function save_deployment(engine) {
  const files = (await ask("export", {...asked_state(), as: engine})).files;
  for (const file of files) save(file.name, file.text, "text/plain");
}

// What a state does not have is not offered: classes say whose it is.
export function show_exports(notify, engines) {
  const item = (label, action, of) => element("button", {type: "button", class: of, onclick: async () => {
    document.getElementById("export-menu").open = false;
    try { await action(); } catch (error) { notify(error.message); }
  }}, label);
  const heading = (label, of) => element("h3", {class: of}, label);
  const rows = (name, of_step, of) => item(`${name} (CSV)`, () => save(`halmark-${name.toLowerCase().replaceAll(" ", "-")}.csv`, csv_of(of_step()), "text/csv"), of);
  const engine_items = grid || !engines ? [] : [heading("Deployment of this point", "of-engine"), engines.map((engine) => item(`Launch script for ${engine}`, () => save_deployment(engine), "of-engine"))];
  replaced("export-list",
    heading("Pictures", "of-step"), item("Front (SVG)", () => save_svg("front-chart"), "of-step of-engine"), item("Front (PNG)", () => save_png("front-chart"), "of-step of-engine"), item("Fabric (SVG)", () => save_svg("fabric-drawing"), "of-step"), item("Fabric (PNG)", () => save_png("fabric-drawing"), "of-step"), item("Timeline (PNG)", () => save_png("timeline-canvas"), "of-step"),
    heading("Tables"), rows("Figures", figure_rows), rows("Operators", () => step_of("operators"), "of-step"), rows("Sharding", () => step_of("sharding"), "of-step"), rows("Layouts", () => step_of("layouts")), rows("Front", front_rows, "of-step of-engine"), rows("Requests", () => step_of("experienced"), "of-serving"),
    heading("Timeline", "of-step"), item("Perfetto and chrome://tracing (JSON)", save_perfetto, "of-step"),
    engine_items);
}
