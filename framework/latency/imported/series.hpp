// What tells the kernels of one table apart, and which of them a user chose.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace halmark {

// Rows of one implementation: times of different series are of different kernels.
struct SeriesIdentity {
  std::string op;     // of the contract
  std::string dtype;  // of what is computed and cached: "bf16", "bf16/f8_e4m3fn"
  std::string kernel_source;
  std::string backend;  // of the table, else the framework that it is of
  std::string block;    // of quantisation: "block128"; "" = none
  std::string other;    // columns that a layout file names

  // "gemm f8_e4m3fn block128 DeepGemmFp8BlockScaledMMKernel VLLM": its words, those that it has.
  std::string text() const;
  std::vector<std::string> words() const;
  auto operator<=>(const SeriesIdentity&) const = default;
};

// The types of a problem in the order of its parameters, each once.
std::string dtypes_of(const Problem& problem);

// Spellings of kernel collectors beside those of parse_dtype.
std::optional<Dtype> table_dtype(std::string_view text);

// Weights with a scale per block, as tables call them together with what they meet.
struct PackedType {
  std::string_view name;
  Dtype source, weights;
  std::int64_t block, scale_bits;
  std::string_view word;  // in the name of a series
};
// Null for types of plain products.
const PackedType* packed_type(std::string_view text);

// Selectors in order of preference. A series is chosen by one whose words are all among its own,
// whatever their case; a type may be spelled as tables do.
class SeriesChoice {
 public:
  SeriesChoice() = default;
  SeriesChoice(std::vector<std::string> selectors, std::string where);
  bool is_empty() const { return selectors_.empty(); }
  // Of the first selector that chooses it; nothing when none does.
  std::optional<std::size_t> rank(const SeriesIdentity& series) const;
  // Throws Error (exit 2) with the nearest for a selector that chooses none of `known`.
  void check(const std::vector<SeriesIdentity>& known) const;

 private:
  std::vector<std::string> selectors_;
  std::string where_;
};

}  // namespace halmark
