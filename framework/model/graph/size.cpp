// Terms are trees, because one form of factor, divisor and limit does not say everything: a row of
// the indexer is tokens times heads plus the entries that a step completes. Constants are folded
// while a term is made, so that nearly all terms are one measure times one factor.
#include "model/graph/size.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/lists.hpp"

namespace halmark {

namespace {

std::int64_t measured(LoadMeasure measure, const RankLoad& load) {
  switch (measure) {
    case LoadMeasure::sequences:
      return load.sequences;
    case LoadMeasure::new_tokens:
      return load.new_tokens;
    case LoadMeasure::tokens:
      return load.tokens();
    case LoadMeasure::context:
      return load.context;
  }
  return 0;
}

}  // namespace

SizeTerm::Pointer SizeTerm::of(std::int64_t constant) {
  auto out = std::make_shared<SizeTerm>();
  out->constant_ = constant;
  return out;
}

SizeTerm::Pointer SizeTerm::of(LoadMeasure measure) {
  auto out = std::make_shared<SizeTerm>();
  out->kind_ = Kind::measure;
  out->measure_ = measure;
  out->measures_ = mask_of(measure);
  return out;
}

SizeTerm::Pointer SizeTerm::of(Kind kind, Pointer a, Pointer b) {
  // (x * 2) * 3 is x * 6: factors come one after the other from heads, widths and types.
  const bool is_factor = kind == Kind::product && b->kind_ == Kind::constant;
  if (is_factor && a->kind_ == Kind::product && a->operands_[1]->kind_ == Kind::constant) {
    b = of(a->operands_[1]->constant_ * b->constant_);
    a = a->operands_[0];
  }
  auto out = std::make_shared<SizeTerm>();
  out->kind_ = kind;
  out->measures_ = a->measures_ | b->measures_;
  out->operands_ = {std::move(a), std::move(b)};
  return out;
}

SizeTerm::Pointer SizeTerm::of(std::string name, Function function, std::vector<Pointer> operands) {
  auto out = std::make_shared<SizeTerm>();
  out->kind_ = Kind::function;
  out->name_ = std::move(name);
  out->function_ = std::move(function);
  for (const Pointer& operand : operands) out->measures_ |= operand->measures_;
  out->operands_ = std::move(operands);
  return out;
}

std::int64_t SizeTerm::at(const RankLoad& load) const {
  const auto operand = [&](std::size_t i) { return operands_[i]->at(load); };
  switch (kind_) {
    case Kind::constant:
      return constant_;
    case Kind::measure:
      return measured(measure_, load);
    case Kind::sum:
      return operand(0) + operand(1);
    case Kind::difference:
      return operand(0) - operand(1);
    case Kind::product:
      return operand(0) * operand(1);
    case Kind::quotient:
      return operand(0) / operand(1);
    case Kind::function:
      break;
  }
  auto values = mapped(operands_, [&](const Pointer& one) { return one->at(load); });
  return function_(values);
}

bool SizeTerm::operator==(const SizeTerm& other) const {
  if (this == &other) return true;
  return kind_ == other.kind_ && constant_ == other.constant_ && name_ == other.name_ &&
         measures_ == other.measures_ &&
         std::ranges::equal(operands_, other.operands_,
                            [](const Pointer& a, const Pointer& b) { return *a == *b; });
}

Size::Size(LoadMeasure measure, const RankLoad& load)
    : value_(measured(measure, load)), term_(SizeTerm::of(measure)) {}

Size::Size(std::string name, SizeTerm::Function function, std::span<const Size> operands) {
  std::vector<SizeTerm::Pointer> terms;
  std::vector<std::int64_t> values;
  for (const Size& operand : operands) {
    terms.push_back(operand.operand());
    values.push_back(operand.value_);
  }
  value_ = function(values);
  const bool is_constant =
      std::ranges::none_of(operands, [](const Size& s) { return s.term_ != nullptr; });
  if (!is_constant) term_ = SizeTerm::of(std::move(name), std::move(function), std::move(terms));
}

std::int64_t Size::constant() const {
  if (term_) {
    throw std::logic_error(
        "a size that follows from the load was read as a constant; GraphBuilder::is_any asks "
        "about one");
  }
  return value_;
}

SizeTerm::Pointer Size::operand() const { return term_ ? term_ : SizeTerm::of(value_); }

SizeTerm::Pointer Size::joined(SizeTerm::Kind kind, const Size& a, const Size& b) {
  if (!a.term_ && !b.term_) return nullptr;
  return SizeTerm::of(kind, a.operand(), b.operand());
}

Size operator+(const Size& a, const Size& b) {
  if (!b.term_ && b.value_ == 0) return a;
  Size out(a.value_ + b.value_);
  out.term_ = Size::joined(SizeTerm::Kind::sum, a, b);
  return out;
}

Size operator-(const Size& a, const Size& b) {
  if (!b.term_ && b.value_ == 0) return a;
  Size out(a.value_ - b.value_);
  out.term_ = Size::joined(SizeTerm::Kind::difference, a, b);
  return out;
}

// A constant stands on the right.
Size operator*(const Size& a, const Size& b) {
  if (!a.term_ && b.term_) return b * a;
  if (!b.term_ && b.value_ == 1) return a;
  Size out(a.value_ * b.value_);
  out.term_ = Size::joined(SizeTerm::Kind::product, a, b);
  return out;
}

Size operator/(const Size& a, const Size& b) {
  if (!b.term_ && b.value_ == 1) return a;
  Size out(a.value_ / b.value_);
  out.term_ = Size::joined(SizeTerm::Kind::quotient, a, b);
  return out;
}

Size ceiling(const Size& a, const Size& b) { return (a + (b - 1)) / b; }

Size dtype_bytes(Dtype dtype, const Size& count) {
  constexpr std::int64_t byte_bits = 8;
  const std::int64_t bits = dtype_bits(dtype);
  if (bits % byte_bits == 0) return count * (bits / byte_bits);
  return ceiling(count * bits, byte_bits);
}

Extent operator*(const Extent& a, const Size& factor) {
  return {a.whole * factor, a.local * factor};
}
Extent operator*(const Extent& a, const Extent& b) {
  return {a.whole * b.whole, a.local * b.local};
}
Extent operator+(const Extent& a, const Extent& b) {
  return {a.whole + b.whole, a.local + b.local};
}

}  // namespace halmark
