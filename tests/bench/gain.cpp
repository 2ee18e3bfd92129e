// How much measuring decides a front: a sweep that was measured whole, replayed by who chooses what
// is measured next. Loss: of hypervolume, by what all rounds say of the configurations that are
// reported, from a reference a tenth of the front's extent beyond it; share: of the seconds of all
// rounds of all kernels. `busy`: the recorded processes, of a machine that compiled on both cores;
// `quiet`: drawn about their medians, with a deviation of 3 %. `recorded` and `drawn`: the same of
// a machine with nothing else to do. What a run with a regret states is held against the loss from
// the reference that it states it from.
//   bench_gain [SEEDS [busy|quiet|recorded|drawn]]       twice as many seeds are asked for a regret
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/numeric/statistics.hpp"
#include "figures.hpp"
#include "sweep_replay.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/search/gain/gain_search.hpp"
#include "tune/search/loop.hpp"
#include "tune/search/priced_order.hpp"

namespace halmark::bench {
namespace {

constexpr double within = 0.01;

struct Replayed {
  SweepReplay::Way way;
  double share_within = 0, share_all = 0;
  double stated = 0;    // loss, of the worse problem
  double deciding = 0;  // seconds of deciding, as a share of those of measuring
};

Sweep sweep_of(double budget_s) {
  Sweep out = read_sweep(test::in_source("/configs/sweeps/quickstart.toml"));
  out.budget_s = budget_s;
  out.sampler = "auto";
  return out;
}

Replayed ended(SweepReplay& replay) {
  Replayed out{.way = replay.way(within)};
  out.share_within = out.way.within_s / replay.exhaustive_s();
  out.share_all = out.way.all_s / replay.exhaustive_s();
  return out;
}

// By the best bounds, eight configurations at a time, all rounds of each.
Replayed by_bounds(const RecordedKernels& recorded, std::uint64_t seed, double budget_s,
                   double scatter) {
  SweepReplay replay(recorded, sweep_of(budget_s), seed, scatter);
  const tune::TunePlan& plan = replay.plan();
  tune::MeasuredEvaluator& evaluator = replay.evaluator();
  double share = 0;
  for (const tune::TuneProblem& problem : plan.problems()) {
    share +=
        static_cast<double>(problem.space().size()) / static_cast<double>(plan.configurations());
    const tune::FirstPeaks peaks(*evaluator.context().store, evaluator.run(), plan.target());
    const auto sampler = sampler_for(plan, problem, priced_order(problem, plan.composers(), peaks));
    bool is_first = true;
    tune::run(problem, *sampler, evaluator,
              {.budget = {.trials = 0, .batch = tune::measured_batch},
               .should_stop =
                   [&] {
                     return !std::exchange(is_first, false) &&
                            evaluator.measured_s() >= share * budget_s;
                   }},
              [](const Point&, const Evaluation&, const tune::TrialTime&) {});
  }
  return ended(replay);
}

Replayed by_gain(const RecordedKernels& recorded, std::uint64_t seed, double budget_s,
                 std::optional<double> regret, double scatter, bool prints) {
  Sweep sweep = sweep_of(budget_s);
  sweep.regret = regret;
  SweepReplay replay(recorded, std::move(sweep), seed, scatter);
  const auto began = std::chrono::steady_clock::now();
  tune::GainSearch search(replay.evaluator());
  search.measure();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  Replayed out = ended(replay);
  out.stated = std::ranges::max(search.losses());
  out.deciding = took.count() / out.way.all_s;
  if (prints) {
    for (const std::string& line : search.batches()) note(line);
    for (const std::string& line : search.notes()) note(line);
  }
  return out;
}

void print(Figures& figures, const std::string& name, const std::vector<Replayed>& all,
           std::optional<double> share_max) {
  std::vector<double> within_share, share, loss;
  double fastest = 0;
  for (const Replayed& r : all) {
    within_share.push_back(r.share_within);
    share.push_back(r.share_all);
    loss.push_back(r.way.loss);
    fastest += r.way.has_fastest ? 1 : 0;
  }
  const auto percent = [](double x) { return 100 * x; };
  const std::string within_name = "gain_" + name + "_within_1_percent";
  if (share_max) {
    figures.at_most(within_name, percent(median(within_share)), "% of exhaustive time",
                    percent(*share_max));
    figures.at_least("gain_" + name + "_fastest_measured", fastest, "seeds",
                     static_cast<double>(all.size()));
  } else {
    figures.report(within_name, percent(median(within_share)), "% of exhaustive time");
    figures.report("gain_" + name + "_fastest_measured", fastest, "seeds");
  }
  figures.report(within_name + "_worst", percent(std::ranges::max(within_share)),
                 "% of exhaustive time");
  figures.report("gain_" + name + "_measured", percent(median(share)), "% of exhaustive time");
  figures.report("gain_" + name + "_loss", percent(median(loss)), "%");
  figures.report("gain_" + name + "_loss_worst", percent(std::ranges::max(loss)), "%");
}

// What a run says that is asked for a regret, and what is true.
void print_regret(Figures& figures, const std::string& machine, const std::vector<Replayed>& all,
                  bool has_targets) {
  std::vector<double> share, stated, ratio, loss, deciding;
  double held = 0;
  for (const Replayed& r : all) {
    share.push_back(100 * r.share_all);
    stated.push_back(100 * r.stated);
    loss.push_back(100 * r.way.loss_as_stated);
    if (r.way.loss_as_stated > 0) ratio.push_back(r.stated / r.way.loss_as_stated);
    deciding.push_back(100 * r.deciding);
    held += r.stated <= within && r.way.loss_as_stated <= within ? 1 : 0;
  }
  const std::string name = "gain_" + machine + "_regret";
  const auto target = [&](double limit) { return has_targets ? limit : HUGE_VAL; };
  figures.at_most(name + "_measured", median(share), "% of exhaustive time", target(20));
  figures.report(name + "_measured_worst", std::ranges::max(share), "% of exhaustive time");
  figures.report(name + "_stated", mean(stated), "% in the mean");
  figures.at_least(name + "_stated_and_held", held, "seeds",
                   has_targets ? std::floor(0.9 * static_cast<double>(all.size())) : 0);
  // Of those in which something is lost.
  if (!ratio.empty()) figures.at_most(name + "_stated_over_true", median(ratio), "", target(3));
  figures.report(name + "_true", mean(loss), "% in the mean");
  figures.at_most("gain_" + machine + "_deciding", median(deciding), "% of measuring", 5);
}

void measure(Figures& figures, const std::string& machine, const RecordedKernels& recorded,
             double scatter, std::size_t seeds) {
  // What 30 % of scatter leaves open is no matter of choosing.
  const bool has_targets = machine != "busy";
  const double whole_s = SweepReplay(recorded, sweep_of(90), 0, scatter).exhaustive_s();
  figures.report("gain_" + machine + "_exhaustive", whole_s, "s");
  for (const double share : {0.2, 0.4}) {
    std::vector<Replayed> bounds, gain;
    const std::string at = fmt::format("_{:.0f}_percent", 100 * share);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      bounds.push_back(by_bounds(recorded, seed, share * whole_s, scatter));
      gain.push_back(by_gain(recorded, seed, share * whole_s, {}, scatter, false));
    }
    print(figures, machine + "_bounds" + at, bounds, {});
    print(figures, machine + at, gain, has_targets ? std::optional(share) : std::nullopt);
  }
  std::vector<Replayed> regret;
  for (std::uint64_t seed = 1; seed <= 2 * seeds; ++seed) {
    regret.push_back(by_gain(recorded, seed, whole_s, within, scatter, seed == 1));
    const Replayed& r = regret.back();
    note(
        fmt::format("{} seed {}: {:.1f} % of the time, stated {:.2f} %, true {:.2f} % (strictly "
                    "{:.2f} %), within at {:.1f} %",
                    machine, seed, 100 * r.share_all, 100 * r.stated, 100 * r.way.loss_as_stated,
                    100 * r.way.loss, 100 * r.share_within));
  }
  print_regret(figures, machine, regret, has_targets);
}

}  // namespace
}  // namespace halmark::bench

int main(int argc, char** argv) {
  const std::size_t seeds = argc > 1 ? std::stoul(argv[1]) : 10;
  const std::string which = argc > 2 ? argv[2] : "";
  return halmark::bench::run([&](halmark::bench::Figures& figures) {
    const halmark::bench::RecordedKernels busy("quickstart-2-cores");
    const auto measure = [&](const std::string& name, const auto& recorded, double scatter) {
      if (which.empty() || which == name) {
        halmark::bench::measure(figures, name, recorded, scatter, seeds);
      }
    };
    measure("busy", busy, 0);
    measure("quiet", busy, 0.03);
    const halmark::bench::RecordedKernels second("quickstart-quiet-2-cores");
    measure("recorded", second, 0);
    measure("drawn", second, 0.03);
  });
}
