// Every word with its explanation: a term shows it on hover, focus and touch.
import {element, replaced} from "./format.js";

const words = new Map();
const tip = document.getElementById("tip");

// What the page says beside the glossary of the program.
const own_words = [
  ["latency", "Time of one step from its begin to its end: all sequences of the batch get their next token, or their prompts are read. A percentile is of many steps with drawn times.", ""],
  ["throughput", "Tokens that the whole deployment makes or reads per second.", "batch x new tokens / step latency"],
  ["flops", "Floating-point operations per second of the products that the model needs, over all devices; recomputed ones and copies do not count.", "matmul FLOPs of the step / step latency"],
  ["power", "What all devices draw together, on average over the step: modelled from what each kernel uses of a device's peaks, not measured.", "idle + compute share^a + memory share^b, at most the limit"],
  ["own figure", "A step that you measured, in milliseconds: 100 % of the best possible is the least time that the device allows, 100 % of the forecast is what engines are expected to take.", "least or expected time / your time"],
  ["energy per token", "Energy of all devices over one step, for each token of it.", "sum of power x time / tokens of the step"],
  ["memory", "Bytes of the device that needs most: its part of the weights, the cache of its sequences, and what is alive while it computes.", "weights + cache + activations; training: weights + gradients + optimizer + activations"],
  ["phase", "decode: every sequence gets one more token. prefill: prompts are read, all their tokens at once. training: forward and backward passes over whole sequences. serving: a stream of requests, each a prefill and many decode steps.", ""],
  ["model", "Whose layers, shapes and weights are computed; the list has the shipped configurations.", ""],
  ["accelerator", "The device that every shard runs on: its peaks, its memory and its link.", ""],
  ["fabric", "What joins the devices. Without one, collectives are priced by the device's own link as if it reached every other device.", ""],
  ["new tokens", "Of the context, the tokens that this step reads; the rest is in the cache already.", ""],
  ["micro-batch", "Training: sequences that a replica passes through its stages at a time.", ""],
  ["recomputation", "Training: which activations are not stored for the backward pass but recomputed. More of it takes less memory and more time.", ""],
  ["optimizer", "Training: what is kept of every weight beside itself and its gradient.", ""],
  ["zero", "Training: what replicas share out instead of copying. 1: optimizer states; 2: gradients too; 3: weights too.", ""],
  ["schedule", "Training: the order of forward and backward passes in a pipeline's stages; without stages all are the same.", ""],
  ["arrivals", "Clients that wait ask again when they are answered: the load follows the server. At a rate requests come by chance, however busy it is.", ""],
  ["clients", "Requests that are under way at once, at most.", ""],
  ["request rate", "Requests a second on average, with exponential gaps between them (Poisson).", ""],
  ["prompt tokens", "Tokens of a request's prompt: they are read before its first token.", ""],
  ["answer tokens", "Tokens that a request gets.", ""],
  ["requests", "How many are simulated: more make the 99th percentile surer.", ""],
  ["engine", "Host and scheduler time around the kernels, fitted to published measurements of an engine. none: the server costs nothing beside its kernels.", ""],
  ["ttft", "Time to the first token: from the arrival of a request to its first token.", ""],
  ["tpot", "Time per output token: between the tokens of a request, behind the first.", "(end - first token) / (tokens - 1)"],
  ["cache", "Blocks of keys and values that an engine holds of its requests. When none is free, requests wait or give theirs up.", "blocks in use, most / blocks"],
  ["shards", "Devices that the deployment takes in all.", "dp x tp x pp x cp"],
  ["strategy", "How the devices share the work: dp = replicas, tp = every layer cut over devices, pp = stages of layers, ep = experts, cp = the tokens of a sequence. auto takes the layout with the least step latency that fits the memory.", ""],
  ["batch", "Sequences in flight over the whole deployment.", ""],
  ["context", "Tokens that the last query sees, those in the cache included.", ""],
  ["step of a stream", "The time between two steps when they follow each other, so that a pipeline neither fills nor drains. Without a pipeline it is the step latency.", ""],
  ["recipe", "Which types weights, products and cache have; checkpoint: as the model is published.", ""],
  ["utilisation", "Bytes that pass a link over the step against what it could carry in that time, in its fuller direction.", "bytes / (bandwidth x step latency)"],
  ["critical path", "The events that follow each other without a gap from begin to end: shortening one of them shortens the step.", ""],
  ["front", "Configurations that no other beats in both axes.", ""],
  ["replication", "How often the weights are held over all devices.", "bytes over all devices / bytes of the model"],
];

export function learn(terms) {
  for (const [word, meaning, formula] of own_words) words.set(word, {word, meaning, formula});
  for (const term of terms) words.set(term.word, term);
}

export function explained(word, label = word) {
  const term = words.get(word);
  return term ? told(label, term.meaning + (term.formula ? `\n${term.formula}` : "")) : document.createTextNode(label);
}

// A label with a sentence behind it.
export function told(label, sentence) {
  const node = element("button", {type: "button", class: "term", "aria-describedby": "tip"}, label);
  const say = () => show_tip(node, sentence);
  for (const event of ["mouseenter", "focus", "click"]) node.addEventListener(event, say);
  for (const event of ["mouseleave", "blur"]) node.addEventListener(event, hide_tip);
  return node;
}

export function show_tip(node, message, at = null) {
  tip.textContent = message;
  tip.hidden = false;
  const box = at || node.getBoundingClientRect();
  const width = Math.min(340, document.documentElement.clientWidth - 16);
  tip.style.maxWidth = `${width}px`;
  const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8));
  const below = box.bottom + 8 + tip.offsetHeight < document.documentElement.clientHeight;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${(below ? box.bottom + 8 : box.top - tip.offsetHeight - 8) + window.scrollY}px`;
}

export function hide_tip() { tip.hidden = true; }

document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide_tip(); });

export function show_words() {
  const sorted = [...words.values()].sort((a, b) => a.word.localeCompare(b.word));
  const list = element("dl", {class: "words"}, sorted.map((term) => element("div", {},
    element("dt", {}, term.word),
    element("dd", {}, term.meaning, term.formula ? [element("br"), element("code", {}, term.formula)] : null))));
  const folded = element("details", {class: "more"}, element("summary", {}, `${sorted.length} words and what they mean`), list);
  replaced("words-view", folded);
  document.querySelector(".sections a[href='#words']").addEventListener("click", () => { folded.open = true; });
}
