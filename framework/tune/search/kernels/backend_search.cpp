#include "tune/search/kernels/backend_search.hpp"

#include <algorithm>
#include <limits>

#include "core/numeric/clock.hpp"
#include "search/sampler.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::tune {
namespace {

std::vector<SearchDomain> domains_of(const BackendQuestion& question) {
  SearchDomain backends{.name = "backend"}, variants{.name = "variant"};
  const auto add = [](SearchDomain& domain, const std::string& value) {
    const ParamValue next = value;
    if (std::ranges::find(domain.values, next) == domain.values.end()) {
      domain.values.push_back(next);
    }
  };
  for (const BackendChoice& choice : question.choices) {
    add(backends, choice.backend);
    add(variants, choice.variant);
  }
  std::vector<SearchDomain> out = {std::move(backends)};
  if (variants.values.size() > 1) out.push_back(std::move(variants));
  return out;
}

std::vector<Point> points_of(const BackendQuestion& question) {
  const std::vector<SearchDomain> domains = domains_of(question);
  std::vector<Point> out;
  for (const BackendChoice& choice : question.choices) {
    Point& point = out.emplace_back();
    point.push_back(*domains[0].coordinate(choice.backend));
    if (domains.size() > 1) point.push_back(*domains[1].coordinate(choice.variant));
  }
  return out;
}

}  // namespace

BackendProblem::BackendProblem(const BackendQuestion& question)
    : question_(question),
      points_(points_of(question)),
      space_(offered_space(domains_of(question), points_)) {}

const BackendChoice& BackendProblem::at(const Point& point) const {
  const auto at = std::ranges::find(points_, point);
  return question_.choices[static_cast<std::size_t>(at - points_.begin())];
}

std::vector<BackendQuestion> backend_questions(const KernelSweep& sweep) {
  std::vector<BackendQuestion> out;
  const std::vector<std::string> samplers = sampler_names();
  if (std::ranges::find(samplers, sweep.sampler) == samplers.end()) {
    throw refused("there is no sampler '" + sweep.sampler + "'", sweep.sampler_where,
                  suggestion(sweep.sampler, samplers));
  }
  for (const AskedKernels& asked : sweep.kernels) {
    std::vector<KernelCase> cases;
    try {
      cases = kernel_cases({.op = asked.op,
                            .params = asked.params,
                            .kernel = {},
                            .dtypes = asked.dtypes,
                            .mode = std::string(cache_mode_name(sweep.mode)),
                            .sets = sweep.sets});
    } catch (const Error& e) {
      throw Error(e.exit_code(), e.what(), asked.where, e.remedy());
    }
    for (const KernelCase& k : cases) {
      if (std::ranges::find(out, k.problem, &BackendQuestion::problem) != out.end()) continue;
      if (k.is_collective()) {
        throw refused("op " + asked.op + " is a collective, and ranks of two backends never meet",
                      asked.where, "leave it out");
      }
      BackendQuestion& question = out.emplace_back(BackendQuestion{k.problem, asked.where, {}, {}});
      for (const ShardPlace& place : sweep.backends) {
        KernelCase own = k;
        own.backend = place.backend;
        own.device = place.device;
        own.parts = place.parts;
        question.choices.push_back({place.parts > 1
                                        ? place.device_text() + '/' + std::to_string(place.parts)
                                        : place.text(),
                                    by_default, std::move(own)});
      }
    }
  }
  return out;
}

void take(const KernelSweep& sweep, KernelMeasuring& out) {
  MeasureSettings settings = sweep.measure;
  settings.take(out.limits);
  out.rounds = settings.rounds;
  out.seconds = settings.sample_budget_s;
  out.limits = settings.limits;
  out.seed = sweep.seed;
}

ExitCode exit_code_of(std::span<const Measurement> rows) {
  ExitCode out =
      std::ranges::any_of(rows, &Measurement::was_sampled) ? ExitCode::ok : ExitCode::unfit;
  for (const Measurement& row : rows) {
    if (row.status == Status::wrong_result || row.status == Status::nan_result) {
      return ExitCode::incorrect;
    }
    if (counts_as_failure(row.status)) out = ExitCode::partial;
  }
  return out;
}

BackendRows search_backends(std::span<const BackendQuestion> questions, const KernelSweep& sweep,
                            const KernelMeasuring& measuring) {
  CaseSearch search(measuring);
  const CaseSampling sampling{sweep.sampler, sweep.trials, sweep.seed};
  const auto begin = SteadyClock::now();
  // A grid measures everything, whatever the budget: the search then only looks at it.
  const bool is_grid = sweep.sampler == "grid" && sweep.trials == 0;
  if (is_grid) {
    std::vector<KernelCase> all;
    for (const BackendQuestion& question : questions) {
      for (const BackendChoice& choice : question.choices) all.push_back(choice.kernel_case);
    }
    search.require(all);
  }
  BackendRows out;
  double done = 0;
  for (const BackendQuestion& question : questions) {
    const double share = ++done / static_cast<double>(questions.size());
    const double until_s = is_grid ? std::numeric_limits<double>::max() : share * sweep.budget_s;
    const BackendProblem problem(question);
    bool has_some = false;  // the first batch is measured whatever the time says
    const SearchResult result = search.run(
        problem.space(),
        [&](const Point& point) {
          has_some = true;
          return problem.at(point).kernel_case;
        },
        sampling,
        [&] {
          return (has_some && seconds_since(begin) >= until_s) || measuring.stop.stop_requested();
        });
    if (result.end != SearchEnd::stopped) continue;
    out.notes.push_back(question.problem.text() + ": " + std::to_string(result.told.size()) +
                        " of " + std::to_string(problem.space().size()) +
                        " ways were tried within the budget");
  }
  out.rows = search.take().rows;
  return out;
}

}  // namespace halmark::tune
