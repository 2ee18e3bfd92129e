// Units carry all that measuring needs, so that agents know neither the sweep nor its model.
#include "fleet/work_unit.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/fields/json_visitor.hpp"
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
  return dump_json({{"cases", unit.cases},
                    {"stacks", unit.stacks},
                    {"settings", json_fields::written(settings)}});
}

UnitSettings read_payload(const std::string& payload, WorkUnit& unit) {
  const std::string where = "unit " + std::to_string(unit.id);
  try {
    const Json json = parse_json(payload, where);
    UnitSettings out;
    json.at("cases").get_to(unit.cases);
    json.at("stacks").get_to(unit.stacks);
    json_fields::read(json.at("settings"), out);
    return out;
  } catch (const std::exception& e) {
    throw refused(std::string("no unit of work of this version: ") + e.what(), where,
                  "agents and tune must be of one version");
  }
}

}  // namespace halmark::fleet
