// Whether `auto` is at least what each of its members is alone, and whether failures that nobody
// could know of cost a search more than they cost uniform draws. Counts and hypervolumes, no times.
//   bench_portfolio [SEEDS [PROBLEM... [sampler:NAME...]]]
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "core/numeric/statistics.hpp"
#include "figures.hpp"
#include "problem.hpp"

namespace halmark::bench {
namespace {

constexpr std::size_t trials = 1000, trials_with_failures = 100, seeds_of_failures = 20;

struct Chosen {
  std::size_t seeds = 10;
  std::set<std::string> problems, samplers;
  bool has(const std::string& problem) const {
    return problems.empty() || problems.contains(problem);
  }
  bool asks(const std::string& sampler) const {
    return samplers.empty() || samplers.contains(sampler);
  }
};

// The median over the seeds of a figure of each search. Seeds side by side.
double median_of(const problems::Problem& problem, const std::string& sampler, std::size_t seeds,
                 std::size_t count, const std::function<double(const std::vector<Told>&)>& figure) {
  const Space space(problem.description);
  std::vector<double> out(seeds);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t s = next++; s < seeds; s = next++) {
      const auto one = make_sampler(
          sampler, space,
          {.seed = s, .trials = count, .objectives = problem.description.objectives.size()});
      out[s] = figure(problems::run(problem, space, *one, count));
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back(work);
  }
  for (std::thread& t : threads) t.join();
  return median(out);
}

void print_members(Figures& figures, const problems::Problem& problem, const Chosen& chosen) {
  if (!chosen.has(problem.name)) return;
  const auto volume = [&](const std::string& sampler) {
    const double out = median_of(problem, sampler, chosen.seeds, trials, [&](const auto& told) {
      return problems::quality(problem, told, trials);
    });
    figures.report("portfolio_" + problem.name + '_' + sampler, out, "hypervolume");
    return out;
  };
  double best = 0;
  for (const char* member : {"gp", "tpe", "nsga2", "pls"}) {
    if (chosen.asks(member)) best = std::max(best, volume(member));
  }
  if (!chosen.asks("auto")) return;
  figures.at_least("portfolio_" + problem.name + "_auto_by_best_member", volume("auto") / best,
                   "ratio", 1);
}

void print_failures(Figures& figures, const problems::Problem& problem, const Chosen& chosen) {
  if (!chosen.has(problem.name)) return;
  const auto failures = [&](const std::string& sampler) {
    return median_of(problem, sampler, seeds_of_failures, trials_with_failures,
                     [](const std::vector<Told>& told) {
                       return static_cast<double>(
                           std::ranges::count(told, TrialOutcome::failed, &Told::outcome));
                     });
  };
  const double uniform = failures("random");
  for (const std::string& sampler : sampler_names()) {
    if (sampler == "random" || !chosen.asks(sampler)) continue;
    if (sampler == "grid" && !Space(problem.description).is_countable()) continue;
    figures.at_most("portfolio_" + problem.name + "_failures_" + sampler, failures(sampler),
                    "trials", uniform);
  }
}

}  // namespace
}  // namespace halmark::bench

int main(int argc, char** argv) {
  using namespace halmark;
  bench::Chosen chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (i == 1) {
      chosen.seeds = std::stoul(word);
    } else if (word.starts_with("sampler:")) {
      chosen.samplers.insert(word.substr(8));
    } else {
      chosen.problems.insert(word);
    }
  }
  return bench::run([&](bench::Figures& figures) {
    for (const auto& problem : problems::hidden_failures_to_tune_on()) {
      bench::print_failures(figures, problem, chosen);
    }
    for (const auto& problem : problems::hidden_failures_to_confirm_on()) {
      bench::print_failures(figures, problem, chosen);
    }
    for (const auto& problem : {problems::dtlz7(), problems::dtlz5(), problems::wfg4(),
                                problems::zdt3(), problems::zdt2(), problems::mix6()}) {
      bench::print_members(figures, problem, chosen);
    }
  });
}
