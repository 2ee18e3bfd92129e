// The text of an expression cut into tokens; only the parser knows them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halmark {

struct Token {
  enum class Kind { end, integer, real, text, word, sign } kind = Kind::end;
  std::string text;
  int line = 1, column = 1;
};

class Lexer {
 public:
  // `where` is said before the place in errors ("" = nothing). Both must outlive it.
  Lexer(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  // The token after the last one. Throws Error (exit 2) for a character that means nothing and a
  // string that is not closed.
  Token next();
  // Throws Error (exit 2) at the token.
  [[noreturn]] void fail(const Token& token, const std::string& what,
                         std::string remedy = {}) const;

 private:
  void advance();
  template <typename Belongs>
  void take_while(std::string& out, Belongs belongs);
  void scan_number(Token& token);
  void scan_text(Token& token);
  void scan_sign(Token& token);

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
};

}  // namespace halmark
