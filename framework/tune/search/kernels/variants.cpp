// A plugin lists its variants; what the list has in common becomes parameters, so that a sampler
// can learn what each does on its own. Where the list is no full product, a constraint holds the
// space to it.
#include "tune/search/kernels/variants.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"

namespace halmark::tune {

namespace {

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
    const auto* given = find_value(values, d.name.substr(variant.kernel.size() + 1));
    out.push_back(*d.coordinate(!given ? std::string(by_default) : *given));
  }
  return out;
}

std::vector<Point> points_of(const VariantSet& set) {
  const std::vector<SearchDomain> domains = domains_of(set);
  return mapped(set.variants, [&](const Variant& v) { return point_of(v, domains); });
}

}  // namespace

VariantProblem::VariantProblem(const VariantSet& set)
    : set_(set), points_(points_of(set)), space_(offered_space(domains_of(set), points_)) {}

const Variant& VariantProblem::at(const Point& point) const {
  const auto at = std::ranges::find(points_, point);
  return set_.variants[as_size(at - points_.begin())];
}

MeasuredCases search_variants(std::span<const VariantSet> sets, const KernelMeasuring& measuring,
                              const CaseSampling& sampling) {
  CaseSearch search(measuring);
  if (sampling.sampler == "grid" && sampling.trials == 0) {
    std::vector<KernelCase> all;
    for (const VariantSet& set : sets) {
      for (const Variant& v : set.variants) all.push_back(variant_case(set.question, v));
    }
    search.require(all);
  }
  for (const VariantSet& set : sets) {
    if (set.variants.empty()) continue;
    const VariantProblem problem(set);
    search.run(
        problem.space(),
        [&](const Point& point) { return variant_case(set.question, problem.at(point)); }, sampling,
        [&] { return measuring.stop.stop_requested(); });
  }
  return search.take();
}

}  // namespace halmark::tune
