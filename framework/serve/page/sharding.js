// Which rank has what.
import {digits, element, replaced, table, text} from "./format.js";
import {explained} from "./glossary.js";

export function show_sharding(step) {
  const {rows, sum, held, replication} = step.sharding;
  const columns = [
    ["tensor", (row) => `${row.layer} ${row.tensor}`], ["of", (row) => String(row.count), true], ["bits", (row) => digits(row.bits), true],
    [() => explained("strategy"), (row) => row.strategy],
    ["bytes", (row) => text(row.bytes, "B"), true], ["of one, a shard", (row) => text(row.bytes_per_shard, "B"), true],
    ["owners", (row) => String(row.owners), true],
    ["exchange", (row) => row.collective ? `${row.collective}, ${text(row.collective_bytes, "B")}` : "-"],
    ["reason", (row) => row.reason, false, "long"], ["shape, in -> out", (row) => row.shape, false, "tight"]];
  replaced("sharding-view", table(`Weights of ${step.state.model} over ${step.state.shards} devices, ${step.state.strategy}`, columns, rows,
    ["sum", "", "", "", text(sum, "B"), "", "", "", "", ""]),
    element("p", {class: "from"}, `held over all devices: ${text(held, "B")}, `, explained("replication", "replication"), ` ${replication.toFixed(3)}`));
}
