#include "pages/ops/op_page.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "kernels/example.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::pages {
namespace {

std::string values_text(const ParamSpec& spec) {
  std::string out =
      join(spec.allowed, " ", [&](const std::int64_t value) { return value_text(spec, value); });
  if (!out.empty()) return out;
  if (spec.kind == ParamKind::dtype) return "any";
  if (spec.kind == ParamKind::flag) return "0 1";
  const std::string least = std::to_string(spec.low);
  return spec.high >= std::int64_t{1} << 30 ? least + " or more"
                                            : least + " .. " + std::to_string(spec.high);
}

std::string default_text(const ParamSpec& spec) {
  if (spec.derived) return "follows";
  return spec.fallback ? value_text(spec, *spec.fallback) : "required";
}

std::string_view role_text(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::output:
      return "output";
    case Role::in_out:
      return "in and out";
    case Role::constant:
      return "constant";
    case Role::state:
      return "state";
  }
  return "";
}

std::string dims_text(const OperandSpec& operand) { return join(operand.dims, " x "); }

Json params_json(const OpContract& op) {
  return json_list(op.params(), [](const ParamSpec& spec) -> Json {
    return {{"name", std::string(spec.name)},
            {"values", values_text(spec)},
            {"default", spec.fallback ? Json(value_text(spec, *spec.fallback)) : Json()},
            {"derived", spec.derived},
            {"meaning", std::string(spec.meaning)}};
  });
}

void add_example(const OpContract& op, const Params& example, report::View& out) {
  report::TextTable operands({"operand", "role", "dtype", "shape"});
  Json json = Json::array();
  for (const OperandSpec& o : op.operands(example)) {
    const std::string dtype(dtype_name(o.dtype)), role(role_text(o.role));
    operands.add({o.name, role, dtype, dims_text(o)});
    json.push_back({{"name", o.name}, {"role", role}, {"dtype", dtype}, {"dims", o.dims}});
  }
  const std::string command =
      "halmark bench --op " + std::string(op.name()) + ' ' + words_of(op, example).text();
  out.data["example"] = {{"command", command}, {"operands", std::move(json)}};
  out.text += "\nfor example\n  " + command + "\nhas\n" + operands.text();
}

}  // namespace

report::View ops_page(int width) {
  std::size_t longest = 0;
  for (const OpContract* op : all_contracts()) longest = std::max(longest, op->name().size());
  report::View out{.data = {{"ops", Json::array()}}};
  for (const OpContract* op : all_contracts()) {
    const std::string name(op->name()), summary(op->summary());
    out.data["ops"].push_back(
        {{"op", name}, {"computes", summary}, {"measurable", op->is_measurable()}});
    out.text += report::wrapped(name + std::string(longest + 2 - name.size(), ' ') + summary +
                                    (op->is_measurable() ? "" : " (priced, not measured)"),
                                width, longest + 2);
  }
  out.text += report::wrapped("halmark ops NAME shows the parameters of one of them", width);
  return out;
}

report::View op_page(std::string_view name, int width) {
  const OpContract* op = find_contract(name);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const OpContract* known : all_contracts()) names.emplace_back(known->name());
    throw refused("unknown op '" + printable(name) + "'", {}, suggestion(name, names));
  }
  report::View out{.data = {{"op", std::string(name)},
                            {"computes", std::string(op->summary())},
                            {"measurable", op->is_measurable()},
                            {"parameters", params_json(*op)}}};
  out.text = report::wrapped(std::string(name) + ": " + std::string(op->summary()), width) + '\n';
  report::TextTable table({"parameter", "values", "default", "meaning"});
  for (const ParamSpec& spec : op->params()) {
    table.add(
        {std::string(spec.name), values_text(spec), default_text(spec), std::string(spec.meaning)});
  }
  out.text += table.text();
  const bool is_runnable = op->is_measurable();
  if (!is_runnable) out.text += "\npriced by halmark model; no kernel of it is measured\n";
  if (const auto example = is_runnable ? example_of(*op) : std::nullopt) {
    add_example(*op, *example, out);
  }
  return out;
}

}  // namespace halmark::pages
