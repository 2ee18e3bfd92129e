// Problems whose parameters are sizes: what a builder writes into an operator, and what the
// operator is under another load.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "kernels/contract.hpp"
#include "model/graph/graph.hpp"
#include "model/graph/size.hpp"

namespace halmark {

// Parameters of an op as a builder writes them: those that follow from the load keep how.
class Sizing {
 public:
  struct Item {
    std::string_view name;
    Size size;
  };
  Sizing(std::initializer_list<Item> items) : items_(items) {}
  void set(std::string_view name, const Size& size) { items_.push_back({name, size}); }
  Params params() const;
  // Of the parameters that follow from the load, by their position in `complete`.
  std::vector<ParamTerm> terms(const Params& complete) const;

 private:
  std::vector<Item> items_;
};

// What one rank executes, and how it follows from the load.
struct SizedProblem {
  Problem problem;
  std::vector<ParamTerm> terms;
};
SizedProblem sized_problem(std::string_view op, const Sizing& sizing);

// What one rank executes of `op` under another load of the same layout, form and phase: exactly
// `local` of the graph that would be built for it. The load must agree with the graph's branches.
Problem local_problem(const Operator& op, const RankLoad& load);
// In place: the parameters that follow from the load directly, in `params`, those of op.local; and
// those that the contract derives from others.
void set_load(const Operator& op, const RankLoad& load, Params& params);
void set_derived(const OpContract& contract, Params& params);
bool has_derived(const OpContract& contract);

}  // namespace halmark
