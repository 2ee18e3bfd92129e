// [request] and [slo] of a sweep. What belongs to requests alone is refused in a sweep of steps,
// where it would be ignored.
#include "plan/served_sweep.hpp"

#include <algorithm>
#include <charconv>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "plan/asked_sweep.hpp"
#include "plan/toml/load_file.hpp"

namespace halmark {

namespace {

constexpr std::int64_t concurrency_max = 65536;

std::vector<std::string> objective_names() {
  std::vector<std::string> out = {"latency", "throughput"};
  for (const ObjectiveRow& row : objective_rows()) {
    if (row.of_requests != nullptr) out.emplace_back(row.name);
  }
  return out;
}

// What only requests have, in a sweep without any.
void refuse_without_request(const TomlTable& root) {
  if (const auto slo = root.table("slo")) {
    throw refused("[slo] is given, but no [request]", root.where("slo"),
                  "state input_tokens, output_tokens and concurrency of the requests");
  }
  if (!root.has("objectives")) return;
  for (const std::string& name : root.strings("objectives")) {
    const auto objective = parse_request_objective(name);
    const auto of_steps = parse_objective(name);
    const bool is_of_steps = of_steps && row_of(*of_steps).of_step != nullptr;
    if (!objective || is_of_steps) continue;
    throw refused("objective '" + name + "' is one of requests, and no [request] is given",
                  root.where("objectives"),
                  "add [request], or take latency, throughput, memory, energy");
  }
}

}  // namespace

std::vector<ServiceLevel> read_service_levels(const TomlTable& table) {
  std::vector<ServiceLevel> out;
  for (const ObjectiveRow& row : objective_rows()) {
    if (row.level_key.empty() || !table.has(row.level_key)) continue;
    out.push_back({.objective = row.objective,
                   .limit = table.number(row.level_key, 1e-12, 1e15) * row.level_unit,
                   .where = table.where(row.level_key)});
  }
  return out;
}

std::vector<ServiceLevel> service_levels(const StatedLevels& stated) {
  const std::string where = "--slo";
  std::vector<std::string> keys;
  for (const ObjectiveRow& row : objective_rows()) {
    if (!row.level_key.empty()) keys.emplace_back(row.level_key);
  }
  std::vector<ServiceLevel> out;
  const auto add = [&out](Objective objective, double limit, const std::string& option) {
    if (contains(out, objective, &ServiceLevel::objective)) {
      throw refused(std::string(row_of(objective).title) + " is stated twice", option,
                    "leave one of them out");
    }
    out.push_back({.objective = objective, .limit = limit, .where = option});
  };
  for (const std::string& text : stated.slo) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    const auto row = std::ranges::find(objective_rows(), key, &ObjectiveRow::level_key);
    if (key.empty() || row == objective_rows().end()) {
      throw refused("'" + text + "' names no level", where, suggestion(key, keys));
    }
    double limit = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, code] =
        std::from_chars(text.data() + std::min(equals, text.size() - 1) + 1, end, limit);
    if (equals == std::string::npos || code != std::errc() || stop != end || !(limit > 0) ||
        limit > 1e15) {
      throw refused("'" + text + "' states no limit", where, "as in " + key + "=500");
    }
    add(row->objective, limit * row->level_unit, where);
  }
  if (!stated.ttft.empty()) {
    add(Objective::ttft, parse_duration_ns(stated.ttft, "--ttft"), "--ttft");
  }
  if (!stated.tpot.empty()) {
    add(Objective::tpot, parse_duration_ns(stated.tpot, "--tpot"), "--tpot");
  }
  return out;
}

std::optional<ServedSweep> read_served_sweep(const TomlTable& root) {
  const auto table = root.table("request");
  if (!table) {
    refuse_without_request(root);
    return std::nullopt;
  }
  ServedSweep out;
  out.request = {.input_tokens = table->integer("input_tokens", 1, tokens_max),
                 .output_tokens = table->integer("output_tokens", 1, tokens_max)};
  out.concurrency = table->integers("concurrency", 1, concurrency_max);
  out.token_budgets = table->has("token_budget") ? table->integers("token_budget", 1, tokens_max)
                                                 : std::vector<std::int64_t>{8192};
  const std::vector<std::string> modes =
      table->has("modes") ? table->choices("modes", {"aggregated", "disaggregated"})
                          : std::vector<std::string>{"aggregated"};
  for (const std::string& mode : modes) {
    out.modes.push_back(mode == "aggregated" ? ServingMode::aggregated
                                             : ServingMode::disaggregated);
  }
  const std::vector<std::string> wanted =
      root.has("objectives") ? root.choices("objectives", objective_names())
                             : std::vector<std::string>{"ttft", "tpot", "tokens_per_s_per_device"};
  for (const std::string& name : wanted) {
    const Objective objective = *parse_request_objective(name);
    if (!contains(out.objectives, objective)) {
      out.objectives.push_back(objective);
    }
  }
  if (const auto slo = root.table("slo")) out.levels = read_service_levels(*slo);
  return out;
}

ServingDevices read_serving_devices(const TomlTable& root) {
  ServingDevices out;
  if (root.has("device_file")) {
    out.file = root.string("device_file");
    out.file_where = root.where("device_file");
  }
  if (root.has("network_gb_per_s")) {
    out.network_bytes_per_s = root.number("network_gb_per_s", 1e-3, 1e6) * 1e9;
  }
  if (root.has("usd_per_device_hour")) {
    out.usd_per_device_hour = root.number("usd_per_device_hour", 1e-6, 1e6);
  }
  out.memory_fraction = root.number_or("memory_fraction", 0.01, 1, out.memory_fraction);
  return out;
}

}  // namespace halmark
