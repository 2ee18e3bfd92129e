#include "tune/problem/parameters.hpp"

#include <algorithm>
#include <set>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"

namespace halmark::tune {

namespace {

SearchDomain domain_of(std::string name, DomainKind kind, std::string when) {
  return {.name = std::move(name), .kind = kind, .when = std::move(when)};
}

std::vector<std::int64_t> divisors(std::span<const std::int64_t> numbers, bool is_wanted) {
  std::set<std::int64_t> out = {1};
  for (const std::int64_t number : numbers) {
    for (std::int64_t d = 1; is_wanted && d <= number; ++d) {
      if (number % d == 0) out.insert(d);
    }
  }
  return {out.begin(), out.end()};
}

// One of the combinations of recipes and [precision].
struct PrecisionCase {
  Precision precision;
  std::string text;  // "precision == "int8" and kv_cache == "s8""
};

std::vector<PrecisionCase> precision_cases(std::span<const std::string> recipes,
                                           std::span<const PrecisionChoice> choices,
                                           const PrecisionFacts& facts) {
  std::vector<PrecisionCase> out;
  for (const std::string& name : recipes) {
    out.push_back({precision_of(name, facts), "precision == \"" + name + '"'});
  }
  for (const PrecisionChoice& choice : choices) {
    std::vector<PrecisionCase> longer;
    for (const PrecisionCase& c : out) {
      for (const Dtype dtype : choice.dtypes) {
        const PrecisionOverride one[] = {{choice.kind, dtype}};
        longer.push_back({overridden(c.precision, one),
                          c.text + " and " + std::string(kernel_kind_name(choice.kind)) + " == \"" +
                              std::string(dtype_name(dtype)) + '"'});
      }
    }
    out = std::move(longer);
  }
  return out;
}

}  // namespace

void Parameters::add_integers(std::string name, std::span<const std::int64_t> values,
                              std::function<void(Configuration&, std::int64_t)> set,
                              std::string when) {
  SearchDomain domain = domain_of(std::move(name), DomainKind::ordinal, std::move(when));
  for (const std::int64_t v : values) domain.values.emplace_back(v);
  description.domains.push_back(std::move(domain));
  setters.push_back([set = std::move(set)](Configuration& c, const ParamValue& value) {
    set(c, std::get<std::int64_t>(value));
  });
}

void Parameters::add_choices(std::string name, std::span<const std::string> values,
                             std::function<void(Configuration&, const std::string&)> set,
                             std::string when) {
  SearchDomain domain = domain_of(std::move(name), DomainKind::categorical, std::move(when));
  for (const std::string& v : values) domain.values.emplace_back(v);
  description.domains.push_back(std::move(domain));
  setters.push_back([set = std::move(set)](Configuration& c, const ParamValue& value) {
    set(c, std::get<std::string>(value));
  });
}

void Parameters::require(std::string name, std::string expression, std::string where) {
  description.constraints.push_back({std::move(name), std::move(expression), std::move(where)});
}

void Parameters::require(std::vector<StatedConstraint> constraints) {
  std::ranges::move(constraints, std::back_inserter(description.constraints));
}

bool wants(const Sweep& sweep, std::string_view strategy) {
  return contains(sweep.strategies, strategy);
}

std::vector<std::int64_t> unique_sorted(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

DegreeLists degree_lists(const Sweep& sweep, const ModelSpec& spec,
                         std::span<const std::int64_t> devices) {
  return {.dp = divisors(devices, wants(sweep, "data")),
          .tp = divisors(devices, wants(sweep, "tensor")),
          .pp = divisors(devices, wants(sweep, "pipeline")),
          .ep = divisors(devices, wants(sweep, "expert") && spec.moe),
          .cp = divisors(devices, wants(sweep, "context"))};
}

Precision add_precisions(std::span<const std::string> recipes, const Sweep& sweep,
                         const ModelSpec& spec, const Configuration& like,
                         const PrecisionFacts& facts, Parameters& out) {
  out.add_choices("precision", recipes, [facts](Configuration& c, const std::string& name) {
    c.precision = precision_of(name, facts);
  });
  for (const PrecisionChoice& choice : sweep.precision_choices) {
    std::vector<std::string> names;
    for (const Dtype dtype : choice.dtypes) names.emplace_back(dtype_name(dtype));
    out.add_choices(std::string(kernel_kind_name(choice.kind)), names,
                    [kind = choice.kind](Configuration& c, const std::string& name) {
                      const PrecisionOverride one[] = {{kind, *parse_dtype(name)}};
                      c.precision = overridden(std::move(c.precision), one);
                    });
  }
  std::optional<Precision> possible;
  std::optional<Refusal> first;
  for (const PrecisionCase& one : precision_cases(recipes, sweep.precision_choices, facts)) {
    Configuration c = like;
    c.precision = one.precision;
    if (const auto refusal = check_configuration(spec, c)) {
      out.require(refusal->reason, "not (" + one.text + ')');
      if (!first) first = refusal;
    } else if (!possible) {
      possible = one.precision;
    }
  }
  if (!possible)
    throw refused("no precision of this sweep is possible: " + first->text, sweep.file);
  return *possible;
}

void add_layout(const ModelSpec& spec, const Configuration& like, const DegreeLists& degrees,
                std::span<const std::int64_t> devices, const std::string& when, Parameters& out) {
  const auto add = [&](const char* name, const std::vector<std::int64_t>& values,
                       int Parallel::*to) {
    out.add_integers(
        name, values,
        [to](Configuration& c, std::int64_t v) { c.parallel.*to = static_cast<int>(v); }, when);
  };
  add("dp", degrees.dp, &Parallel::dp);
  add("tp", degrees.tp, &Parallel::tp);
  add("pp", degrees.pp, &Parallel::pp);
  add("ep", degrees.ep, &Parallel::ep);
  const bool has_context = degrees.cp.size() > 1;
  if (has_context) add("cp", degrees.cp, &Parallel::cp);
  out.require("shard_count",
              member_text(has_context ? "dp * tp * pp * cp" : "dp * tp * pp", devices));
  if (degrees.ep.size() > 1) out.require("ep_exceeds_group", "dp * tp % ep == 0");
  out.require(split_rules(spec, like, degrees, {}));
}

}  // namespace halmark::tune
