// What a stream of requests experiences of the server.
import {element, replaced, table, text} from "./format.js";
import {explained} from "./glossary.js";

export function show_serving(served) {
  const rows = served.experienced.filter((row) => row.n > 0);
  const time = (key) => (row) => text(row[key], "ns");
  const columns = [["what", (row) => explained(row.term, row.what)], ["median", time("p50_ns"), true], ["90th percentile", time("p90_ns"), true],
    ["99th percentile", time("p99_ns"), true], ["mean", time("mean_ns"), true], ["requests", (row) => String(row.n), true]];
  const count = (key) => (row) => row[key].toLocaleString("en");
  const engines = [["engine", (row) => row.name], ["steps", count("steps"), true], ["busy", (row) => text(row.busy_s * 1e9, "ns"), true],
    ["tokens read", count("prompt_tokens"), true], ["tokens made", count("generated_tokens"), true],
    [() => explained("cache", "cache in use, most"), (row) => row.blocks > 0 ? text(row.blocks_peak / row.blocks, "1") : "-", true]];
  const form = served.closed_form;
  replaced("serving-view", table(rows[0].n < served.state.requests ? "The first requests, which find an empty server, are left out" : "All requests", columns, rows),
    form ? element("p", {class: "from"}, `closed form: first token ${text(form.ttft_ns, "ns")}, between tokens ${text(form.tpot_ns, "ns")}, whole request ${text(form.request_ns, "ns")}`) : null,
    element("h3", {}, served.engines.length > 1 ? `${served.engines.length} engines` : "The engine"), table("Each has a queue and a cache of its own", engines, served.engines),
    element("p", {class: "from"}, served.basis.join("; "),
      served.state.fabric ? "; collectives over the device's own link: a fabric is not part of this simulation" : ""));
}

export function served_rows(served) { return served.experienced; }
