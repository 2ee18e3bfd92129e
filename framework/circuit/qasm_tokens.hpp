// Words, numbers and signs of OpenQASM with their places.
#pragma once

#include <string>
#include <string_view>

namespace halmark::circuit {

struct Token {
  enum class Kind { word, number, text, sign, end };
  Kind kind = Kind::end;
  std::string text;  // of a sign "->" or one character
  int line = 1, column = 1;
};

class Tokens {
 public:
  Tokens(std::string_view text, std::string where);

  const Token& peek() const { return next_; }
  Token take();
  bool accept(std::string_view sign);  // takes the next one if it is this sign
  void expect(std::string_view sign);
  Token expect_word(std::string_view what);
  // Throws Error (exit 2): `what` at the token.
  [[noreturn]] void refuse(const Token& at, const std::string& what,
                           const std::string& remedy = {}) const;

 private:
  void advance();
  void skip_blanks();
  char at(std::size_t offset) const;
  void step();

  std::string_view text_;
  std::string where_;
  std::size_t position_ = 0;
  int line_ = 1, column_ = 1;
  Token next_;
};

}  // namespace halmark::circuit
