// The language of constraints known before measuring: integers, floats, strings, true, false, null,
// parameters; + - * // % /, comparisons and chains of them, and or not, in {...}, min max ceil_div
// divides(a,b) (a divides b) is_pow2 log2. Pure. Integers are exact (64 bit; an overflow is an
// error), // and % round towards minus infinity, / gives a float.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/search_domain.hpp"

namespace halmark {

enum class Truth { no, yes, unknown };

// What is known of one parameter when an expression is evaluated.
struct Operand {
  enum class Kind { unknown, integers, reals, text, boolean, null } kind = Kind::unknown;
  std::int64_t low = 0, high = 0;      // integers: both ends included; boolean: 0 or 1 in both
  double low_real = 0, high_real = 0;  // reals
  std::string_view text = {};          // must outlive the evaluation

  static Operand of(const ParamValue& value);
  static Operand integers_between(std::int64_t low, std::int64_t high);
  static Operand reals_between(double low, double high);
};

class Expression {
 public:
  // `names` are the parameters that the text may name, by their position; `facts` are constants.
  // Throws Error (exit 2) "where: what" with line and column of the text appended to `where`.
  Expression(std::string_view text, std::span<const std::string> names,
             const std::map<std::string, ParamValue>& facts, const std::string& where);
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  // Positions of the parameters that it names, ascending.
  const std::vector<std::size_t>& parameters() const { return parameters_; }
  const std::string& text() const { return text_; }

  // Three-valued. A parameter that is not bound is an interval or unknown; `no` then means that no
  // value of it can make the expression true. A parameter that is absent is unknown for good: an
  // expression that hangs on it stays unknown, and its constraint counts as met. Throws Error (exit
  // 2) on an overflow, a division by zero and a comparison of unlike types, where all operands are
  // single values.
  Truth evaluate(std::span<const Operand> operands) const;

  struct Node;

 private:
  std::string text_, where_;
  std::vector<std::size_t> parameters_;
  std::unique_ptr<Node> root_;
};

}  // namespace halmark
