// A check of the model looks at one configuration. Asked for every value of one degree, or of a
// pair of degrees where it looks at both, it says which values are possible; that list is the rule.
// So the model states its rules once, and a space of 10^9 points is pruned without asking it for
// each.
#include "tune/problem/split_rules.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "model/graph/graph.hpp"

namespace halmark::tune {

namespace {

// A layout with the least load that it can take.
std::optional<Refusal> refusal_of(const ModelSpec& spec, const Configuration& like,
                                  const Parallel& parallel) {
  Configuration c = like;
  c.parallel = parallel;
  c.workload.batch = std::int64_t{parallel.dp} * parallel.pp;
  return check_configuration(spec, c);
}

// One degree alone. Rules of the same reason are one list.
class OneDegree {
 public:
  OneDegree(std::string parameter, std::span<const std::int64_t> values)
      : parameter_(std::move(parameter)), values_(values) {}

  template <class RefusalOf>
  void add_rules(const RefusalOf& refusal_of, std::vector<StatedConstraint>& out) const {
    std::map<std::string, std::set<std::int64_t>> refused;
    for (const std::int64_t value : values_) {
      if (const auto refusal = refusal_of(as_int(value))) {
        refused[refusal->reason].insert(value);
      }
    }
    for (const auto& [reason, values] : refused) {
      std::vector<std::int64_t> possible;
      std::ranges::copy_if(values_, std::back_inserter(possible),
                           [&](std::int64_t v) { return !values.contains(v); });
      out.push_back({reason, member_text(parameter_, possible), {}});
    }
  }

 private:
  std::string parameter_;
  std::span<const std::int64_t> values_;
};

// Experts are spread over tensor ranks first and then over replicas: which ep a tp allows does not
// depend on dp, as long as the ranks are there at all.
Parallel with_experts(int tp, int ep) {
  return {.dp = ep / std::gcd(ep, tp), .tp = tp, .pp = 1, .ep = ep};
}

// Per tp the degrees of expert parallelism that go with it.
using Allowed = std::map<std::int64_t, std::vector<std::int64_t>>;

Allowed allowed_of(const ModelSpec& spec, const Configuration& like, const DegreeLists& degrees) {
  Allowed out;
  for (const std::int64_t tp : degrees.tp) {
    for (const std::int64_t ep : degrees.ep) {
      const Parallel parallel = with_experts(as_int(tp), as_int(ep));
      if (!refusal_of(spec, like, parallel)) out[tp].push_back(ep);
    }
  }
  return out;
}

std::vector<std::int64_t> of_any_tp(const Allowed& allowed) {
  std::set<std::int64_t> out;
  for (const auto& [tp, eps] : allowed) out.insert(eps.begin(), eps.end());
  return {out.begin(), out.end()};
}

void add_expert_rules(const ModelSpec& spec, const Configuration& like, const DegreeLists& degrees,
                      const DegreeNames& names, std::vector<StatedConstraint>& out) {
  const Allowed allowed = allowed_of(spec, like, degrees);
  const std::vector<std::int64_t> any = of_any_tp(allowed);
  OneDegree(names.tp, degrees.tp)
      .add_rules(
          [&](int tp) -> std::optional<Refusal> {
            if (allowed.contains(tp)) return std::nullopt;
            return refusal_of(spec, like, with_experts(tp, 1));
          },
          out);
  if (any.size() < degrees.ep.size()) {
    out.push_back({"ep_does_not_divide_experts", member_text(names.ep, any), {}});
  }
  for (const auto& [tp, eps] : allowed) {
    if (eps == any) continue;
    out.push_back({"tp_does_not_divide_ffn",
                   names.tp + " != " + std::to_string(tp) + " or " + member_text(names.ep, eps),
                   {}});
  }
}

}  // namespace

std::string member_text(const std::string& parameter, std::span<const std::string> values) {
  if (values.empty()) return "false";
  std::string list;
  for (const std::string& v : values) list += (list.empty() ? "\"" : ", \"") + v + '"';
  return parameter + " in {" + list + '}';
}

std::string member_text(const std::string& parameter, std::span<const std::int64_t> values) {
  if (values.empty()) return "false";
  std::string list = join(values, ", ");
  return parameter + " in {" + list + '}';
}

std::vector<StatedConstraint> split_rules(const ModelSpec& spec, const Configuration& like,
                                          const DegreeLists& degrees, const DegreeNames& names) {
  std::vector<StatedConstraint> out;
  add_expert_rules(spec, like, degrees, names, out);
  OneDegree(names.pp, degrees.pp)
      .add_rules([&](int pp) { return refusal_of(spec, like, {.pp = pp}); }, out);
  return out;
}

DegreeLists possible_degrees(const ModelSpec& spec, const Configuration& like,
                             DegreeLists degrees) {
  const Allowed allowed = allowed_of(spec, like, degrees);
  degrees.ep = of_any_tp(allowed);
  std::erase_if(degrees.tp, [&](std::int64_t tp) { return !allowed.contains(tp); });
  return degrees;
}

}  // namespace halmark::tune
