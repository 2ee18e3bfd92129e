#include "history/stored_duets.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "history/statistics/duet_verdict.hpp"

namespace halmark::history {
namespace {

bool goes_on(const Duet& known, const Duet& next) {
  return known.old_build == next.old_build && known.new_build == next.new_build &&
         known.status == Status::ok;
}

void append(Duet& to, const Duet& more) {
  const auto choosing = more.log_ratios.begin() + more.choosing_pairs;
  to.log_ratios.insert(to.log_ratios.begin() + to.choosing_pairs, more.log_ratios.begin(),
                       choosing);
  to.log_ratios.insert(to.log_ratios.end(), choosing, more.log_ratios.end());
  to.choosing_pairs += more.choosing_pairs;
  to.old_ns = more.old_ns;
  to.new_ns = more.new_ns;
  to.status = more.status;
  to.reason = more.reason;
  to.is_new_at_fault = more.is_new_at_fault;
}

}  // namespace

std::map<std::string, PooledDuet> pooled_duets(const Store& store,
                                               std::span<const std::int64_t> runs) {
  std::map<std::string, PooledDuet> out;
  for (const std::int64_t run : runs) {
    std::map<std::string, Duet> of_run;  // the last of a kernel counts
    for (Duet& duet : store.rows<Duet>(run)) {
      std::string key = duet.kernel_case.key();
      of_run.insert_or_assign(std::move(key), std::move(duet));
    }
    for (auto& [key, duet] : of_run) {
      const auto known = out.find(key);
      if (known == out.end() || !goes_on(known->second.duet, duet)) {
        out.insert_or_assign(key, PooledDuet{run, run, std::move(duet)});
      } else {
        append(known->second.duet, duet);
        known->second.last_run = run;
      }
    }
  }
  return out;
}

BuildChange last_build_change(const Store& store, std::span<const std::int64_t> runs) {
  BuildChange out;
  for (const std::int64_t run : runs | std::views::reverse) {
    const auto machine = store.machine(run);
    if (!machine || machine->build.empty()) continue;
    if (out.new_build.empty()) out.new_build = machine->build;
    if (machine->build != out.new_build) {
      if (out.old_build.empty()) out.old_build = machine->build;
    } else if (out.old_build.empty()) {
      out.run = run;
    } else {
      out.has_returned = true;
      break;
    }
  }
  return out;
}

bool is_of_build(const Duet& duet, const std::string& build) {
  return !duet.new_build.empty() && build.starts_with(duet.new_build);
}

bool is_decided(const Duet& duet, double floor) {
  const Change change = judge_duet(duet, floor).change;
  return change != Change::undecided && change != Change::invalid;
}

}  // namespace halmark::history
