#include "latency/imported/table_layout.hpp"

#include <algorithm>
#include <map>

#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

bool fits(const TableLayout& layout, const CsvTable& table) {
  const auto has = [&](const std::string& column) { return column.empty() || table.has(column); };
  return table.has(layout.time_column) &&
         std::ranges::all_of(layout.parameters, [&](const TableParameter& p) {
           return has(p.column) && std::ranges::all_of(p.terms, [&](const TableTerm& term) {
                    return std::ranges::all_of(term.columns, has);
                  });
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

TableLayouts known_layouts(const CsvTable& table) {
  TableLayouts out = built_in_layouts();
  std::erase_if(out, [&](const TableLayout& layout) { return !fits(layout, table); });
  return out;
}

TableLayout read_layout(const std::string& path) {
  return layout_of(TomlTable::parse_file(path, "layout"), path);
}

TableLayout parse_layout(std::string_view text, std::string_view where) {
  return layout_of(TomlTable::parse(text, where), where);
}

}  // namespace halmark
