#include "tune/search/backend_search.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "core/latency.hpp"
#include "core/numeric/clock.hpp"
#include "search/loop.hpp"
#include "search/sampler.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t batch_choices = 8;

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

Space space_of(const BackendQuestion& question, const std::vector<Point>& points) {
  std::vector<SearchDomain> domains = domains_of(question);
  std::vector<std::string> names;
  for (const SearchDomain& d : domains) names.push_back(d.name);
  const std::set<Point> offered(points.begin(), points.end());
  Constraint is_offered{"not_offered", names,
                        [offered](const Point& point) { return offered.contains(point); }};
  return {std::move(domains), {std::move(is_offered)}};
}

class BackendSearch {
 public:
  BackendSearch(const KernelSweep& sweep, const KernelMeasuring& measuring)
      : sweep_(sweep), measuring_(measuring), begin_(SteadyClock::now()) {}

  void require(const std::vector<KernelCase>& cases) {
    std::vector<KernelCase> unknown;
    for (const KernelCase& c : cases) {
      if (known_.insert(c.key()).second) unknown.push_back(c);
    }
    if (unknown.empty()) return;
    const std::vector<Measurement> rows = measure_kernels(unknown, measuring_);
    out_.rows.insert(out_.rows.end(), rows.begin(), rows.end());
  }

  // `until_s`: since the begin. The first batch is measured whatever the time says.
  void run(const BackendQuestion& question, double until_s) {
    const BackendProblem problem(question);
    const auto trials = static_cast<std::size_t>(sweep_.trials);
    const auto sampler =
        make_sampler(sweep_.sampler, problem.space(),
                     SamplerOptions{.seed = sweep_.seed, .trials = trials, .objectives = 1});
    bool has_some = false;
    const SearchResult result =
        run_search(*sampler, {.trials = trials, .batch = batch_choices},
                   {.evaluate =
                        [&](const std::vector<Point>& points) {
                          has_some = true;
                          return told(problem, points);
                        },
                    .should_stop =
                        [&] {
                          return (has_some && seconds_since(begin_) >= until_s) ||
                                 (measuring_.is_interrupted && measuring_.is_interrupted());
                        }});
    if (result.end != SearchEnd::stopped) return;
    out_.notes.push_back(question.problem.text() + ": " + std::to_string(result.told.size()) +
                         " of " + std::to_string(problem.space().size()) +
                         " ways were tried within the budget");
  }

  BackendRows take() { return std::move(out_); }

 private:
  std::vector<Told> told(const BackendProblem& problem, const std::vector<Point>& points) {
    std::vector<KernelCase> cases;
    for (const Point& p : points) cases.push_back(problem.at(p).kernel_case);
    require(cases);
    std::vector<Told> out;
    for (const Point& p : points) out.push_back(told_of(p, problem.at(p).kernel_case));
    return out;
  }

  Told told_of(const Point& point, const KernelCase& asked) const {
    std::vector<Measurement> own;
    for (const Measurement& m : out_.rows) {
      if (m.kernel_case == asked) own.push_back(m);
    }
    if (const auto latency = fold_usable_rounds(own, 0)) {
      return {.point = point, .objectives = {latency->ns}};
    }
    return {.point = point,
            .outcome = TrialOutcome::failed,
            .reason = own.empty() ? "never measured" : own.back().reason};
  }

  const KernelSweep& sweep_;
  const KernelMeasuring& measuring_;
  SteadyClock::time_point begin_;
  std::set<std::string> known_;
  BackendRows out_;
};

}  // namespace

BackendProblem::BackendProblem(const BackendQuestion& question)
    : question_(question), points_(points_of(question)), space_(space_of(question, points_)) {}

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
  for (const NightlyKernels& asked : sweep.kernels) {
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

KernelMeasuring measuring_of(const KernelSweep& sweep, const MeasureLimits& of_machine) {
  MeasureSettings settings = sweep.measure;
  settings.take(of_machine);
  KernelMeasuring out;
  out.rounds = settings.rounds;
  out.seconds = settings.sample_budget_s;
  out.limits = settings.limits;
  out.seed = sweep.seed;
  return out;
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
  BackendSearch out(sweep, measuring);
  // A grid measures everything, whatever the budget: the search then only looks at it.
  const bool is_grid = sweep.sampler == "grid" && sweep.trials == 0;
  if (is_grid) {
    std::vector<KernelCase> all;
    for (const BackendQuestion& question : questions) {
      for (const BackendChoice& choice : question.choices) all.push_back(choice.kernel_case);
    }
    out.require(all);
  }
  double done = 0;
  for (const BackendQuestion& question : questions) {
    const double share = ++done / static_cast<double>(questions.size());
    out.run(question, is_grid ? std::numeric_limits<double>::max() : share * sweep.budget_s);
  }
  return out.take();
}

}  // namespace halmark::tune
