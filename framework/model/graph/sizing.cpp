// A contract completes a problem with defaults and derived parameters, so the terms of what a
// builder wrote are found by name in the complete one; what is derived is derived again per load.
#include "model/graph/sizing.hpp"

#include <algorithm>
#include <string>

namespace halmark {

Params Sizing::params() const {
  Params out;
  for (const Item& item : items_) out.set(item.name, item.size.value());
  return out;
}

std::vector<ParamTerm> Sizing::terms(const Params& complete) const {
  std::vector<ParamTerm> out;
  for (const Item& item : items_) {
    if (!item.size.term()) continue;
    const auto at = std::ranges::find(complete.items(), item.name, &Param::name);
    out.push_back({static_cast<std::size_t>(at - complete.items().begin()), item.size.term()});
  }
  return out;
}

SizedProblem sized_problem(std::string_view op, const Sizing& sizing) {
  SizedProblem out{complete_problem({std::string(op), sizing.params()}), {}};
  out.terms = sizing.terms(out.problem.params);
  return out;
}

void set_load(const Operator& op, const RankLoad& load, Params& params) {
  for (const ParamTerm& moving : op.local_terms) {
    params.set_at(moving.param, moving.term->at(load));
  }
}

bool has_derived(const OpContract& contract) {
  return std::ranges::any_of(contract.params(), &ParamSpec::derived);
}

void set_derived(const OpContract& contract, Params& params) {
  for (const ParamSpec& spec : contract.params()) {
    if (spec.derived) params.set(spec.name, contract.derived(spec.name, params));
  }
}

Problem local_problem(const Operator& op, const RankLoad& load) {
  Problem out = op.local;
  set_load(op, load, out.params);
  set_derived(*find_contract(op.local.op), out.params);
  return out;
}

}  // namespace halmark
