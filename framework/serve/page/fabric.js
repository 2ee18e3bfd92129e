// The fabric from its topology: switches above, nodes with their devices below, links by what the
// step loads them with.
import {drawn, element, replaced, table, text} from "./format.js";
import {explained, hide_tip, show_tip} from "./glossary.js";

let plan = null;  // the drawing with places

function tiers_of(nodes, neighbours) {
  // Hops from the nearest device that is a leaf of the drawing.
  const tier = nodes.map(([, kind]) => kind === "device" ? 0 : -1);
  let wave = nodes.map((_, i) => i).filter((i) => tier[i] === 0);
  for (let depth = 1; wave.length; ++depth) {
    const next = new Set();
    for (const i of wave) for (const j of neighbours[i]) if (tier[j] < 0) next.add(j);
    for (const j of next) tier[j] = depth;
    wave = [...next];
  }
  return tier.map((value) => Math.max(value, 0));
}

function placed(drawing) {
  const {nodes, links} = drawing;
  const neighbours = nodes.map(() => []);
  for (const [from, to] of links) { neighbours[from].push(to); neighbours[to].push(from); }
  const devices = nodes.map((_, i) => i).filter((i) => nodes[i][1] === "device");
  const has_switch = nodes.some(([, kind]) => kind === "switch");
  const at = nodes.map(() => [0, 0]);
  const width = Math.max(340, Math.min(1200, document.getElementById("fabric-view").clientWidth));
  if (!has_switch && devices.length > 8 && devices.some((i) => neighbours[i].some((j) => nodes[j][1] === "device"))) {
    const columns = Math.ceil(Math.sqrt(devices.length * 1.6)), rows = Math.ceil(devices.length / columns);
    devices.forEach((i, n) => { at[i] = [60 + (n % columns) * (width - 120) / Math.max(1, columns - 1), 40 + Math.floor(n / columns) * 54]; });
    return {at, boxes: [], width, height: 40 + rows * 54, size: 7, devices};
  }
  const tier = tiers_of(nodes, neighbours);
  const top = Math.max(...tier);
  const step = 74, height = 60 + top * step + 24;
  const machines = new Map();
  for (const i of devices) {
    const key = nodes[i][2];
    if (!machines.has(key)) machines.set(key, []);
    machines.get(key).push(i);
  }
  const gap = Math.min(14, width * .3 / machines.size);
  const pitch = (width - 40 - gap * machines.size) / devices.length;
  const size = Math.max(1.6, Math.min(9, pitch * .34));
  const boxes = [];
  let x = 20;
  for (const [machine, list] of machines) {
    boxes.push({x, y: height - 52, width: pitch * list.length, height: 40, name: machine < 0 ? "" : `node ${machine}`});
    for (const i of list) { at[i] = [x + pitch / 2, height - 32]; x += pitch; }
    x += gap;
  }
  for (let level = 1; level <= top; ++level) {
    const row = nodes.map((_, i) => i).filter((i) => tier[i] === level);
    for (const i of row) {
      const below = neighbours[i].filter((j) => tier[j] < level);
      const mean = below.length ? below.reduce((sum, j) => sum + at[j][0], 0) / below.length : width / 2;
      at[i] = [mean, height - 32 - level * step];
    }
    // What would lie on each other stands side by side.
    row.sort((a, b) => at[a][0] - at[b][0]);
    const least = Math.min(34, (width - 60) / row.length);
    const same = new Map();
    for (const i of row) {
      const key = Math.round(at[i][0] / least);
      if (!same.has(key)) same.set(key, []);
      same.get(key).push(i);
    }
    for (const list of same.values()) {
      list.forEach((i, n) => { at[i] = [at[i][0] + (n - (list.length - 1) / 2) * least, at[i][1]]; });
    }
  }
  return {at, boxes, width, height, size, devices};
}

function entity(drawing, i, place, size, is_on) {
  const [name, kind] = drawing.nodes[i];
  const [x, y] = place;
  const title = drawn("title", {}, `${name} (${kind})`);
  if (kind === "device") return drawn("circle", {cx: x, cy: y, r: size, class: `device${is_on ? " on" : ""}`}, title);
  const half = kind === "switch" ? 13 : Math.max(2, Math.min(6, size));
  return drawn("rect", {x: x - half, y: y - half * (kind === "switch" ? .6 : 1), width: 2 * half, height: half * (kind === "switch" ? 1.2 : 2), rx: 2, class: kind}, title);
}

export function show_fabric(drawing, step) {
  if (!drawing) {
    replaced("fabric-view", element("p", {class: "empty"}, "No fabric is chosen: collectives are priced by the device's own link. A fabric of the list shows its topology and what the step loads each link with."));
    return;
  }
  const room = document.getElementById("fabric-view").clientWidth;
  if (!plan || plan.drawing !== drawing || plan.room !== room) plan = {drawing, room, ...placed(drawing)};
  const load = new Map((step.load ? step.load.links : []).map(([from, to, share, bytes]) => [`${from}-${to}`, {share, bytes}]));
  const used = new Set(plan.devices.slice(0, Number(step.state.shards)));
  const lines = drawing.links.map(([from, to, figure, cables]) => {
    const known = load.get(`${from}-${to}`);
    const [x1, y1] = plan.at[from], [x2, y2] = plan.at[to];
    const share = known ? known.share : 0;
    const says = `${drawing.nodes[from][0]} - ${drawing.nodes[to][0]}, ${drawing.figures[figure].transport}, ${text(drawing.figures[figure].bytes_per_s * cables, "B/s")}` +
      (known ? `: ${text(share, "1")} used, ${text(known.bytes, "B")} a step` : ": not used");
    const line = drawn("line", {x1, y1, x2, y2, class: `link${known ? " used" : ""}${share > .8 ? " full" : ""}`, "stroke-width": known ? 1 + 4 * Math.min(1, share) : 1, "stroke-opacity": known ? .35 + .65 * Math.min(1, share) : .8}, drawn("title", {}, says));
    line.addEventListener("mouseenter", () => show_tip(line, says));
    line.addEventListener("mouseleave", hide_tip);
    return line;
  });
  const boxes = plan.boxes.map((box) => [drawn("rect", {...box, name: undefined, rx: 4, class: "box"}),
    box.width > 44 ? drawn("text", {x: box.x + box.width / 2, y: box.y + box.height + 12, class: "tick", "text-anchor": "middle"}, box.name) : null]);
  const svg = drawn("svg", {id: "fabric-drawing", viewBox: `0 0 ${plan.width} ${plan.height + 8}`, role: "img", "aria-label": `${drawing.name}: ${plan.devices.length} devices, ${drawing.links.length} links; the busiest is used to ${text(step.load ? step.load.busiest : 0, "1")}`},
    boxes, lines, drawing.nodes.map((_, i) => entity(drawing, i, plan.at[i], plan.size, used.has(i))));
  const kinds = new Set(drawing.nodes.map(([, kind]) => kind));
  const busiest = [...load.entries()].sort((a, b) => b[1].share - a[1].share).slice(0, 6).map(([key, value]) => {
    const [from, to] = key.split("-").map(Number);
    return {name: `${drawing.nodes[from][0]} - ${drawing.nodes[to][0]}`, ...value};
  });
  replaced("fabric-view", element("p", {}, drawing.name, drawing.left_out ? ` (${drawing.left_out} entities are not drawn)` : ""),
    svg,
    element("div", {class: "legend"}, element("span", {}, element("span", {class: "key accent"}), "used by the step, wider = fuller"), element("span", {}, element("span", {class: "key k0"}), "device of the deployment"), kinds.has("nic") ? element("span", {}, element("span", {class: "key k2"}), "adapter") : null, kinds.has("host") ? element("span", {}, element("span", {class: "key k4"}), "host") : null),
    busiest.length ? table("The fullest links", [["link", (row) => row.name], [() => explained("utilisation", "used"), (row) => text(row.share, "1"), true], ["bytes a step", (row) => text(row.bytes, "B"), true]], busiest)
      : element("p", {class: "empty"}, "This layout sends nothing over it."),
    step.load ? element("p", {class: "from"}, step.load.assumed) : null);
}
