// The space of a front proof, listed anew: which combinations are valid, which kernels each needs,
// and what its objectives are at given times. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expression/expression.hpp"
#include "verify/front_proof/front_proof_records.hpp"

namespace halmark::front_proof {

class ProofSpace {
 public:
  // Checks that tables fit their domains and that formulas cannot fall when a time grows. Throws
  // Broken. `proof` must outlive it.
  explicit ProofSpace(const Proof& proof);

  std::uint64_t combinations() const { return combinations_; }
  std::uint64_t stride(std::size_t domain) const { return strides_[domain]; }
  std::size_t level(std::uint64_t combination, std::size_t domain) const;
  bool is_valid(std::uint64_t combination) const { return is_valid_[combination]; }
  std::uint64_t configurations() const { return configurations_; }
  std::size_t front(std::uint64_t combination) const;
  // Whether the combination breaks this constraint; nothing where it has no expression.
  std::optional<bool> breaks(std::uint64_t combination, std::size_t constraint) const;
  // Unique, ascending.
  std::vector<std::size_t> kernels(std::uint64_t combination) const;
  std::vector<double> objectives(std::uint64_t combination, const std::vector<double>& times) const;

 private:
  struct Sign {
    bool knows_times = false, is_nonnegative = true, is_positive = false;
  };
  void check_tables() const;
  Sign check(const Node& node, std::size_t line) const;
  void check_formulas(const std::vector<Node>& formulas, std::size_t line) const;
  void compile_constraints();
  void list_valid();
  const Config* config(std::uint64_t combination) const;
  const std::vector<Node>& formulas(std::uint64_t combination) const;
  template <typename T>
  const T& look_up(const Table<T>& table, std::uint64_t combination) const;
  double value(const Node& node, std::uint64_t combination, const std::vector<double>& times) const;
  void add_kernels(const Node& node, std::uint64_t combination,
                   std::vector<std::size_t>& out) const;

  const Proof& proof_;
  std::vector<std::uint64_t> strides_;
  std::uint64_t combinations_ = 1, configurations_ = 0;
  std::vector<bool> is_valid_;
  std::vector<const Config*> configs_;  // by combination; empty where formulas are common
  std::vector<std::optional<Expression>> constraints_;
  std::vector<std::vector<ParamValue>> values_;  // of each domain's levels
};

}  // namespace halmark::front_proof
