// Events on a canvas: zoom by wheel and keys, pan by dragging; 100,000 of them at the rate of the
// screen.
import {element, replaced, table, text} from "./format.js";
import {explained} from "./glossary.js";

const row_height = 22, axis_height = 24;
let view = null;

// Lanes of typed arrays, sorted by begin: a frame touches what is visible alone.
function laned(document_of) {
  const count = document_of.events.length;
  const lanes = document_of.resources.map((resource) => ({resource, rows: []}));
  const loose = document_of.actors.map((name) => ({resource: {name}, rows: []}));
  document_of.events.forEach((event, i) => (event[4] >= 0 ? lanes[event[4]] : loose[event[3]]).rows.push(i));
  const used = [...lanes, ...loose].filter((lane) => lane.rows.length);
  for (const lane of used) {
    lane.rows.sort((a, b) => document_of.events[a][0] - document_of.events[b][0]);
    lane.begin = Float64Array.from(lane.rows, (i) => document_of.events[i][0]);
    lane.end = Float64Array.from(lane.rows, (i) => document_of.events[i][1]);
    lane.tone = Uint8Array.from(lane.rows, (i) => tone_of_event(document_of, document_of.events[i]));
    lane.critical = Uint8Array.from(lane.rows, (i) => document_of.events[i][6]);
  }
  return {lanes: used, count};
}

const hidden_tones = ["--k0", "--k3", "--k4", "--k1"];
function tone_of_event(document_of, event) {
  const kind = document_of.kinds[event[5]];
  return kind === "kernel" ? 0 : kind === "collective" ? 1 : kind === "p2p" ? 2 : 3;
}

function first_ending_after(lane, time) {
  let low = 0, high = lane.end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.end[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

// What fits beside a lane; its events say the whole name.
function short_name(name, width) {
  const short = name.replace(" communication with copies", " copies").replace(" communication", " links");
  return width < 140 ? short.replace(/node(\d)/, "n$1").replace(/device(\d)/, "d$1") : short;
}

class TimelineView {
  constructor(document_of) {
    this.data = document_of;
    Object.assign(this, laned(document_of));
    this.from = 0;
    this.to = Math.max(document_of.makespan_us, 1e-3);
    this.canvas = element("canvas", {id: "timeline-canvas", tabindex: 0, role: "img",
      "aria-label": `${document_of.events_of_all ?? this.count} events over ${text(document_of.makespan_us * 1e3, "ns")}. Arrow keys pan, plus and minus zoom, Home shows all.`});
    this.detail = element("p", {class: "detail", "aria-live": "polite"}, "Point at an event; drag to pan, wheel with Ctrl or + and - to zoom, Home shows all.");
    this.context = this.canvas.getContext("2d", {alpha: false});
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey && document.activeElement !== canvas) return;
      event.preventDefault();
      if (event.shiftKey) return this.pan((event.deltaY || event.deltaX) / this.width());
      this.zoom(Math.exp(event.deltaY * .002), this.time_at(event.offsetX));
    }, {passive: false});
    canvas.addEventListener("pointerdown", (event) => { this.drag = event.offsetX; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { this.drag = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (this.drag !== null && this.drag !== undefined) {
        this.pan((this.drag - event.offsetX) / this.width());
        this.drag = event.offsetX;
      } else {
        this.point(event.offsetX, event.offsetY);
      }
    });
    canvas.addEventListener("dblclick", (event) => this.zoom(.4, this.time_at(event.offsetX)));
    canvas.addEventListener("keydown", (event) => {
      const acts = {ArrowLeft: () => this.pan(-.1), ArrowRight: () => this.pan(.1), "+": () => this.zoom(.6), "=": () => this.zoom(.6), "-": () => this.zoom(1 / .6), Home: () => this.show(0, this.data.makespan_us)};
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    });
    new ResizeObserver(() => this.redraw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  names() { return Math.min(168, this.canvas.clientWidth * .3); }
  width() { return Math.max(50, this.canvas.clientWidth - this.names()); }
  time_at(x) { return this.from + (x - this.names()) / this.width() * (this.to - this.from); }
  show(from, to) {
    const span = Math.min(Math.max(to - from, this.data.makespan_us * 1e-6), this.data.makespan_us);
    this.from = Math.min(Math.max(0, from), this.data.makespan_us - span);
    this.to = this.from + span;
    this.redraw();
  }
  pan(share) { const by = share * (this.to - this.from); this.show(this.from + by, this.to + by); }
  zoom(factor, around = (this.from + this.to) / 2) {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }
  redraw() {
    if (this.is_asked) return;
    this.is_asked = true;
    requestAnimationFrame(() => { this.is_asked = false; this.draw(); });
  }

  point(x, y) {
    const lane = this.lanes[Math.floor((y - axis_height) / row_height)];
    if (!lane || x < this.names()) return;
    const time = this.time_at(x), i = first_ending_after(lane, time);
    if (i >= lane.begin.length || lane.begin[i] > time) return;
    const event = this.data.events[lane.rows[i]];
    this.detail.textContent = `${this.data.labels[event[2]]}, ${this.data.kinds[event[5]]} on ${lane.resource.name}: ${text((event[1] - event[0]) * 1e3, "ns")}, from ${text(event[0] * 1e3, "ns")}${event[6] ? ", on the critical path" : ""}`;
  }

  draw() {
    const began = performance.now();
    const {canvas, context} = this;
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = axis_height + this.lanes.length * row_height + 4;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
    const tones = hidden_tones.map(colour), path = colour("--fg");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colour("--bg");
    context.fillRect(0, 0, width, height);
    this.draw_axis(context, colour, height);
    context.font = "11px system-ui, sans-serif";
    this.lanes.forEach((lane, n) => this.draw_lane(context, lane, axis_height + n * row_height, tones, path, colour));
    canvas.dataset.frameMs = (performance.now() - began).toFixed(2);
  }

  draw_axis(context, colour, height) {
    const span = this.to - this.from, rough = span / Math.max(3, this.width() / 110), base = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * base).find((value) => value >= rough);
    context.font = "11px system-ui, sans-serif";
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = this.names() + (time - this.from) / span * this.width();
      context.fillStyle = colour("--grid");
      context.fillRect(x, axis_height - 4, 1, height);
      context.fillStyle = colour("--soft");
      const label = text(time * 1e3, "ns");
      if (x + 3 + context.measureText(label).width < this.canvas.clientWidth) context.fillText(label, x + 3, 14);
    }
  }

  // Events below a pixel become one bar of the tone that comes first in it.
  draw_lane(context, lane, y, tones, path, colour) {
    const span = this.to - this.from, scale = this.width() / span, bottom = this.canvas.clientWidth, name_width = this.names();
    let bar_from = -1, bar_to = -1, bar_tone = -1, bar_critical = 0;
    const flush = () => {
      if (bar_tone < 0) return;
      context.fillStyle = tones[bar_tone];
      context.fillRect(bar_from, y + 3, Math.max(.6, bar_to - bar_from), row_height - 8);
      if (bar_critical) {
        context.fillStyle = path;
        context.fillRect(bar_from, y + row_height - 4, Math.max(.6, bar_to - bar_from), 2);
      }
    };
    for (let i = first_ending_after(lane, this.from); i < lane.begin.length && lane.begin[i] < this.to; ++i) {
      const x = Math.max(name_width, name_width + (lane.begin[i] - this.from) * scale);
      const end = Math.min(bottom, name_width + (lane.end[i] - this.from) * scale);
      if (bar_tone === lane.tone[i] && bar_critical === lane.critical[i] && x - bar_to < .3 && end - x < 3) { bar_to = end; continue; }
      if (end - x < .5 && end - bar_from < 1 && bar_tone >= 0) { bar_to = Math.max(bar_to, end); bar_critical |= lane.critical[i]; continue; }
      flush();
      bar_from = x; bar_to = end - (end - x > 3 ? .6 : 0); bar_tone = lane.tone[i]; bar_critical = lane.critical[i];
      if (end - x > 46) {
        flush();
        context.fillStyle = colour("--bg");
        context.save(); context.beginPath(); context.rect(x, y, end - x - 4, row_height); context.clip();
        context.fillText(this.data.labels[this.data.events[lane.rows[i]][2]], x + 4, y + 14);
        context.restore();
        bar_tone = -1;
      }
    }
    flush();
    context.fillStyle = colour("--bg");
    context.fillRect(0, y, name_width, row_height);
    context.fillStyle = colour("--soft");
    context.save(); context.beginPath(); context.rect(0, y, name_width - 8, row_height); context.clip();
    context.fillText(short_name(lane.resource.name, name_width), 6, y + 14);
    context.restore();
  }
}

export function timeline_data() { return view ? view.data : null; }

const key = (tone, label) => element("span", {}, element("span", {class: `key ${tone}`}), label);

// `show_all`: asks for the events of every device.
export function show_timeline(simulation, show_all) {
  const data = simulation.timeline;
  view = new TimelineView(data);
  window.halmark_timeline = view;
  const rows = simulation.critical_path, parts = simulation.critical, whole = data.makespan_us;
  const button = (label, action, name) => element("button", {type: "button", onclick: action, "aria-label": name}, label);
  const share = (us) => `${text(us * 1e3, "ns")} (${text(us / whole, "1")})`;
  replaced("timeline-view",
    element("div", {class: "toolbar"},
      element("span", {}, `${data.events_of_all.toLocaleString("en")} events, ${text(whole * 1e3, "ns")}`), element("span", {class: "grow"}),
      data.left_out && show_all ? button("Every device", show_all) : null,
      button("-", () => view.zoom(1 / .6), "Zoom out"), button("+", () => view.zoom(.6), "Zoom in"), button("All", () => view.show(0, whole), "Show the whole step")),
    view.canvas, view.detail,
    element("div", {class: "legend"}, key("k0", "kernel"), key("k3", "collective"), key("k4", "to the next stage"), key("path", explained("critical path", "critical path"))),
    data.note ? element("p", {class: "from"}, data.note) : null,
    element("p", {}, explained("critical path", "Critical path"), ` ${text(whole * 1e3, "ns")}: compute ${share(parts.compute_us)}, communication ${share(parts.communication_us)}`, parts.other_us > 0 ? `, other ${share(parts.other_us)}` : ""),
    table("What it consists of, longest first", [["events", (row) => row.label], ["kind", (row) => row.kind], ["on the path", (row) => text(row.us * 1e3, "ns"), true], ["of it", (row) => text(row.us / whole, "1"), true], ["on all devices", (row) => text(row.busy_us * 1e3, "ns"), true]], rows.slice(0, 8)));
  view.redraw();
}

export function show_timeline_refusal(message) {
  view = null;
  replaced("timeline-view", element("p", {class: "empty"}, message));
}
