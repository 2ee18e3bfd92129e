#include "circuit/qasm_tokens.hpp"

#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

Tokens::Tokens(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {
  advance();
}

Token Tokens::take() {
  Token taken = next_;
  advance();
  return taken;
}

bool Tokens::accept(std::string_view sign) {
  if (next_.kind != Token::Kind::sign || next_.text != sign) return false;
  advance();
  return true;
}

void Tokens::expect(std::string_view sign) {
  if (accept(sign)) return;
  const std::string found =
      next_.kind == Token::Kind::end ? "the end of the file" : "'" + next_.text + "'";
  refuse(next_, "expected '" + std::string(sign) + "', found " + found);
}

Token Tokens::expect_word(std::string_view what) {
  if (next_.kind != Token::Kind::word) {
    refuse(next_, "expected " + std::string(what) + ", found '" + next_.text + "'");
  }
  return take();
}

void Tokens::refuse(const Token& at, const std::string& what, const std::string& remedy) const {
  throw refused(printable(what),
                where_ + ':' + std::to_string(at.line) + ':' + std::to_string(at.column), remedy);
}

char Tokens::at(std::size_t offset) const {
  return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
}

void Tokens::step() {
  if (text_[position_] == '\n') {
    ++line_;
    column_ = 0;
  }
  ++column_;
  ++position_;
}

void Tokens::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = at(0);
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      step();
    } else if (c == '/' && at(1) == '/') {
      while (position_ < text_.size() && at(0) != '\n') step();
    } else if (c == '/' && at(1) == '*') {
      while (position_ < text_.size() && !(at(0) == '*' && at(1) == '/')) step();
      for (int i = 0; i < 2 && position_ < text_.size(); ++i) step();
    } else {
      return;
    }
  }
}

void Tokens::advance() {
  skip_blanks();
  next_ = {.text = {}, .line = line_, .column = column_};
  if (position_ >= text_.size()) return;
  const std::size_t begin = position_;
  if (is_letter(at(0))) {
    next_.kind = Token::Kind::word;
    while (is_letter(at(0)) || is_digit(at(0))) step();
  } else if (is_digit(at(0)) || (at(0) == '.' && is_digit(at(1)))) {
    next_.kind = Token::Kind::number;
    while (is_digit(at(0)) || at(0) == '.' || at(0) == 'e' || at(0) == 'E' ||
           ((at(0) == '-' || at(0) == '+') &&
            (at(static_cast<std::size_t>(-1)) == 'e' || at(static_cast<std::size_t>(-1)) == 'E'))) {
      step();
    }
  } else if (at(0) == '"') {
    next_.kind = Token::Kind::text;
    step();
    while (position_ < text_.size() && at(0) != '"' && at(0) != '\n') step();
    if (at(0) != '"') refuse(next_, "a text without its end");
    next_.text = text_.substr(begin + 1, position_ - begin - 1);
    step();
    return;
  } else {
    next_.kind = Token::Kind::sign;
    const bool is_arrow = at(0) == '-' && at(1) == '>';
    step();
    if (is_arrow) step();
  }
  next_.text = text_.substr(begin, position_ - begin);
}

}  // namespace halmark::circuit
