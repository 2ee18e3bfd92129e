// Inputs written out by hand, and shorthands for asking a contract.
#pragma once

#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/numeric/cast.hpp"
#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "written.hpp"

namespace halmark::testing {

using test::written;

class TableReader : public InputReader {
 public:
  std::map<std::pair<int, std::size_t>, std::vector<double>> tables;  // (rank, operand) -> values

  TableReader() = default;
  explicit TableReader(std::vector<std::vector<double>> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) tables[{0, i}] = std::move(operands[i]);
  }
  void read(int rank, std::size_t operand, std::int64_t offset,
            std::span<double> out) const override {
    const auto& table = tables.at({rank, operand});
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = table.at(as_size(offset) + i);
    }
  }
};

inline const OpContract& op(const std::string& name) {
  const auto* contract = find_contract(name);
  if (contract == nullptr) throw std::out_of_range("no op " + name);
  return *contract;
}

inline Params completed(const std::string& name, const Params& params) {
  return complete_problem({name, params}).params;
}

inline std::int64_t value_of(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

inline std::vector<std::int64_t> every_element(const OperandSpec& operand) {
  std::vector<std::int64_t> elements(as_size(operand.elements()));
  std::iota(elements.begin(), elements.end(), std::int64_t{0});
  return elements;
}

inline std::vector<Expected> expected(const std::string& name, const Params& params,
                                      const InputReader& inputs, std::size_t operand,
                                      int rank = 0) {
  const auto elements = every_element(op(name).operands(params)[operand]);
  std::vector<Expected> out(elements.size());
  op(name).reference(params, inputs, rank, operand, elements, out);
  return out;
}

inline std::vector<double> expected_values(const std::string& name, const Params& params,
                                           const InputReader& inputs, std::size_t operand,
                                           int rank = 0) {
  std::vector<double> out;
  for (const Expected& e : expected(name, params, inputs, operand, rank)) out.push_back(e.value);
  return out;
}

// All values of one operand.
inline std::vector<double> values(const InputReader& inputs, const OperandSpec& operand,
                                  std::size_t index, int rank = 0) {
  std::vector<double> all(as_size(operand.elements()));
  inputs.read(rank, index, 0, all);
  return all;
}

// Values drawn for the operands of a problem.
struct Drawn {
  Drawn(const std::string& name, const Params& params, std::uint64_t seed, int set = 0)
      : operands(op(name).operands(params)), inputs(seed, operands, set) {}
  std::vector<double> of(std::size_t index, int rank = 0) const {
    return values(inputs, operands.at(index), index, rank);
  }
  std::vector<OperandSpec> operands;
  GeneratedInputs inputs;
};

}  // namespace halmark::testing
