#include "expression/lexer.hpp"

#include <algorithm>
#include <utility>

#include "core/text/error.hpp"

namespace halmark {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

void Lexer::fail(const Token& token, const std::string& what, std::string remedy) const {
  throw refused(what,
                where_ + (where_.empty() ? "expression:" : ": expression:") +
                    std::to_string(token.line) + ':' + std::to_string(token.column),
                std::move(remedy));
}

void Lexer::advance() {
  if (text_[at_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++at_;
}

template <typename Belongs>
void Lexer::take_while(std::string& out, Belongs belongs) {
  while (at_ < text_.size() && belongs(text_[at_])) {
    out += text_[at_];
    advance();
  }
}

void Lexer::scan_number(Token& token) {
  token.kind = Token::Kind::integer;
  take_while(token.text, is_digit);
  if (at_ == text_.size()) return;
  if (text_[at_] != '.' && text_[at_] != 'e' && text_[at_] != 'E') return;
  token.kind = Token::Kind::real;
  char last = ' ';
  take_while(token.text, [&last](char x) {
    const bool belongs = is_digit(x) || x == '.' || x == 'e' || x == 'E' ||
                         ((x == '+' || x == '-') && (last == 'e' || last == 'E'));
    last = x;
    return belongs;
  });
}

void Lexer::scan_text(Token& token) {
  token.kind = Token::Kind::text;
  const char quote = text_[at_];
  advance();
  take_while(token.text, [quote](char x) { return x != quote; });
  if (at_ == text_.size()) fail(token, "the string is not closed");
  advance();
}

void Lexer::scan_sign(Token& token) {
  token.kind = Token::Kind::sign;
  static constexpr std::string_view pairs[] = {"//", "<=", ">=", "==", "!="};
  const char c = text_[at_];
  const bool is_pair = std::ranges::find(pairs, text_.substr(at_, 2)) != std::end(pairs);
  if (!is_pair && std::string_view("+-*/%<>(){},").find(c) == std::string_view::npos) {
    fail(token, std::string("'") + printable(std::string_view(&c, 1)) + "' means nothing here",
         c == '=' ? "equality is ==" : "");
  }
  for (std::size_t i = 0; i < (is_pair ? 2u : 1u); ++i) {
    token.text += text_[at_];
    advance();
  }
}

Token Lexer::next() {
  while (at_ < text_.size() && is_space(text_[at_])) advance();
  Token out{.kind = Token::Kind::end, .text = {}, .line = line_, .column = column_};
  if (at_ == text_.size()) {
    out.text = "the end";
    return out;
  }
  const char c = text_[at_];
  if (is_digit(c)) {
    scan_number(out);
  } else if (is_letter(c)) {
    out.kind = Token::Kind::word;
    take_while(out.text, [](char x) { return is_letter(x) || is_digit(x) || x == '.'; });
  } else if (c == '\'' || c == '"') {
    scan_text(out);
  } else {
    scan_sign(out);
  }
  return out;
}

}  // namespace halmark
