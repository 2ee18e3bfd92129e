#include "expression/language.hpp"

namespace halmark {

std::vector<LanguageWord> expression_operators() {
  return {
      {"or", "either holds", "tp < 2 or tp > 3"},
      {"and", "both hold", "tp > 2 and tp < 5"},
      {"not", "does not hold", "not tp == 3"},
      {"< <= > >= == !=", "comparisons of numbers, == and != of strings too; chains hold together",
       "1 < tp <= 4"},
      {"in {...}", "is one of the values", "tp in {2, 4, 8}"},
      {"+ -", "sum and difference; integers are exact in 64 bits, beyond them is an error",
       "tp + 1 == 5"},
      {"* //", "product; quotient rounded towards minus infinity", "7 // 2 == 3"},
      {"/", "quotient as a float", "7 / 2 == 3.5"},
      {"%", "rest of //, never of the other sign than the divisor", "7 % 4 == 3"},
      {"-", "the negative of what follows", "-tp < 0"},
      {"(...)", "first what is inside", "(tp + 1) * 2 == 10"},
  };
}

std::vector<LanguageWord> expression_values() {
  return {
      {"7", "an integer of 64 bits", "tp == 4"},
      {"0.5, 1e-3", "a float", "tp > 0.5"},
      {"'bf16', \"bf16\"",
       "a string in single or double quotes, without escapes; in TOML take those that the key does "
       "not use, as in when = \"dtype == 'bf16'\"",
       "name == 'bf16'"},
      {"true, false", "a condition", "true"},
      {"null", "the value of a parameter whose condition does not hold", "null == null"},
      {"word", "a parameter or a fact: letters, digits, _ and .", "tp == 4"},
  };
}

}  // namespace halmark
