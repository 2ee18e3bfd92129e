// Every word with its explanation: a term shows it on hover, focus and touch.
import {element, replaced} from "./format.js";

const words = new Map();
const tip = document.getElementById("tip");

// What the page says beside the glossary of the program.
const own_words = [
  ["latency", "Time of one step: all sequences of the batch get their next token, or their prompts are read. In a pipeline that of one step in a stream of steps.", ""],
  ["throughput", "Tokens that the whole deployment makes or reads per second.", "batch x new tokens / step latency"],
  ["flops", "Floating-point operations per second of the products that the model needs, over all devices; recomputed ones and copies do not count.", "matmul FLOPs of the step / step latency"],
  ["power", "What all devices draw together. From a datasheet it is their limit: an upper end, not a measurement.", "devices x power limit"],
  ["energy per token", "Energy of all devices over one step, for each new token.", "power x step latency / (batch x new tokens)"],
  ["memory", "Bytes of the fullest device: its part of the weights, the cache of its sequences, and what is alive while it computes.", "weights + cache + activations"],
  ["phase", "decode: every sequence gets one more token. prefill: prompts are read, all their tokens at once.", ""],
  ["shards", "Devices that the deployment takes in all.", "dp x tp x pp x cp"],
  ["strategy", "How the devices share the work: dp = replicas, tp = every layer cut over devices, pp = stages of layers, ep = experts, cp = the tokens of a sequence. auto takes the layout with the least step latency that fits the memory.", ""],
  ["batch", "Sequences in flight over the whole deployment.", ""],
  ["context", "Tokens that the last query sees, those in the cache included.", ""],
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
  replaced("words-view", element("dl", {class: "words"}, sorted.map((term) => element("div", {},
    element("dt", {}, term.word),
    element("dd", {}, term.meaning, term.formula ? [element("br"), element("code", {}, term.formula)] : null)))));
}
