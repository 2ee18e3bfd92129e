// Words, numbers and signs of OpenQASM with their places, all of a text at once: loops and the
// bodies of gates are read again from where they begin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halmark::circuit {

struct Token {
  enum class Kind { word, number, text, sign, end };
  Kind kind = Kind::end;
  std::string text;  // of a sign one or two characters: "->", "=="; "<<=" has three
  int line = 1, column = 1;
};

class Tokens {
 public:
  Tokens(std::string_view text, std::string where);

  const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  // Refuses what would not end: every word counts as often as it is taken, what costs more by more.
  void spend(std::size_t steps);
  bool accept(std::string_view sign);  // takes the next one if it is this sign
  void expect(std::string_view sign);
  Token expect_word(std::string_view what);
  std::size_t at() const { return next_; }
  void go_to(std::size_t at) { next_ = at; }
  // Behind a statement or block that is not executed.
  void skip_statement();
  // Throws Error (exit 2): `what` at the token.
  [[noreturn]] void refuse(const Token& at, const std::string& what,
                           const std::string& remedy = {}) const;

 private:
  std::string where_;
  std::vector<Token> all_;  // the last one is the end
  std::size_t next_ = 0, spent_ = 0;
};
inline constexpr std::size_t statement_steps = 10;  // of one, a round of a loop, a gate

}  // namespace halmark::circuit
