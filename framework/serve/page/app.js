// From a change of a control to everything that follows from it.
import {text} from "./format.js";
import {ask, grid, query_of, taken_token} from "./source.js";
import {learn, show_words} from "./glossary.js";
import {begin_controls, set_state, show_layouts} from "./controls.js";
import {asked_state, permalink, read_address, short_strategy} from "./state.js";
import {keep_figures, show_figures, show_layout_table, show_missing_figures, show_more_figures, show_operators} from "./figures.js";
import {show_serving} from "./serving.js";
import {show_fabric} from "./fabric.js";
import {show_sharding} from "./sharding.js";
import {show_timeline, show_timeline_refusal} from "./timeline.js";
import {axis_words, read_axes, show_front, show_front_refusal, show_here} from "./front.js";
import {show_journal} from "./journal.js";
import {exported_step, show_exports} from "./exports.js";
import {follow_progress} from "./progress.js";

const notice = document.getElementById("notice");
let running = null, settled = 0, has_shown = false, drawn_fabric = {id: null, drawing: null}, front_key = "", simulated = {key: "", load: undefined};

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

function show_title(of, figures) {
  const {model, device, shards, strategy, phase} = of;
  const first = figures[0];
  const load = phase === "serving" ? (of.rate ? `${text(of.rate, "")} requests/s` : `${of.clients} clients`) : `batch ${of.batch}`;
  const line = `${model} on ${shards} x ${device} (${short_strategy(strategy)}), ${phase}, ${load}`;
  document.getElementById("title").textContent = line;
  document.title = `${line}: ${text(first.value, first.unit)} - Halmark`;
}

function drawn_now(began, key) {
  document.body.classList.remove("waiting", "refused", "nothing");
  has_shown = true;
  requestAnimationFrame(() => setTimeout(() => {
    document.body.dataset.paintMs = (performance.now() - began).toFixed(1);
    document.body.dataset.shown = key;
  }));
}

function show_step(step, drawing, key) {
  const began = performance.now();
  show_title(step.state, step.figures);
  show_figures(step);
  show_layouts(step.layouts);
  show_layout_table(step, (strategy) => set_state({strategy}));
  show_operators(step);
  show_sharding(step);
  show_fabric(drawing, step, simulated.key === key ? simulated.load : undefined);
  show_here(step);
  exported_step(step);
  if (step.no_fit) notify(`${step.no_fit}. Below is what it would be if it fitted.`);
  else notify(step.warnings.map((line) => line.replaceAll("_", " ")).join("; "), true);
  document.body.classList.toggle("simulating", simulated.key !== key);
  drawn_now(began, key);
}

// What its refusal says stands in its place; a state that was left says nothing.
async function or_refusal(work, refuse) {
  try {
    await work();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    refuse(error.message);
  }
}

function show_simulation(simulation, step, drawing, asked, key) {
  simulated = {key, load: simulation.load};
  document.body.classList.remove("simulating");
  show_more_figures(simulation.figures);
  show_fabric(drawing, step, simulation.load);
  if (!simulation.timeline) { show_timeline_refusal("This file carries the events of batch 16 and context 4096 alone."); return; }
  show_timeline(simulation, grid ? null : async () => {
    await or_refusal(async () => show_timeline(await ask("simulation", {...asked, all: 1}), null), notify);
  });
}

// What takes longer follows when the hand rests.
async function show_rest(asked, step, drawing, signal, key) {
  const {strategy, batch, ...space} = asked;
  await or_refusal(async () => show_simulation(await ask("simulation", asked, signal), step, drawing, asked, key),
    (message) => { document.body.classList.remove("simulating"); show_missing_figures(message); show_timeline_refusal(message); show_fabric(drawing, step, null); });
  if (query_of(space) !== front_key) {
    await or_refusal(async () => show_front(await ask("front", space, signal)), show_front_refusal);
    front_key = query_of(space);
  }
  await or_refusal(async () => show_more_figures((await ask("spread", asked, signal)).figures), show_missing_figures);
  document.body.dataset.settled = key;
}

async function update_step(asked, signal, key, is_mine) {
  const began = performance.now();
  const [step, drawing] = await Promise.all([ask("step", asked, signal), fabric_of(asked, signal)]);
  document.body.dataset.answerMs = (performance.now() - began).toFixed(1);
  show_step(step, drawing, key);
  await new Promise((resolve) => setTimeout(resolve, 120));
  if (is_mine()) await show_rest(asked, step, drawing, signal, key);
}

async function update_serving(asked, signal, key) {
  const served = await ask("serving", asked, signal), began = performance.now();
  show_title(served.state, served.figures);
  show_figures(served);
  show_serving(served);
  show_layouts(served.layouts);
  exported_step(served);
  notify("");
  drawn_now(began, key);
  document.body.dataset.settled = key;
}

async function update() {
  if (running) running.abort();
  running = new AbortController();
  const {signal} = running, asked = asked_state(), key = query_of(asked), mine = ++settled;
  history.replaceState(null, "", permalink());
  document.body.classList.add("waiting");
  document.body.dataset.phase = asked.phase;
  try {
    if (asked.phase === "serving") await update_serving(asked, signal, key);
    else await update_step(asked, signal, key, () => mine === settled);
  } catch (error) {
    if (error.name === "AbortError") return;
    document.body.classList.remove("waiting");
    // What stands below is of another state: it steps back.
    document.body.classList.add("refused");
    document.body.dataset.shown = document.body.dataset.settled = key;
    const line = `${asked.model} on ${asked.shards} x ${asked.device}, ${asked.phase}: not possible`;
    document.getElementById("title").textContent = line;
    document.title = `${line} - Halmark`;
    document.body.classList.toggle("nothing", !has_shown);
    notify(`${error.message}.${has_shown ? " Below is the last state that was possible." : ""}`);
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
  document.getElementById("keep").addEventListener("click", () => keep_figures(document.getElementById("title").textContent));
  window.addEventListener("hashchange", () => {
    const said = new URLSearchParams(location.hash.slice(1));
    if (!said.has("model")) return;
    read_address(said);
    begin_controls(documents, update);
    update();
  });
  await update();
  await show_journal().catch((error) => notify(error.message));
  follow_progress(notify, async () => {
    await update();
    notify("The server answers again.", true);
  }, () => show_journal().catch((error) => notify(error.message)));
}

begin().catch((error) => notify(error.message));
