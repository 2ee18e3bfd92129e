#include "onboard/onboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/input/places.hpp"
#include "core/numeric/clock.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/digest.hpp"
#include "core/text/text.hpp"
#include "onboard/choice.hpp"
#include "onboard/device_files.hpp"
#include "onboard/whole_steps.hpp"

namespace halmark::onboard {
namespace {

constexpr std::size_t batch = 8, fitted_least = 32;
constexpr double p90_of_goal = 3;  // times the goal of the median

class Onboarding {
 public:
  Onboarding(const Plan& plan, const Setting& setting, tune::KernelMeasuring measuring,
             Store& store, RunInfo info, const Hooks& hooks)
      : plan_(plan),
        setting_(setting),
        measuring_(std::move(measuring)),
        store_(store),
        hooks_(hooks),
        files_(plan, setting.plugin_release, info.started_utc) {
    info.plan_text = plan.text;
    info.plan_hash = sha256_of(plan.text);
    info.fingerprint = setting.target.fingerprint;
    const auto known = store.find_run(info.plan_hash, info.fingerprint);
    run_ = known ? *known : store.begin_run(info);
    for (const Measurement& row : store.run_measurements(run_)) take(row);
    measuring_.rounds = 1;
    measuring_.sink = [this](const Measurement& row) {
      store_.append(run_, row);
      take(row);
      say(row.kernel_case.problem.text());
    };
  }

  Outcome run() {
    measure_held_out();
    measure_fitted();
    if (!is_stopped()) execute_steps();
    out_.seconds = spent_s();
    out_.is_interrupted = is_stopped();
    if (out_.is_interrupted) return std::move(out_);
    judge();
    files_.write(out_, evidence());
    return std::move(out_);
  }

 private:
  bool is_stopped() const { return measuring_.stop.stop_requested(); }
  double spent_s() const { return earlier_s_ + seconds_since(began_); }
  double kernels_s() const { return plan_.total_s - plan_.steps_s; }
  void say(const std::string& what) const {
    if (hooks_.progress) hooks_.progress(spent_s(), plan_.total_s, what);
  }

  // Of another build of the plugin it is another kernel.
  void take(const Measurement& row) {
    if (!row.plugin_hash.empty() && row.plugin_hash != measuring_.plugin_hash) return;
    Known& known = known_[row.kernel_case.key()];
    const bool has_time = has_latency(row.status) && row.duration_ns_median > 0;
    if (has_time) known.medians_ns.push_back(row.duration_ns_median);
    known.is_tried = true;
    if (!is_measuring_) earlier_s_ += row.wall_s;
  }

  struct Known {
    std::vector<double> medians_ns;
    bool is_tried = false;
  };
  const Known* known(const Candidate& c) const {
    const auto found = known_.find(c.kernel.key());
    return found == known_.end() ? nullptr : &found->second;
  }

  void measure(std::span<const Candidate> all, std::span<const std::size_t> chosen) {
    std::vector<KernelCase> cases;
    for (const std::size_t i : chosen) {
      const Known* earlier = known(all[i]);
      if (earlier == nullptr || !earlier->is_tried) cases.push_back(all[i].kernel);
    }
    if (cases.empty() || is_stopped()) return;
    is_measuring_ = true;
    (void)tune::measure_kernels(cases, measuring_);
  }

  void measure_held_out() {
    for (std::size_t begin = 0; begin < plan_.held_out && !is_stopped(); begin += batch) {
      std::vector<std::size_t> chosen;
      for (std::size_t i = begin; i < std::min(plan_.held_out, begin + batch); ++i) {
        chosen.push_back(i);
      }
      measure(plan_.candidates.held_out, chosen);
    }
  }

  void measure_fitted() {
    const std::span<const Candidate> all = plan_.candidates.fitted;
    Choice choice(all, *setting_.target.measured, setting_.target.cores, plan_.request.seed);
    std::vector<std::size_t> floors(plan_.candidates.floors);
    std::iota(floors.begin(), floors.end(), std::size_t{0});
    measure(all, floors);
    for (std::size_t i = 0; i < all.size(); ++i) tell(choice, i);
    while (!is_stopped()) {
      if (choice.learned() >= fitted_least && is_goal_reached()) {
        out_.end = "the held-out error is within the goal";
        return;
      }
      const auto chosen = choice.next(batch, kernels_s() - spent_s());
      if (chosen.empty()) {
        out_.end = choice.has_more() ? "the time is spent" : "every kernel there is was measured";
        return;
      }
      measure(all, chosen);
      for (const std::size_t i : chosen) tell(choice, i);
    }
  }

  void tell(Choice& choice, std::size_t i) const {
    const Known* measured = known(plan_.candidates.fitted[i]);
    if (measured == nullptr || !measured->is_tried) return;
    if (measured->medians_ns.empty()) {
      choice.give_up(i);
    } else {
      choice.learn(i, median(measured->medians_ns));
    }
  }

  void fit() {
    std::vector<LatencyPoint> points;
    families_.clear();
    out_.failed = 0;
    for (const Candidate& c : plan_.candidates.fitted) {
      const Known* measured = known(c);
      if (measured == nullptr) continue;
      if (measured->medians_ns.empty()) {
        ++out_.failed;
        continue;
      }
      ++families_[c.family];
      points.push_back({c.kernel.problem, median(measured->medians_ns)});
    }
    out_.fitted = points.size();
    QuarantinedTimes too_fast;
    std::set<Problem> floors;
    for (std::size_t i = 0; i < plan_.candidates.floors; ++i) {
      floors.insert(plan_.candidates.fitted[i].kernel.problem);
    }
    files_.put_tables(fitted(points, floors, plan_.device, too_fast));
    out_.too_fast = too_fast.kernels;
  }

  void judge() {
    fit();
    held_.clear();
    for (const Candidate& c : plan_.candidates.held_out) {
      const Known* measured = known(c);
      if (measured == nullptr || measured->medians_ns.empty()) continue;
      held_.push_back({.family = c.family,
                       .problem = c.kernel.problem,
                       .measured_ns = median(measured->medians_ns)});
    }
    predict(held_, files_.forecast(), plan_.device);
    out_.families = family_errors(held_, families_);
    out_.measured_range = measured_range();
  }

  bool is_goal_reached() {
    judge();
    const FamilyError& all = out_.families.back();
    return all.median && all.unreached == 0 && *all.median <= plan_.request.goal &&
           *all.p90 <= p90_of_goal * plan_.request.goal;
  }

  void execute_steps() {
    judge();
    tune::KernelMeasuring quietly = measuring_;
    quietly.sink = {};
    WholeSteps steps(setting_, files_.device(), quietly);
    const std::vector<Validation> earlier = store_.rows<Validation>(run_);
    for (std::size_t i = 0; i < plan_.candidates.steps.size() && !is_stopped(); ++i) {
      const HeldStep& step = plan_.candidates.steps[i];
      const auto done =
          std::ranges::find(earlier, step.configuration.key(), &Validation::deployment_key);
      const bool has_time = i < plan_.steps;
      if (done == earlier.end() && !has_time) {
        out_.unrun.push_back(step.configuration.key() + ": not within the minutes");
        continue;
      }
      say(step.configuration.key());
      const Validation run = done != earlier.end() ? *done : steps.executed(step);
      if (is_stopped()) return;
      if (done == earlier.end()) store_.append(run_, run);
      if (const auto error = steps.error_of(step, run)) {
        out_.steps.push_back(*error);
      } else {
        out_.unrun.push_back(step.configuration.key() + ": " + run.reason);
      }
    }
  }

  std::string measured_range() const {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;
    const auto note = [&](const char* what, std::int64_t value) {
      const auto [at, is_new] = ranges.try_emplace(what, value, value);
      if (!is_new)
        at->second = {std::min(at->second.first, value), std::max(at->second.second, value)};
    };
    for (const Candidate& c : plan_.candidates.fitted) {
      const Known* measured = known(c);
      if (measured == nullptr || measured->medians_ns.empty()) continue;
      if (const auto rows = c.kernel.problem.params.find("m"))
        note("products of {} to {} rows", *rows);
      if (const auto keys = c.kernel.problem.params.find("context"))
        note("contexts of {} to {}", *keys);
    }
    std::string out;
    for (const auto& [what, range] : ranges) {
      append_item(out, ", ", fmt::format(fmt::runtime(what), range.first, range.second));
    }
    return out;
  }

  std::string evidence() const {
    std::string out = "use,family,problem,median_ns,processes,forecast_ns,low_ns,high_ns\n";
    const auto line = [&](const char* use, const Candidate& c, const std::string& forecast) {
      const Known* measured = known(c);
      if (measured == nullptr || measured->medians_ns.empty()) return;
      out += fmt::format("{},{},{},{:.1f},{},{}\n", use, c.family, c.kernel.problem.text(),
                         median(measured->medians_ns), measured->medians_ns.size(), forecast);
    };
    for (const Candidate& c : plan_.candidates.fitted) line("fitted", c, ",,");
    for (const Candidate& c : plan_.candidates.held_out) {
      const auto judged = std::ranges::find(held_, c.kernel.problem, &HeldKernel::problem);
      const bool has_forecast = judged != held_.end() && judged->ns;
      line("held_out", c,
           has_forecast
               ? fmt::format("{:.1f},{:.1f},{:.1f}", *judged->ns, *judged->low_ns, *judged->high_ns)
               : std::string(",,"));
    }
    return out;
  }

  const Plan& plan_;
  const Setting& setting_;
  tune::KernelMeasuring measuring_;
  Store& store_;
  const Hooks& hooks_;
  DeviceFiles files_;
  std::int64_t run_ = 0;
  SteadyClock::time_point began_ = SteadyClock::now();
  double earlier_s_ = 0;
  bool is_measuring_ = false;  // rows before that are of earlier calls
  std::map<std::string, Known> known_;
  std::map<std::string, std::size_t> families_;  // fitted kernels of each
  std::vector<HeldKernel> held_;
  Outcome out_;
};

}  // namespace

Outcome onboard(const Plan& plan, const Setting& setting, tune::KernelMeasuring measuring,
                Store& store, RunInfo info, const Hooks& hooks) {
  return Onboarding(plan, setting, std::move(measuring), store, std::move(info), hooks).run();
}

}  // namespace halmark::onboard
