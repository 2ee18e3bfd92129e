// The state of the page: what the controls say, and what the address says of them.
import {grid, query_of} from "./source.js";

const defaults = {device: "h100-sxm", model: "qwen3-32b", fabric: "nvlink-node", phase: "decode", dtype: "checkpoint",
  shards: "8", batch: "16", context: "2048", new: "2048", strategy: "auto", measured: "", price: "",
  micro: "", recompute: "none", optimizer: "adam", zero: "0", schedule: "1f1b",
  clients: "16", rate: "8", input: "1024", output: "128", requests: "", engine: ""};

// Words of a phase beside those of all.
const words_of = {decode: ["batch", "context", "measured"], prefill: ["batch", "context", "new", "measured"],
  training: ["batch", "context", "measured", "micro", "recompute", "optimizer", "zero", "schedule"],
  serving: ["input", "output", "requests", "engine"]};
export const phase_words = Object.keys(words_of);
const words_of_all = ["device", "model", "fabric", "phase", "dtype", "shards", "strategy", "price"];

export const steps_of = {
  shards: [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 36, 48, 64, 72, 96, 128, 192, 256, 384, 512, 768, 1024],
  batch: [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096],
  context: [128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072],
  new: [1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768],
  clients: [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512],
  rate: [.25, .5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128],
  input: [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768],
  output: [1, 16, 32, 64, 128, 256, 512, 1024, 2048],
  requests: [20, 50, 100, 200, 500, 1000, 2000],
};

export const state = {...defaults, arrivals: "clients"};

export function read_address(words) {
  Object.assign(state, grid ? grid.state : {});
  // A link leaves out what is not there.
  if (words.has("model")) Object.assign(state, {...defaults, fabric: "", strategy: "auto"});
  for (const key of Object.keys(defaults)) {
    if (words.has(key)) state[key] = words.get(key);
  }
  if (!phase_words.includes(state.phase)) state.phase = "decode";
  state.arrivals = words.has("rate") ? "rate" : "clients";
}

// Whether a control says something in the phase that is chosen.
export function matters(name) {
  // A file has prompts that are new as a whole, and computes nothing.
  if ((name === "new" || name === "measured") && grid) return false;
  if (name === "arrivals") return state.phase === "serving";
  if (name === "clients" || name === "rate") return state.phase === "serving" && state.arrivals === name;
  return words_of_all.includes(name) || words_of[state.phase].includes(name);
}

// What is asked: words that do not matter are left out, so that equal states are one; a price is the page's own.
export function asked_state() {
  const out = {};
  for (const name of Object.keys(defaults)) {
    if (matters(name) && name !== "price" && state[name] !== "") out[name] = state[name];
  }
  if (out.new && Number(out.new) >= Number(out.context)) delete out.new;
  return out;
}

export function permalink() {
  return `${location.href.split("#")[0]}#${query_of({...asked_state(), ...(state.price ? {price: state.price} : {})})}`;
}

// "dp1 tp8 pp1 ep1" is read as "tp8".
export function short_strategy(strategy) {
  return strategy.split(" ").filter((word) => !/^..1$/.test(word)).join(" ") || "1 device";
}
