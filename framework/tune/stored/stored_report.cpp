#include "tune/stored/stored_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "plan/device/device_file.hpp"
#include "tune/search/front.hpp"
#include "tune/stored/stored_plan.hpp"

namespace halmark::tune {
namespace {

// The last one of each configuration.
std::vector<Evaluation> latest(std::vector<Evaluation> evaluations) {
  std::map<std::string, std::size_t> index;
  std::vector<Evaluation> out;
  for (Evaluation& e : evaluations) {
    const auto [it, is_new] = index.try_emplace(e.configuration.key(), out.size());
    if (is_new) {
      out.push_back(std::move(e));
    } else {
      out[it->second] = std::move(e);
    }
  }
  return out;
}

void add_validations(RunReport& out, std::vector<Validation> validations) {
  for (const Validation& v : validations) {
    for (Evaluation& e : out.evaluations) {
      if (e.configuration.key() != v.deployment_key || !v.has_time()) continue;
      e.measured_ns = v.measured_ns;
      e.measured_interval_ns = v.measured_interval_ns;
    }
  }
  out.validations = std::move(validations);
}

// Alternatives for the same work whose latency intervals overlap cannot be told apart.
std::vector<std::string> ties_of(const std::vector<Evaluation>& all,
                                 const std::vector<std::size_t>& front, std::size_t index) {
  std::vector<std::string> out;
  const Evaluation& self = all[index];
  for (const std::size_t other : front) {
    const Evaluation& e = all[other];
    if (other == index || e.configuration.workload != self.configuration.workload) continue;
    if (e.estimate->low_ns <= self.estimate->high_ns &&
        self.estimate->low_ns <= e.estimate->high_ns) {
      out.push_back(e.configuration.key());
    }
  }
  return out;
}

// The last of each phase, without what was tried after all.
std::vector<Untried> still_untried(std::vector<Untried> stored,
                                   std::span<const Evaluation> evaluations) {
  std::map<Phase, Untried> of;
  for (Untried& u : stored) of.insert_or_assign(u.phase, std::move(u));
  std::vector<Untried> out;
  for (auto& [phase, untried] : of) {
    std::erase_if(untried.could_enter, [&](const UntriedConfiguration& u) {
      return contains(evaluations, u.configuration, &Evaluation::configuration);
    });
    out.push_back(std::move(untried));
  }
  std::ranges::sort(out, {}, [](const Untried& u) { return u.phase != Phase::decode; });
  return out;
}

std::vector<std::size_t> front_of(std::span<const Evaluation> evaluations, const StoredPlan& plan) {
  std::vector<Objective> objectives;
  for (const std::string& name : plan.objectives) {
    if (const auto o = parse_objective(name)) objectives.push_back(*o);
  }
  return step_front(evaluations, objectives);
}

// The last of each device counts.
void take_peaks(const UsedPeaks& used, std::int64_t run, ReportingMachine& judge) {
  Device peaks = parse_device(used.device_text, "run " + std::to_string(run));
  if (used.devices.empty()) {
    judge.measured = std::move(peaks);
    if (used.threads > 0) judge.cores = used.threads;
    return;
  }
  for (const std::string& device : used.devices) {
    auto own = std::ranges::find(judge.devices, device, &JudgingDevice::device);
    if (own == judge.devices.end()) own = judge.devices.insert(own, {.device = device});
    own->measured = peaks;
    if (used.threads > 0) own->cores = used.threads;
  }
}

}  // namespace

std::vector<std::size_t> stored_front(std::span<const Evaluation> evaluations,
                                      const std::string& plan_text) {
  return front_of(evaluations, read_stored_plan(plan_text));
}

RunReport stored_report(const Store& store, std::int64_t run, const ReportingMachine& machine) {
  const RunInfo info = store.run_info(run);
  const std::vector<Measurement> rows = store.run_measurements(run);
  const bool is_here = is_run_of(store, run, {machine.fingerprint, machine.earlier});
  ReportingMachine judge = machine;
  if (!is_here) {
    judge.measured.reset();
    judge.datasheet.reset();
  }
  // Those that the run used, wherever the report is made; what is here now may be another figure.
  for (const UsedPeaks& used : store.rows<UsedPeaks>(run)) take_peaks(used, run, judge);
  const StoredPlan plan = read_stored_plan(info.plan_text);
  RunReport out{.title = plan.sweep,
                .model = plan.model,
                .command = info.command,
                .started_utc = info.started_utc,
                .tool = "halmark " + info.tool_version + " (" + info.tool_build + ")",
                .plan_hash = info.plan_hash,
                .chain_head = store.chain_head(run),
                .fingerprint = info.fingerprint,
                .left_out = plan.left_out,
                .device = judge.measured,
                .objectives = plan.objectives,
                .evaluations = latest(store.rows<Evaluation>(run)),
                .kernels = kernel_points(rows, judge)};
  out.untried = still_untried(store.rows<Untried>(run), out.evaluations);
  if (const auto then = store.machine(run)) {
    out.machine = then->lines;
  } else if (is_here) {
    out.machine = machine.lines;
    out.machine.push_back("(as this machine is now: the run did not keep it)");
  }
  for (const Measurement& m : rows) out.measuring_s += m.wall_s;
  add_validations(out, store.rows<Validation>(run));
  const std::vector<std::size_t> front = front_of(out.evaluations, plan);
  for (const std::size_t i : front) {
    out.front.push_back({.evaluation = i,
                         .is_suspect = out.evaluations[i].estimate->status != Status::ok,
                         .ties = ties_of(out.evaluations, front, i)});
  }
  const auto invalid = std::ranges::count(rows, Status::invalid, &Measurement::status);
  if (invalid > 0) {
    out.warnings.push_back(fmt::format(
        "W-ENV-03: {} of {} rows were disturbed by other work on this machine (invalid); what "
        "rests on them is suspect: run on a quiet machine",
        invalid, rows.size()));
  }
  for (const std::string& line : store.damaged()) out.warnings.push_back("damaged: " + line);
  return out;
}

std::vector<NumberedReport> stored_reports(const Store& store, std::span<const std::int64_t> runs,
                                           const ReportingMachine& machine) {
  if (runs.size() > runs_max) {
    throw refused("more than " + std::to_string(runs_max) + " runs", "--run",
                  "halmark history looks at any number");
  }
  std::vector<NumberedReport> out;
  for (const std::int64_t run : runs) {
    if (contains(out, run, &NumberedReport::run)) {
      throw refused("run " + std::to_string(run) + " is named twice", "--run");
    }
    out.push_back({run, stored_report(store, run, machine)});
  }
  return out;
}

}  // namespace halmark::tune
