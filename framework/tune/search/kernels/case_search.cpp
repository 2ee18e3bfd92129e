#include "tune/search/kernels/case_search.hpp"

#include "core/latency.hpp"
#include "search/sampler.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t cases_at_once = 8;

}  // namespace

Space offered_space(std::vector<SearchDomain> domains, const std::vector<Point>& points) {
  std::vector<std::string> names;
  for (const SearchDomain& d : domains) names.push_back(d.name);
  const std::set<Point> offered(points.begin(), points.end());
  Constraint is_offered{"not_offered", names,
                        [offered](const Point& point) { return offered.contains(point); }};
  return {std::move(domains), {std::move(is_offered)}};
}

void CaseSearch::require(std::span<const KernelCase> cases) {
  std::vector<KernelCase> unknown;
  for (const KernelCase& c : cases) {
    if (known_.insert(c.key()).second) unknown.push_back(c);
  }
  if (unknown.empty()) return;
  const std::vector<Measurement> rows = measure_kernels(unknown, measuring_);
  out_.cases.insert(out_.cases.end(), unknown.begin(), unknown.end());
  out_.rows.insert(out_.rows.end(), rows.begin(), rows.end());
}

Told CaseSearch::told_of(const Point& point, const KernelCase& asked) const {
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

SearchResult CaseSearch::run(const Space& space,
                             const std::function<KernelCase(const Point&)>& case_of,
                             const CaseSampling& sampling,
                             const std::function<bool()>& should_stop) {
  const auto trials = static_cast<std::size_t>(sampling.trials);
  const auto sampler =
      make_sampler(sampling.sampler, space,
                   SamplerOptions{.seed = sampling.seed, .trials = trials, .objectives = 1});
  const auto evaluate = [&](const std::vector<Point>& points) {
    std::vector<KernelCase> cases;
    for (const Point& p : points) cases.push_back(case_of(p));
    require(cases);
    std::vector<Told> told;
    for (std::size_t i = 0; i < points.size(); ++i) told.push_back(told_of(points[i], cases[i]));
    return told;
  };
  return run_search(*sampler, {.trials = trials, .batch = cases_at_once},
                    {.evaluate = evaluate, .should_stop = should_stop});
}

}  // namespace halmark::tune
