// A plugin lists its variants; what the list has in common becomes parameters, so that a sampler
// can learn what each does on its own. Where the list is no full product, a constraint holds the
// space to it.
#include "tune/search/variants.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/latency.hpp"
#include "search/loop.hpp"
#include "search/sampler.hpp"

namespace halmark::tune {

namespace {

constexpr std::size_t batch_variants = 8;
constexpr const char* by_default = "default";

using Values = std::map<std::string, std::string>;  // of a config, as text

Values values_of(const Config& config) {
  Values out;
  for (const auto& item : config.params.items()) {
    out[std::string(item.name)] = std::to_string(item.value);
  }
  for (const auto& [name, label] : config.labels) out[name] = label;
  return out;
}

// "gemm_onednn.threads", in the order of kernels and then of names.
std::map<std::string, std::vector<std::string>> parameters_of(const VariantSet& set,
                                                              const std::string& kernel) {
  std::map<std::string, std::vector<std::string>> out;
  for (const Variant& v : set.variants) {
    if (v.kernel != kernel) continue;
    for (const auto& [name, value] : values_of(v.config)) {
      std::vector<std::string>& known = out.try_emplace(name, 1, by_default).first->second;
      if (std::ranges::find(known, value) == known.end()) known.push_back(value);
    }
  }
  return out;
}

std::vector<SearchDomain> domains_of(const VariantSet& set) {
  SearchDomain kernels{.name = "kernel"};
  for (const Variant& v : set.variants) {
    const ParamValue name = v.kernel;
    if (std::ranges::find(kernels.values, name) == kernels.values.end()) {
      kernels.values.push_back(name);
    }
  }
  std::vector<SearchDomain> out = {kernels};
  for (const ParamValue& kernel : kernels.values) {
    const std::string& name = std::get<std::string>(kernel);
    for (const auto& [parameter, values] : parameters_of(set, name)) {
      SearchDomain domain{.name = name + '.' + parameter, .when = "kernel == \"" + name + '"'};
      for (const std::string& v : values) domain.values.emplace_back(v);
      out.push_back(std::move(domain));
    }
  }
  return out;
}

Point point_of(const Variant& variant, std::span<const SearchDomain> domains) {
  const Values values = values_of(variant.config);
  Point out = {*domains.front().coordinate(variant.kernel)};
  for (const SearchDomain& d : domains.subspan(1)) {
    if (!d.name.starts_with(variant.kernel + '.')) {
      out.push_back(absent);
      continue;
    }
    const auto given = values.find(d.name.substr(variant.kernel.size() + 1));
    out.push_back(*d.coordinate(given == values.end() ? std::string(by_default) : given->second));
  }
  return out;
}

std::vector<Point> points_of(const VariantSet& set) {
  const std::vector<SearchDomain> domains = domains_of(set);
  std::vector<Point> out;
  for (const Variant& v : set.variants) out.push_back(point_of(v, domains));
  return out;
}

Space space_of(const VariantSet& set, const std::vector<Point>& points) {
  std::vector<SearchDomain> domains = domains_of(set);
  std::vector<std::string> names;
  for (const SearchDomain& d : domains) names.push_back(d.name);
  const std::set<Point> listed(points.begin(), points.end());
  Constraint is_listed{"not_offered", names,
                       [listed](const Point& point) { return listed.contains(point); }};
  return {std::move(domains), {std::move(is_listed)}};
}

Told told_of(const Point& point, const KernelCase& question, const Variant& variant,
             std::span<const Measurement> rows) {
  const KernelCase asked = variant_case(question, variant);
  std::vector<Measurement> own;
  for (const Measurement& m : rows) {
    if (m.kernel_case == asked) own.push_back(m);
  }
  if (const auto latency = fold_usable_rounds(own, 0)) {
    return {.point = point, .objectives = {latency->ns}};
  }
  return {.point = point,
          .outcome = TrialOutcome::failed,
          .reason = own.empty() ? "never measured" : own.back().reason};
}

class Search {
 public:
  Search(const KernelMeasuring& measuring, const VariantSearch& search)
      : measuring_(measuring), search_(search) {}

  // Cases that are known are not measured again.
  void require(const std::vector<KernelCase>& cases) {
    std::vector<KernelCase> unknown;
    for (const KernelCase& c : cases) {
      if (known_.insert(c.key()).second) unknown.push_back(c);
    }
    if (unknown.empty()) return;
    const std::vector<Measurement> rows = measure_kernels(unknown, measuring_);
    out_.cases.insert(out_.cases.end(), unknown.begin(), unknown.end());
    out_.rows.insert(out_.rows.end(), rows.begin(), rows.end());
  }

  void run(const VariantSet& set) {
    const VariantProblem problem(set);
    const auto sampler =
        make_sampler(search_.sampler, problem.space(),
                     SamplerOptions{.seed = search_.seed,
                                    .trials = static_cast<std::size_t>(search_.trials),
                                    .objectives = 1});
    run_search(*sampler,
               {.trials = static_cast<std::size_t>(search_.trials), .batch = batch_variants},
               {.evaluate =
                    [&](const std::vector<Point>& points) {
                      std::vector<KernelCase> cases;
                      for (const Point& p : points) {
                        cases.push_back(variant_case(set.question, problem.at(p)));
                      }
                      require(cases);
                      std::vector<Told> told;
                      for (const Point& p : points) {
                        told.push_back(told_of(p, set.question, problem.at(p), out_.rows));
                      }
                      return told;
                    },
                .should_stop = measuring_.is_interrupted});
  }

  VariantRows take() { return std::move(out_); }

 private:
  const KernelMeasuring& measuring_;
  const VariantSearch& search_;
  std::set<std::string> known_;
  VariantRows out_;
};

}  // namespace

VariantProblem::VariantProblem(const VariantSet& set)
    : set_(set), points_(points_of(set)), space_(space_of(set, points_)) {}

const Variant& VariantProblem::at(const Point& point) const {
  const auto at = std::ranges::find(points_, point);
  return set_.variants[static_cast<std::size_t>(at - points_.begin())];
}

VariantRows search_variants(std::span<const VariantSet> sets, const KernelMeasuring& measuring,
                            const VariantSearch& search) {
  Search out(measuring, search);
  if (search.sampler == "grid" && search.trials == 0) {
    std::vector<KernelCase> all;
    for (const VariantSet& set : sets) {
      for (const Variant& v : set.variants) all.push_back(variant_case(set.question, v));
    }
    out.require(all);
  }
  for (const VariantSet& set : sets) {
    if (!set.variants.empty()) out.run(set);
  }
  return out.take();
}

}  // namespace halmark::tune
