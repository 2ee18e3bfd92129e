#include "expression/functions.hpp"

#include "expression/language.hpp"

namespace halmark {
namespace {

constexpr Function table[] = {
    {"min", Verb::minimum, 2, 16, "the least of 2 to 16 numbers", "min(tp, 2) == 2"},
    {"max", Verb::maximum, 2, 16, "the greatest of 2 to 16 numbers", "max(tp, 2) == 4"},
    {"ceil_div", Verb::ceil_div, 2, 2, "quotient of two integers, rounded up",
     "ceil_div(7, 2) == 4"},
    {"divides", Verb::divides, 2, 2, "whether the first integer divides the second",
     "divides(tp, 8)"},
    {"is_pow2", Verb::is_power_of_two, 1, 1, "whether an integer is a power of two", "is_pow2(tp)"},
    {"log2", Verb::log2, 1, 1, "logarithm to base two of a positive number", "log2(tp) == 2"},
};

}  // namespace

std::span<const Function> functions() { return table; }

std::vector<LanguageWord> expression_functions() {
  std::vector<LanguageWord> out;
  for (const Function& f : table) out.push_back({f.name, f.meaning, f.example});
  return out;
}

}  // namespace halmark
