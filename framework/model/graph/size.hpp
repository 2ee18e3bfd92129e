// Size: a number of the operator graph that knows how it follows from the load of a rank. Builders
// and families calculate with sizes as with integers; what they write into an operator can then be
// evaluated for any other load without building another graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.hpp"

namespace halmark {

// One micro-batch on one rank: its sequences, each with `new_tokens` queries of which the last sees
// `context` keys.
struct RankLoad {
  std::int64_t sequences = 1, new_tokens = 1, context = 1;
  std::int64_t tokens() const { return sequences * new_tokens; }
};

// What a size can follow from. `tokens` is a measure of its own, not a product: operators on tokens
// do not see which sequences they belong to.
enum class LoadMeasure : std::uint8_t { sequences, new_tokens, tokens, context };

// A set of measures.
using LoadMeasures = std::uint8_t;
constexpr LoadMeasures mask_of(LoadMeasure measure) {
  return static_cast<LoadMeasures>(1u << static_cast<unsigned>(measure));
}

// How a number follows from the load. Immutable; shared by the sizes that are made from it.
class SizeTerm {
 public:
  using Pointer = std::shared_ptr<const SizeTerm>;
  using Function = std::function<std::int64_t(std::span<const std::int64_t>)>;
  enum class Kind : std::uint8_t {
    constant,
    measure,
    sum,
    difference,
    product,
    quotient,  // rounded down
    function,
  };

  static Pointer of(std::int64_t constant);
  static Pointer of(LoadMeasure measure);
  static Pointer of(Kind kind, Pointer a, Pointer b);  // neither is null
  // `name` identifies what `function` computes: equal names, equal functions.
  static Pointer of(std::string name, Function function, std::vector<Pointer> operands);

  std::int64_t at(const RankLoad& load) const;
  LoadMeasures measures() const { return measures_; }
  // The same calculation, operand by operand.
  bool operator==(const SizeTerm& other) const;

 private:
  Kind kind_ = Kind::constant;
  LoadMeasure measure_ = LoadMeasure::tokens;
  LoadMeasures measures_ = 0;
  std::int64_t constant_ = 0;
  std::vector<Pointer> operands_;
  std::string name_;
  Function function_;
};

class Size {
 public:
  Size(std::int64_t constant = 0) : value_(constant) {}  // NOLINT: integers are sizes
  // A measure of the load that the graph is built for.
  Size(LoadMeasure measure, const RankLoad& load);
  // Of another calculation than the operators below offer, on the values of `operands`.
  Size(std::string name, SizeTerm::Function function, std::span<const Size> operands);

  // For the load of the graph: for texts, totals and work.
  std::int64_t value() const { return value_; }
  // Of a size that is the same for every load: what the shape of the graph may depend on.
  std::int64_t constant() const;
  const SizeTerm::Pointer& term() const { return term_; }  // null = constant

  friend Size operator+(const Size& a, const Size& b);
  friend Size operator-(const Size& a, const Size& b);
  friend Size operator*(const Size& a, const Size& b);
  friend Size operator/(const Size& a, const Size& b);  // rounded down; positive sizes

 private:
  SizeTerm::Pointer operand() const;
  static SizeTerm::Pointer joined(SizeTerm::Kind kind, const Size& a, const Size& b);

  std::int64_t value_ = 0;
  SizeTerm::Pointer term_;
};

Size ceiling(const Size& a, const Size& b);  // a / b rounded up
Size dtype_bytes(Dtype dtype, const Size& count);

// One size, unsplit and on one rank. Only the rank's knows its load.
struct Extent {
  Size whole = 0;
  Size local = 0;
};
Extent operator*(const Extent& a, const Size& factor);
Extent operator*(const Extent& a, const Extent& b);
Extent operator+(const Extent& a, const Extent& b);

// Which side of an Extent: &Extent::whole or &Extent::local.
using Side = Size Extent::*;

}  // namespace halmark
