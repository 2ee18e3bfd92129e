#include "tune/search/kernels/case_search.hpp"

#include "core/latency.hpp"
#include "core/lists.hpp"
#include "search/sampler.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t cases_at_once = 8;

}  // namespace

Space offered_space(std::vector<SearchDomain> domains, const std::vector<Point>& points) {
  auto names = mapped(domains, &SearchDomain::name);
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
  append_all(out_.cases, unknown);
  append_all(out_.rows, rows);
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
  const auto trials = as_size(sampling.trials);
  const auto sampler =
      make_sampler(sampling.sampler, space,
                   SamplerOptions{.seed = sampling.seed, .trials = trials, .objectives = 1});
  const auto evaluate = [&](const std::vector<Point>& points) {
    std::vector<KernelCase> cases = mapped(points, [&](const Point& p) { return case_of(p); });
    require(cases);
    return mapped(indices(points), [&](const auto i) { return told_of(points[i], cases[i]); });
  };
  return run_search(*sampler, {.trials = trials, .batch = cases_at_once},
                    {.evaluate = evaluate, .should_stop = should_stop});
}

}  // namespace halmark::tune
