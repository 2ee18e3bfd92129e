// Runs of the results database: what they found, and two of them side by side.
import {element, range_text, replaced, table, text} from "./format.js";
import {show_stored} from "./front.js";
import {explained} from "./glossary.js";
import {ask} from "./source.js";

let runs = [];
const sides = {before: null, after: null};

function side_box(which, run) {
  const input = element("input", {type: "radio", name: which, "aria-label": `Run ${run.id} as ${which}`, onchange: () => { sides[which] = run.id; ready(); }});
  input.checked = sides[which] === run.id;
  return input;
}

function ready() {
  document.getElementById("compare").disabled = !sides.before || !sides.after || sides.before === sides.after;
}

async function show_points(run) {
  const {points, left_out} = await ask("run", {id: String(run.id)});
  show_stored(points);
  replaced("run-view", element("h3", {}, `Run ${run.id}: ${points.length} configurations${left_out ? `, ${left_out} not shown` : ""}`),
    points.length ? table("Also drawn in the front above", [["configuration", (row) => row.name], ["step", (row) => text(row.step_ns, "ns"), true], ["interval", (row) => range_text(row.low_ns, row.high_ns, "ns"), true], ["run", (row) => row.measured_ns ? text(row.measured_ns, "ns") : "-", true], ["tokens/s", (row) => text(row.tokens_per_s, ""), true], ["MFU", (row) => row.mfu === null ? "-" : text(row.mfu, "1"), true], ["from", (row) => row.from], ["status", (row) => row.status]], points)
      : element("p", {class: "empty"}, "It measured kernels and no configurations."));
}

const percent = (ratio) => ratio === null ? "-" : `${ratio >= 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(1)} %`;

// The words and figures of halmark compare.
const change_columns = [
  ["verdict", (row) => row.change], ["time", (row) => percent(row.ratio), true],
  [() => explained("interval"), (row) => row.ratio_interval ? `${percent(row.ratio_interval[0])} to ${percent(row.ratio_interval[1])}` : "-", true],
  ["before", (row) => text(row.before_ns, "ns"), true], ["after", (row) => text(row.after_ns, "ns"), true],
  ["series", (row) => row.series, false, "long"], ["why", (row) => row.reason, false, "long"]];

async function compare() {
  try {
    const found = await ask("compare", {before: String(sides.before), after: String(sides.after)});
    const counts = Object.entries(found.counts).map(([word, count]) => `${count} ${word}`).join(", ");
    const news = found.changes.filter((row) => row.change !== "SAME");
    replaced("compare-view", element("h3", {}, `Run ${sides.before} against run ${sides.after}: ${counts}`),
      news.length ? table(`Not the same, worst first${news.length > 60 ? " (60 of them)" : ""}`, change_columns, news.slice(0, 60)) : element("p", {class: "empty"}, "Every series is the same within its noise."));
  } catch (error) {
    replaced("compare-view", element("p", {class: "notice"}, error.message));
  }
}

export async function show_journal() {
  const answer = await ask("runs");
  runs = answer.runs;
  if (!runs.length) {
    replaced("journal-view", element("p", {class: "empty"}, answer.reason || "Nothing was measured yet."));
    return;
  }
  const columns = [["before", (run) => side_box("before", run)], ["after", (run) => side_box("after", run)],
    ["run", (run) => element("button", {type: "button", class: "term", onclick: () => show_points(run)}, String(run.id))],
    ["began", (run) => run.started_utc], ["kernels", (run) => String(run.kernels), true], ["failed", (run) => String(run.failed), true],
    ["invalid", (run) => String(run.invalid), true],
    ["configurations", (run) => String(run.configurations), true], ["command", (run) => run.command, false, "long"]];
  replaced("journal-view", table("The latest runs; a number shows its configurations", columns, runs),
    element("p", {}, element("button", {type: "button", id: "compare", disabled: true, onclick: compare}, "Compare before with after")),
    element("div", {id: "compare-view"}), element("div", {id: "run-view"}));
}
