// Units carry all that measuring needs, so that agents know neither the sweep nor its model.
#include "fleet/work_unit.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "measure/campaign/case_group.hpp"

namespace halmark::fleet {
namespace {

constexpr std::size_t name_digits = 16;

std::string batch_of(const KernelCase& kernel_case) {
  const CaseGroup group = case_group(kernel_case);
  return group.backend + ':' + group.device + '/' + std::to_string(group.parts) + 'x' +
         std::to_string(group.shards_at_once) + (group.is_collective ? " together" : "");
}

std::string name_of_stacks(std::span<const KernelCase> cases) {
  std::string keys;
  for (const KernelCase& k : cases) keys += k.key() + '\n';
  return "stacks " + sha256_of(keys).substr(0, name_digits);
}

Json json_of(const Stack& stack) {
  Json steps = Json::array(), members = Json::object();
  for (const StackStep& s : stack.steps) {
    steps.push_back(Json::array({s.kernel, s.instance, s.operator_name, s.layer_type}));
  }
  for (const auto& [kernel, ranks] : stack.members) members[std::to_string(kernel)] = ranks;
  Json out = {{"kernels", stack.kernels}, {"instances", stack.instances}, {"steps", steps}};
  if (!stack.members.empty()) out["members"] = std::move(members);
  if (stack.place) out["place"] = *stack.place;
  return out;
}

Stack stack_from(const Json& json) {
  Stack out{.kernels = json.at("kernels").get<std::vector<KernelCase>>(),
            .instances = json.at("instances").get<std::vector<std::int64_t>>(),
            .steps = {}};
  for (const Json& s : json.at("steps")) {
    out.steps.push_back({.kernel = s.at(0).get<std::int32_t>(),
                         .instance = s.at(1).get<std::int32_t>(),
                         .operator_name = s.at(2).get<std::string>(),
                         .layer_type = s.at(3).get<std::string>()});
  }
  if (const auto members = json.find("members"); members != json.end()) {
    for (const auto& [kernel, ranks] : members->items()) {
      out.members[static_cast<std::int32_t>(std::stoi(kernel))] = ranks.get<std::vector<int>>();
    }
  }
  if (const auto place = json.find("place"); place != json.end()) {
    out.place = place->get<ShardPlace>();
  }
  return out;
}

Json json_of(const UnitSettings& settings) {
  const MeasureSettings& m = settings.measure;
  Json limits = Json::object();
  for (const LimitRow& row : limit_rows()) {
    if (m.limits.*row.value) limits[row.key] = *(m.limits.*row.value);
  }
  return {{"samples_min", m.samples_min},
          {"sample_budget_s", m.sample_budget_s},
          {"wall_cap_s", m.wall_cap_s},
          {"warmup_cap_s", m.warmup_cap_s},
          {"limits", limits},
          {"seed", settings.seed}};
}

UnitSettings settings_from(const Json& json) {
  UnitSettings out;
  MeasureSettings& m = out.measure;
  m.samples_min = json.at("samples_min").get<std::int64_t>();
  m.sample_budget_s = json.at("sample_budget_s").get<double>();
  m.wall_cap_s = json.at("wall_cap_s").get<double>();
  m.warmup_cap_s = json.at("warmup_cap_s").get<double>();
  for (const LimitRow& row : limit_rows()) {
    const Json& limits = json.at("limits");
    if (limits.contains(row.key)) m.limits.*row.value = limits.at(row.key).get<double>();
  }
  out.seed = json.at("seed").get<std::uint64_t>();
  return out;
}

void add_units(std::int64_t run, std::span<const KernelCase> cases, const CampaignOptions& options,
               int round, std::vector<WorkUnit>& out) {
  std::map<std::string, std::vector<WorkUnit>> by_batch;
  // Stacks in the order in which the cases name them: addresses are no order.
  std::vector<std::pair<const Stack*, WorkUnit>> by_stacks;
  for (const KernelCase& k : cases) {
    if (options.lookup && options.lookup(k, round)) continue;
    const std::span<const Stack> stacks = k.mode == CacheMode::in_stack && options.stacks_of
                                              ? options.stacks_of(k)
                                              : std::span<const Stack>();
    if (stacks.empty()) {
      WorkUnit unit{.run = run, .name = k.key(), .round = round, .cases = {k}};
      unit.batch = batch_of(k);
      by_batch[unit.batch].push_back(std::move(unit));
      continue;
    }
    auto at =
        std::ranges::find(by_stacks, stacks.data(), &std::pair<const Stack*, WorkUnit>::first);
    if (at == by_stacks.end()) {
      at =
          by_stacks.insert(at, {stacks.data(), WorkUnit{.stacks = {stacks.begin(), stacks.end()}}});
    }
    at->second.cases.push_back(k);
  }
  for (auto& [batch, units] : by_batch) std::ranges::move(units, std::back_inserter(out));
  for (auto& [at, unit] : by_stacks) {
    unit.run = run;
    unit.round = round;
    unit.batch = unit.name = name_of_stacks(unit.cases);
    out.push_back(std::move(unit));
  }
}

}  // namespace

std::vector<WorkUnit> units_of(std::int64_t run, std::span<const KernelCase> cases,
                               const CampaignOptions& options) {
  std::vector<WorkUnit> out;
  for (int round = options.first_round; round < options.first_round + options.rounds; ++round) {
    add_units(run, cases, options, round, out);
  }
  return out;
}

std::string payload_of(const WorkUnit& unit, const UnitSettings& settings) {
  Json stacks = Json::array();
  for (const Stack& s : unit.stacks) stacks.push_back(json_of(s));
  return dump_json(
      {{"cases", unit.cases}, {"stacks", std::move(stacks)}, {"settings", json_of(settings)}});
}

UnitSettings read_payload(const std::string& payload, WorkUnit& unit) {
  const std::string where = "unit " + std::to_string(unit.id);
  try {
    const Json json = parse_json(payload, where);
    unit.cases = json.at("cases").get<std::vector<KernelCase>>();
    for (const Json& s : json.at("stacks")) unit.stacks.push_back(stack_from(s));
    return settings_from(json.at("settings"));
  } catch (const std::exception& e) {
    throw refused(std::string("no unit of work of this version: ") + e.what(), where,
                  "agents and tune must be of one version");
  }
}

}  // namespace halmark::fleet
