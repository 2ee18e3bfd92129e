// Quality and cost of the search, beside the best of the peers (Optuna 3.1 and 4.9, pagmo2, uniform
// draws; at their defaults, means over their seeds) on the same problems and budgets.
//   bench_search [SAMPLER [SEEDS [PROBLEM...]]]
// Defaults of `auto` are still to be chosen on one half of these problems and confirmed on the
// other.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <thread>

#include "certifiable.hpp"
#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "figures.hpp"
#include "problem.hpp"
#include "search/certify/certificate.hpp"

namespace halmark::bench {
namespace {

constexpr std::size_t budgets[] = {100, 300, 1000};

// What the best peer reaches at each budget; `recovery` is its share of the exact front at the
// last.
struct Row {
  const char* problem;
  const char* unit;
  double peer[3];
  double recovery;  // 0 = not known
  bool is_ratio_to_optimum;
};

constexpr Row rows[] = {
    {"zdt1", "hypervolume", {9.2916, 9.6263, 10.7131}, 0, false},
    {"dtlz2", "hypervolume", {14.1395, 14.7676, 14.8112}, 0, false},
    {"mix6",
     "share",
     {0.90, 0.99, 0.999},
     0.259,
     false},  // a target above the peers' .8473 .9822 .9983
    {"convres3", "share", {0.8707, 0.9338, 0.9864}, 0.510, false},
    {"gemmres3", "share", {0.9712, 0.9843, 0.9934}, 0.140, false},
    {"dedispres3", "share", {0.8449, 0.9312, 0.9809}, 0.611, false},
    {"conv1", "best/optimum", {1.4090, 1.1343, 1.0277}, 0, true},
    {"gemm1", "best/optimum", {1.1727, 1.0665, 1.0054}, 0, true},
    {"dedisp1", "best/optimum", {1.0040, 1.0026, 1.0013}, 0, true},
};

std::optional<problems::Problem> problem_named(const std::string& name) {
  if (name == "zdt1") return problems::zdt1();
  if (name == "dtlz2") return problems::dtlz2();
  if (name == "mix6") return problems::mix6();
  return problems::replay(name);
}

// Seeds side by side: each search is single-threaded and shares nothing.
std::vector<std::vector<Told>> searches(const problems::Problem& problem, const Space& space,
                                        const std::string& sampler, std::size_t seeds) {
  std::vector<std::vector<Told>> out(seeds);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t s = next++; s < seeds; s = next++) {
      const auto one = make_sampler(
          sampler, space, {.seed = s, .objectives = problem.description.objectives.size()});
      out[s] = problems::run(problem, space, *one, budgets[2]);
    }
  };
  std::vector<std::thread> threads;
  const std::size_t count = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t t = 0; t < std::min(count, seeds); ++t) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  return out;
}

// Trials that name a point which was named before, or one outside of the space.
std::size_t wasted(const Space& space, const std::vector<Told>& told) {
  std::set<Point> seen;
  std::size_t out = 0;
  for (const Told& t : told)
    out += !space.contains(t.point) || !seen.insert(t.point).second ? 1 : 0;
  return out;
}

void print_row(Figures& figures, const Row& row, const std::string& sampler, std::size_t seeds) {
  const auto problem = problem_named(row.problem);
  const std::string name = std::string("search_") + row.problem + '_';
  if (!problem) {
    note(name + "*: recorded files not found in " + problems::data_folder());
    return;
  }
  const Space space(problem->description);
  const auto begin = std::chrono::steady_clock::now();
  const auto runs = searches(*problem, space, sampler, seeds);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (std::size_t b = 0; b < 3; ++b) {
    double mean = 0;
    for (const auto& told : runs) {
      mean += row.is_ratio_to_optimum ? problems::best_over_optimum(*problem, told, budgets[b])
                                      : problems::quality(*problem, told, budgets[b]);
    }
    mean /= static_cast<double>(runs.size());
    const std::string figure = name + std::to_string(budgets[b]);
    if (row.is_ratio_to_optimum) {
      figures.at_most(figure, mean, row.unit, row.peer[b]);
    } else {
      figures.at_least(figure, mean, row.unit, row.peer[b]);
    }
  }
  if (row.recovery > 0) {
    double mean = 0;
    for (const auto& told : runs) mean += problems::front_share(*problem, told, budgets[2]);
    figures.at_least(name + "front_1000", mean / static_cast<double>(runs.size()), "share",
                     row.recovery);
  }
  std::size_t waste = 0;
  for (const auto& told : runs) waste += wasted(space, told);
  figures.at_most(name + "wasted", static_cast<double>(waste), "trials", 0);
  note(name + "*: " + std::to_string(took.count() / static_cast<double>(seeds)) +
       " s per search of 1000 trials, wall time over seeds");
}

// Mean of ask + tell over trials `from` to `to`, without the evaluation.
double seconds_per_trial(const char* sampler, std::size_t from, std::size_t to) {
  const problems::Problem problem = problems::mix6();
  const Space space(problem.description);
  std::vector<double> medians;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto one = make_sampler(sampler, space, {.seed = seed, .objectives = 3});
    std::chrono::duration<double> spent{};
    for (std::size_t i = 0; i < to; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const std::vector<Point> points = one->ask(1);
      const auto asked = std::chrono::steady_clock::now();
      const Told told = problem.evaluate(space, points.front());
      const auto evaluated = std::chrono::steady_clock::now();
      one->tell({told});
      if (i >= from) spent += (asked - start) + (std::chrono::steady_clock::now() - evaluated);
    }
    medians.push_back(spent.count() / static_cast<double>(to - from));
  }
  return median(medians);
}

// Mean of ask + tell behind 300 trials that ended, while `running` others have not.
double seconds_beside(const std::string& sampler, std::size_t running) {
  const problems::Problem problem = problems::mix6();
  const Space space(problem.description);
  const auto one = make_sampler(sampler, space, {.seed = 1, .objectives = 3});
  std::vector<Told> ended, pending;
  for (std::size_t i = 0; i < 300 + running; ++i) {
    const Point point = space.point(i * 29 % space.size());
    if (i < 300) {
      ended.push_back(problem.evaluate(space, point));
    } else {
      pending.push_back({.point = point, .outcome = TrialOutcome::pending});
    }
  }
  one->tell(ended);
  one->tell(pending);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < 150; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Point> points = one->ask(1);
    const auto asked = std::chrono::steady_clock::now();
    const Told told = problem.evaluate(space, points.front());
    const auto evaluated = std::chrono::steady_clock::now();
    one->tell({told});
    // The first ones catch up with what was told.
    if (i < 50) continue;
    seconds.push_back(std::chrono::duration<double>((asked - begin) +
                                                    (std::chrono::steady_clock::now() - evaluated))
                          .count());
  }
  return mean(seconds);
}

void print_running(Figures& figures) {
  for (const char* sampler : {"random", "nsga2", "tpe", "gp", "auto"}) {
    std::vector<double> ratios;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const double alone = seconds_beside(sampler, 0);
      ratios.push_back(seconds_beside(sampler, 10'000) / alone);
    }
    figures.at_most(std::string("search_ask_beside_10000_running_") + sampler, median(ratios),
                    "ratio", 1.2);
  }
}

double front_and_volume_seconds(std::size_t count) {
  // On the sphere, so that every point is on the front: the longest staircases.
  std::vector<Objectives> points;
  for (std::size_t i = 0; i < count; ++i) {
    Objectives p(3);
    double squares = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      p[m] = 0.01 + uniform_01(hash_u64(m, i));
      squares += p[m] * p[m];
    }
    for (double& y : p) y = 1 - y / std::sqrt(squares);
    points.push_back(std::move(p));
  }
  std::vector<double> seconds;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t size = non_dominated(points).size();
    const double volume = hypervolume(points, Objectives{1.1, 1.1, 1.1});
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (size != count || !(volume > 0)) note("the front of a sphere is not whole");
  }
  return median(seconds);
}

// How many measurements prove the front of mix6, and that it is the front.
void print_certify(Figures& figures) {
  const auto certified = [](problems::Mix6Kernels kernels, double safety, double eps) {
    auto out = std::make_unique<Certifier>(problems::certifiable_mix6(kernels, safety),
                                           CertifyOptions{.eps = eps});
    problems::certify_all(*out, problems::mix6_times(out->problem(), kernels));
    return out;
  };
  const auto evaluations = [&](double safety, double eps) {
    return static_cast<double>(
        certified(problems::Mix6Kernels::per_configuration, safety, eps)->kernels_measured());
  };
  const auto begin = std::chrono::steady_clock::now();
  figures.at_most("search_certify_mix6_evaluations", evaluations(1, 0), "trials", 28'640);
  note("search_certify_mix6_evaluations: " +
       std::to_string(
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()) +
       " s");
  figures.at_most("search_certify_mix6_evaluations_safety_1.50", evaluations(1.5, 0), "trials",
                  46'736);
  figures.at_most("search_certify_mix6_evaluations_gap_1", evaluations(1, 0.01), "trials", 28'464);
  figures.at_most("search_certify_mix6_evaluations_gap_5", evaluations(1, 0.05), "trials", 14'540);
  const auto shared = certified(problems::Mix6Kernels::shared, 1.05, 0);
  figures.at_most("search_certify_mix6_kernels", static_cast<double>(shared->kernels_measured()),
                  "kernels", 96);
  const Certificate certificate = make_certificate(*shared);
  const bool is_proved = certificate.state == CertificateState::certified;
  figures.at_least("search_certify_mix6_proved",
                   is_proved ? static_cast<double>(certificate.front.size()) : 0, "points", 222);
}

}  // namespace
}  // namespace halmark::bench

int main(int argc, char** argv) {
  using namespace halmark;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string sampler = arguments.empty() ? "auto" : arguments[0];
  const std::size_t seeds = arguments.size() < 2 ? 10 : std::stoul(arguments[1]);
  const std::set<std::string> only(arguments.begin() + std::min<std::ptrdiff_t>(2, argc - 1),
                                   arguments.end());
  return bench::run([&](bench::Figures& figures) {
    if (only.empty()) {
      figures.at_most("search_nsga2_ask_tell", bench::seconds_per_trial("nsga2", 0, 1000) * 1e6,
                      "us", 20);
      figures.at_most("search_tpe_ask_tell_at_1000",
                      bench::seconds_per_trial("tpe", 950, 1050) * 1e3, "ms", 1);
      figures.at_most("search_front_and_hypervolume_10000x3",
                      bench::front_and_volume_seconds(10'000) * 1e3, "ms", 50);
    }
    if (only.empty() || only.contains("running")) bench::print_running(figures);
    if (only.empty() || only.contains("certify")) bench::print_certify(figures);
    for (const bench::Row& row : bench::rows) {
      if (only.empty() || only.contains(row.problem)) {
        bench::print_row(figures, row, sampler, seeds);
      }
    }
  });
}
