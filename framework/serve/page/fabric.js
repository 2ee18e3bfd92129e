// The fabric from its topology: switches above, nodes with their devices below, links by what the
// step loads them with.
import {drawn, element, replaced, table, text} from "./format.js";
import {explained, hide_tip, show_tip} from "./glossary.js";

let plan = null;  // the drawing with places

// Rows from the devices up: adapters and hosts, switches of devices, leaves, spines.
function rows_of(nodes, neighbours) {
  const hops = nodes.map(([, kind]) => kind === "device" ? 0 : -1);
  let wave = nodes.map((_, i) => i).filter((i) => hops[i] === 0);
  for (let depth = 1; wave.length; ++depth) {
    const next = new Set();
    for (const i of wave) for (const j of neighbours[i]) if (hops[j] < 0) next.add(j);
    for (const j of next) hops[j] = depth;
    wave = [...next];
  }
  const rows = nodes.map(([, kind], i) => kind === "switch" ? Math.max(1, hops[i]) + 1 : kind === "device" ? 0 : 1);
  const used = [...new Set(rows)].sort((x, y) => x - y);
  return rows.map((row) => used.indexOf(row));
}

// What would lie on each other stands side by side, and the row stays where it was on average.
function spread(row, at, least, width) {
  row.sort((i, j) => at[i][0] - at[j][0]);
  const mean = () => row.reduce((sum, i) => sum + at[i][0], 0) / row.length;
  const before = mean();
  row.forEach((i, n) => { if (n) at[i][0] = Math.max(at[i][0], at[row[n - 1]][0] + least); });
  const shift = before - mean();
  const room = [20 - at[row[0]][0], width - 20 - at[row.at(-1)][0]];
  const by = Math.min(Math.max(shift, room[0]), room[1]);
  for (const i of row) at[i][0] += by;
}

// A torus is drawn as rows of its ranks, those of the deployment first.
function placed_torus(nodes, devices, shards, width) {
  const at = nodes.map(() => null);
  const count = Math.min(devices.length, Math.max(32, Math.min(256, shards))), columns = Math.min(16, count);
  devices.slice(0, count).forEach((i, n) => {
    at[i] = [50 + (n % columns) * (width - 100) / Math.max(1, columns - 1), 34 + Math.floor(n / columns) * 46];
  });
  return {at, boxes: [], width, height: 34 + Math.ceil(count / columns) * 46, size: 7, half: 7, devices, count};
}

function placed(drawing, shards) {
  const {nodes, links} = drawing;
  const neighbours = nodes.map(() => []);
  for (const [from, to] of links) { neighbours[from].push(to); neighbours[to].push(from); }
  const devices = nodes.map((_, i) => i).filter((i) => nodes[i][1] === "device");
  const width = Math.max(340, Math.min(1200, document.getElementById("fabric-view").clientWidth));
  const is_torus = devices.length > 8 && !nodes.some(([, kind]) => kind === "switch");
  if (is_torus) return placed_torus(nodes, devices, shards, width);
  const at = nodes.map(() => [0, 0]);
  const rows = rows_of(nodes, neighbours), top = Math.max(...rows);
  const step = 66, height = 60 + top * step + 24;
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
  let x = 20, half = 13;
  for (const [machine, list] of machines) {
    boxes.push({x, y: height - 52, width: pitch * list.length, height: 40, name: machine < 0 ? "" : `node ${machine}`});
    for (const i of list) { at[i] = [x + pitch / 2, height - 32]; x += pitch; }
    x += gap;
  }
  for (let level = 1; level <= top; ++level) {
    const row = nodes.map((_, i) => i).filter((i) => rows[i] === level);
    for (const i of row) {
      const below = neighbours[i].filter((j) => rows[j] < level);
      const mean = below.length ? below.reduce((sum, j) => sum + at[j][0], 0) / below.length : width / 2;
      at[i] = [mean, height - 32 - level * step];
    }
    const has_switch = row.some((i) => nodes[i][1] === "switch");
    const least = Math.min(has_switch ? 34 : 2 * Math.min(6, size) + 1, (width - 60) / row.length);
    if (has_switch) half = Math.min(half, least * .4);
    spread(row, at, least, width);
  }
  return {at, boxes, width, height, size, half, devices, count: devices.length};
}

function entity(drawing, i, place, size, switch_half, is_on) {
  const [name, kind] = drawing.nodes[i];
  const [x, y] = place;
  const title = drawn("title", {}, `${name} (${kind})`);
  if (kind === "device") return drawn("circle", {cx: x, cy: y, r: size, class: `device${is_on ? " on" : ""}`}, title);
  const half = kind === "switch" ? switch_half : Math.max(2, Math.min(6, size));
  return drawn("rect", {x: x - half, y: y - half * (kind === "switch" ? .6 : 1), width: 2 * half, height: half * (kind === "switch" ? 1.2 : 2), rx: 2, class: kind}, title);
}

function empty_text(load) {
  if (load === undefined) return "What each link carries follows with the simulation.";
  return load ? "This layout sends nothing over it." : "What each link carries is not known: the fabric is too large to follow every message.";
}

// `load`: of the simulation; undefined while it is not known yet.
export function show_fabric(drawing, step, load_of_step) {
  if (!drawing) {
    replaced("fabric-view", element("p", {class: "empty"}, "No fabric is chosen: collectives are priced by the device's own link. A fabric of the list shows its topology and what the step loads each link with."));
    return;
  }
  const room = document.getElementById("fabric-view").clientWidth;
  const shards = Number(step.state.shards);
  if (!plan || plan.drawing !== drawing || plan.room !== room || plan.shards !== shards) plan = {drawing, room, shards, ...placed(drawing, shards)};
  const load = new Map((load_of_step ? load_of_step.links : []).map(([from, to, share, bytes]) => [`${from}-${to}`, {share, bytes}]));
  const used = new Set(plan.devices.slice(0, shards));
  const lines = drawing.links.filter(([from, to]) => plan.at[from] && plan.at[to]).map(([from, to, figure, cables]) => {
    const known = load.get(`${from}-${to}`);
    const [x1, y1] = plan.at[from], [x2, y2] = plan.at[to];
    const share = known ? known.share : 0;
    const says = `${drawing.nodes[from][0]} - ${drawing.nodes[to][0]}, ${drawing.figures[figure].transport}, ${text(drawing.figures[figure].bytes_per_s * cables, "B/s")}` +
      (known ? `: ${text(share, "1")} used, ${text(known.bytes, "B")} a step` : load_of_step ? ": not used" : "");
    const line = drawn("line", {x1, y1, x2, y2, class: `link${known ? " used" : ""}${share > .8 ? " full" : ""}`, "stroke-width": known ? 1 + 4 * Math.min(1, share) : 1, "stroke-opacity": known ? .6 + .4 * Math.min(1, share) : .8}, drawn("title", {}, says));
    line.addEventListener("mouseenter", () => show_tip(line, says));
    line.addEventListener("mouseleave", hide_tip);
    return line;
  });
  const boxes = plan.boxes.map((box) => [drawn("rect", {...box, name: undefined, rx: 4, class: "box"}),
    box.width > 44 ? drawn("text", {x: box.x + box.width / 2, y: box.y + box.height + 12, class: "tick", "text-anchor": "middle"}, box.name) : null]);
  const svg = drawn("svg", {id: "fabric-drawing", viewBox: `0 0 ${plan.width} ${plan.height + 8}`, role: "img", "aria-label": `${drawing.name}: ${plan.devices.length} devices, ${drawing.links.length} links; the busiest is used to ${text(load_of_step ? load_of_step.busiest : 0, "1")}`},
    boxes, lines, drawing.nodes.map((_, i) => plan.at[i] && entity(drawing, i, plan.at[i], plan.size, plan.half, used.has(i))));
  const kinds = new Set(drawing.nodes.map(([, kind]) => kind));
  const busiest = [...load.entries()].sort((a, b) => b[1].share - a[1].share).slice(0, 6).map(([key, value]) => {
    const [from, to] = key.split("-").map(Number);
    return {name: `${drawing.nodes[from][0]} - ${drawing.nodes[to][0]}`, ...value};
  });
  replaced("fabric-view", element("p", {}, drawing.name, plan.count < plan.devices.length ? ` (drawn: the first ${plan.count} devices)` : drawing.left_out ? ` (${drawing.left_out} entities are not drawn)` : ""),
    svg,
    element("div", {class: "legend"}, element("span", {}, element("span", {class: "key accent"}), "used by the step, wider = fuller"), element("span", {}, element("span", {class: "key k0"}), "device of the deployment"), kinds.has("nic") ? element("span", {}, element("span", {class: "key k2"}), "adapter") : null, kinds.has("host") ? element("span", {}, element("span", {class: "key k4"}), "host") : null),
    busiest.length ? table("The busiest links", [["link", (row) => row.name], [() => explained("utilisation", "used"), (row) => text(row.share, "1"), true], ["bytes a step", (row) => text(row.bytes, "B"), true]], busiest)
      : element("p", {class: "empty"}, empty_text(load_of_step)),
    load_of_step ? element("p", {class: "from"}, load_of_step.assumed) : null);
}
