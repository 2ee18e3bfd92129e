// The loop is the same as on one machine: what it asks for is measured elsewhere, and comes back as
// rows of the run's journal. Nobody measures twice what another command has asked for already.
#include "fleet/fleet_measurer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

bool has_all(const std::vector<std::string>& offered, const std::vector<std::string>& needed) {
  return std::ranges::all_of(needed,
                             [&](const std::string& one) { return contains(offered, one); });
}

// A unit whose agents were all lost: what each of its cases is now.
Measurement lost_row(const KernelCase& kernel_case, const FailedUnit& failed) {
  Measurement row{.kernel_case = kernel_case, .round = failed.unit.round};
  row.status = Status::worker_lost;
  row.reason = fmt::format("{} agents were lost while they measured it: {}", failed.nodes.size(),
                           fmt::join(failed.nodes, ", "));
  return row;
}

}  // namespace

std::string pending_reason(const Fitness& need, std::span<const Agent> agents) {
  std::string nearest = "no agent is there: start 'halmark agent URL' on a machine of class " +
                        join(need.classes, " + ");
  for (const Agent& agent : agents) {
    if (!is_present(agent)) continue;
    if (agent.state == unfit_state) {
      nearest = fmt::format("{} is unfit: {}", agent.node, agent.doing);
      continue;
    }
    if (!has_all(agent.offer.classes, need.classes)) {
      nearest = fmt::format("no agent has the class {}: {} has {}", join(need.classes, " + "),
                            agent.node, join(agent.offer.classes, " + "));
      continue;
    }
    if (agent.offer.tool != need.tool) {
      nearest = fmt::format("{} runs halmark {}, and this is {}", agent.node, agent.offer.tool,
                            need.tool);
      continue;
    }
    const auto* differs = find_or_null(need.plugins, true, [&](const auto& plugin) {
      const auto* own = find_value(agent.offer.plugins, plugin.first);
      return !own || *own != plugin.second;
    });
    if (!differs) return {};
    const bool has_one = agent.offer.plugins.contains(differs->first);
    nearest = fmt::format("{} has {} of backend {}", agent.node,
                          has_one ? "another build of the plugin" : "no plugin", differs->first);
  }
  return nearest;
}

FleetMeasurer::FleetMeasurer(SharedStore& store, FleetOptions options)
    : store_(store), options_(std::move(options)), table_(store.session()) {}

tune::KernelMeasurer::Run FleetMeasurer::begin(const RunInfo& run, bool starts_new_run) {
  if (starts_new_run) return {.id = store_.begin_run(run)};
  const bool is_found = store_.find_run(run.plan_hash, run.fingerprint).has_value();
  return {.id = store_.find_or_begin_run(run), .is_found = is_found};
}

std::vector<Measurement> FleetMeasurer::measure(std::int64_t run, std::span<const KernelCase> cases,
                                                const MeasureSettings& settings,
                                                const CampaignOptions& options) {
  const std::vector<WorkUnit> units = units_of(run, cases, options);
  const std::vector<std::int64_t> ids =
      table_.add(units, {.measure = settings, .seed = options.seed}, options_.need);
  if (!ids.empty()) wait(std::ssize(cases) * options.rounds, options, ids);
  std::map<std::pair<std::string, int>, Measurement> rows;
  if (!ids.empty()) {
    for (Measurement& m : store_.run_measurements(run)) {
      auto key = std::pair(m.kernel_case.key(), m.round);
      rows.insert_or_assign(std::move(key), std::move(m));
    }
    store_.require_sound();
  }
  std::vector<Measurement> out;
  for (int round = options.first_round; round < options.first_round + options.rounds; ++round) {
    for (const KernelCase& k : cases) {
      if (const auto it = rows.find({k.key(), round}); it != rows.end()) {
        out.push_back(it->second);
      } else if (options.lookup) {
        if (auto stored = options.lookup(k, round)) out.push_back(std::move(*stored));
      }
    }
  }
  return out;
}

// A server that is lost in the middle of a look is asked once more, which waits for its restart:
// nothing of a look is stored twice.
UnitCounts FleetMeasurer::look(std::span<const std::int64_t> ids) {
  const auto once = [&] {
    table_.expire();
    return table_.counts(ids);
  };
  try {
    return once();
  } catch (const postgresql::ServerLost&) {
    return once();
  }
}

void FleetMeasurer::wait(std::int64_t all, const CampaignOptions& options,
                         const std::vector<std::int64_t>& ids) {
  const auto begin = SteadyClock::now();
  const auto asked = std::ssize(ids);
  std::optional<std::int64_t> done_before;
  UnitCounts told{.ready = -1};
  while (!options.should_stop || !options.should_stop()) {
    const UnitCounts now = look(ids);
    if (!done_before) done_before = now.done;
    if (options.progress && now != told) {
      told = now;
      CampaignProgress p{.done = all - asked + now.done, .total = all, .resumed = all - asked};
      p.elapsed_s = seconds_since(begin);
      if (now.done > *done_before) {
        p.left_s = p.elapsed_s * as_double(asked - now.done) / as_double(now.done - *done_before);
      }
      p.current = fmt::format("{} leased, {} waiting", now.leased, now.ready);
      options.progress(p);
    }
    if (now.failed > 0) store_failed(ids);
    if (now.ready + now.leased + now.failed == 0) return;
    explain_waiting(seconds_since(begin), now);
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.poll_s));
  }
}

// By whichever command is the first to see it.
void FleetMeasurer::store_failed(std::span<const std::int64_t> ids) {
  for (const FailedUnit& failed : table_.failed(ids)) {
    std::vector<Measurement> rows =
        mapped(failed.unit.cases, [&](const KernelCase& k) { return lost_row(k, failed); });
    try {
      store_.append_with(failed.unit.run, rows, [&](postgresql::Session& session) {
        if (!WorkTable::give_up(session, failed.unit.id)) throw LostLease("stored already");
      });
    } catch (const LostLease&) {
    }
  }
}

void FleetMeasurer::explain_waiting(double waited_s, const UnitCounts& counts) {
  if (counts.leased > 0 || counts.ready == 0) has_explained_ = false;
  if (has_explained_ || counts.leased > 0 || counts.ready == 0 ||
      waited_s < options_.pending_notice_s) {
    return;
  }
  const std::string why = pending_reason(options_.need, table_.agents());
  if (why.empty()) return;
  has_explained_ = true;
  if (options_.say) {
    options_.say(fmt::format("halmark: {} units of work wait: {}\n", counts.ready, why));
  }
}

}  // namespace halmark::fleet
