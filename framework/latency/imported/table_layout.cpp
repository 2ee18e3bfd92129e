#include "latency/imported/table_layout.hpp"

#include <algorithm>
#include <map>

#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "plan/toml_table.hpp"

namespace halmark {
namespace {

TableParameter from(std::string name, std::string column, std::int64_t offset = 0) {
  return {std::move(name), std::move(column), {}, offset};
}
TableParameter always(std::string name, std::string value) {
  return {std::move(name), {}, std::move(value), 0};
}

// Tables of aiconfigurator (github.com/ai-dynamo/aiconfigurator, Apache-2.0): milliseconds; its
// collectors store bf16 results of every gemm and attention, and weights as [n,k].
std::vector<TableLayout> built_in() {
  return {
      {.name = "gemm",
       .op = "gemm",
       .parameters = {from("m", "m"), from("n", "n"), from("k", "k"),
                      from("src_dtype", "gemm_dtype"), from("wei_dtype", "gemm_dtype"),
                      always("dst_dtype", "bf16"), always("wei_trans", "1")},
       .series = {"gemm_dtype"}},
      {.name = "context_attention",
       .op = "attention",
       .parameters = {from("batch", "batch_size"), from("heads", "num_heads"),
                      from("kv_heads", "num_key_value_heads"), from("head_dim", "head_dim"),
                      from("new_tokens", "isl"), from("context", "isl"), always("causal", "1"),
                      from("window", "window_size"), from("q_dtype", "attn_dtype"),
                      from("kv_dtype", "kv_cache_dtype"), always("dst_dtype", "bf16")},
       .series = {}},
      // `step` counts the keys before the new one, and `context` counts that too.
      {.name = "generation_attention",
       .op = "attention",
       .parameters = {from("batch", "batch_size"), from("heads", "num_heads"),
                      from("kv_heads", "num_key_value_heads"), from("head_dim", "head_dim"),
                      always("new_tokens", "1"), from("context", "step", 1), always("causal", "1"),
                      from("window", "window_size"), always("q_dtype", "bf16"),
                      from("kv_dtype", "kv_cache_dtype"), always("dst_dtype", "bf16")},
       .series = {}},
      {.name = "moe",
       .op = "grouped_gemm",
       .form = TableForm::experts,
       .parameters = {from("tokens", "num_tokens"), from("top_k", "topk"),
                      from("experts", "num_experts"), from("ep_size", "moe_ep_size"),
                      from("hidden", "hidden_size"), from("width", "inter_size"),
                      from("expert_tp", "moe_tp_size"), from("src_dtype", "moe_dtype"),
                      from("distribution", "distribution")},
       .series = {"kernel_source", "moe_dtype"}},
      {.name = "nccl",
       .op = "",
       .form = TableForm::collective,
       .parameters = {from("op", "op_name"), from("ranks", "num_gpus"),
                      from("elements", "message_size"), from("dtype", "nccl_dtype")},
       .series = {}},
      {.name = "custom_allreduce",
       .op = "",
       .form = TableForm::collective,
       .parameters = {always("op", "all_reduce"), from("ranks", "num_gpus"),
                      from("elements", "message_size"), always("dtype", "bf16")},
       .series = {}},
  };
}

bool fits(const TableLayout& layout, const CsvTable& table) {
  return table.has(layout.time_column) &&
         std::ranges::all_of(layout.parameters, [&](const TableParameter& p) {
           return p.column.empty() || table.has(p.column);
         });
}

const std::map<std::string, double>& units_ns() {
  static const std::map<std::string, double> units = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  return units;
}

// A parameter that the op has; whether all are there is said by its contract, row by row.
TableParameter read_parameter(const TomlTable& table, const OpContract& contract) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : contract.params()) names.emplace_back(spec.name);
  TableParameter out{.name = table.choice("name", names)};
  if (table.has("column") == table.has("value")) {
    throw refused("parameter '" + out.name + "' needs either column or value", table.where("name"));
  }
  out.column = table.string_or("column", "");
  out.value = table.string_or("value", "");
  out.offset = table.integer_or("offset", -1'000'000, 1'000'000, 0);
  return out;
}

TableLayout layout_of(const TomlTable& root, std::string_view where) {
  std::vector<std::string> ops, units;
  for (const OpContract* contract : all_contracts()) ops.emplace_back(contract->name());
  for (const auto& [unit, ns] : units_ns()) units.push_back(unit);
  TableLayout out{.name = std::string(where), .op = root.choice("op", ops)};
  out.time_column = root.string("time");
  out.ns_per_unit = units_ns().at(root.choice("unit", units));
  if (root.has("series")) out.series = root.strings("series");
  for (const TomlTable& table : root.tables("parameter")) {
    out.parameters.push_back(read_parameter(table, *find_contract(out.op)));
  }
  root.finish();
  if (out.parameters.empty()) {
    throw refused("no [[parameter]] is given", std::string(where));
  }
  return out;
}

}  // namespace

std::optional<TableLayout> known_layout(const CsvTable& table) {
  for (TableLayout& layout : built_in()) {
    if (fits(layout, table)) return std::move(layout);
  }
  return std::nullopt;
}

TableLayout read_layout(const std::string& path) {
  return layout_of(TomlTable::parse_file(path), path);
}

TableLayout parse_layout(std::string_view text, std::string_view where) {
  return layout_of(TomlTable::parse(text, where), where);
}

}  // namespace halmark
