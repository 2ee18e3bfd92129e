// Problem (given) and Config (searched): named integers, sorted by name, never mixed.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "core/fields/fields.hpp"

namespace halmark {

struct Param {
  std::string name;
  std::int64_t value = 0;
  auto operator<=>(const Param&) const = default;
};

// A sorted set of parameters with unique names.
class Params {
 public:
  Params() = default;
  Params(std::initializer_list<Param> params);

  void set(std::string_view name, std::int64_t value);  // inserts or replaces
  void set_at(std::size_t index, std::int64_t value) { items_[index].value = value; }
  std::optional<std::int64_t> find(std::string_view name) const;
  std::int64_t at(std::string_view name) const;  // throws std::out_of_range naming the parameter
  std::int64_t value_or(std::string_view name, std::int64_t fallback) const;
  Dtype dtype(std::string_view name) const;  // throws when absent or not a type

  const std::vector<Param>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  auto operator<=>(const Params&) const = default;

  // "k=1024 m=1 n=3072 src_dtype=bf16": dtypes by name, in name order.
  std::string text() const;

 private:
  std::vector<Param> items_;
};

struct Problem {
  std::string op;
  Params params;
  auto operator<=>(const Problem&) const = default;
  std::string text() const;  // "gemm k=1024 m=1 ..."
};
template <class V, Of<Problem> M>
void fields(V& v, M& m) {
  v("op", m.op);
  v("params", m.params);
}

// Chosen parameters of a kernel. Categorical values are also identified by label, because indices
// of library algorithms are not stable between versions; records keep `labels`, never the integer.
struct Config {
  Params params;
  std::vector<std::pair<std::string, std::string>> labels;  // domain name -> label
  auto operator<=>(const Config&) const = default;
  std::string text() const;  // "impl=brg:avx512_core threads=2", "" for the default config
};

}  // namespace halmark
