#include "circuit/qasm_tokens.hpp"

#include <algorithm>
#include <array>

#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

constexpr std::size_t steps_max = 100'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Letters beyond ASCII are those of Greek names.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

Error refused_at(const std::string& where, const Token& at, const std::string& what,
                 const std::string& remedy) {
  return refused(printable(what),
                 where + ':' + std::to_string(at.line) + ':' + std::to_string(at.column), remedy);
}

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::vector<Token> all() {
    std::vector<Token> out;
    do {
      out.push_back(next());
    } while (out.back().kind != Token::Kind::end);
    return out;
  }

 private:
  char at(std::size_t offset) const {
    return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
  }

  bool ends_line() const { return at(0) == '\n' || at(0) == '\r'; }

  void step() {
    if (ends_line() && !(at(0) == '\r' && at(1) == '\n')) {
      ++line_;
      column_ = 0;
    }
    ++column_;
    ++position_;
  }

  void skip_line() {
    while (position_ < text_.size() && !ends_line()) step();
  }

  void skip_blanks() {
    while (position_ < text_.size()) {
      const char c = at(0);
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        step();
      } else if ((c == '/' && at(1) == '/') || c == '#') {  // what stands behind # is a pragma
        skip_line();
      } else if (c == '/' && at(1) == '*') {
        const Token begin{.text = {}, .line = line_, .column = column_};
        const std::size_t end = text_.find("*/", position_ + 2);
        if (end == text_.npos) throw refused_at(where_, begin, "a comment without its end", {});
        while (position_ < end + 2) step();
      } else {
        return;
      }
    }
  }

  void number() {
    const bool has_base = at(0) == '0' && (at(1) == 'x' || at(1) == 'b' || at(1) == 'o');
    if (has_base) {
      while (is_letter(at(0)) || is_digit(at(0))) step();
      return;
    }
    const auto is_exponent = [this](std::size_t back) {
      const char before = text_[position_ - back];
      return before == 'e' || before == 'E';
    };
    while (is_digit(at(0)) || at(0) == '.' || at(0) == 'e' || at(0) == 'E' || at(0) == '_' ||
           ((at(0) == '-' || at(0) == '+') && is_exponent(1))) {
      step();
    }
  }

  void sign() {
    static constexpr std::array<std::string_view, 21> long_signs = {
        "<<=", ">>=", "**=", "->", "==", "!=", "<=", ">=", "&&", "||", "**",
        "<<",  ">>",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    const auto found = std::ranges::find_if(long_signs, [this](std::string_view one) {
      return text_.substr(position_).starts_with(one);
    });
    const std::size_t length = found == long_signs.end() ? 1 : found->size();
    for (std::size_t i = 0; i < length; ++i) step();
  }

  Token next() {
    skip_blanks();
    Token out{.text = {}, .line = line_, .column = column_};
    if (position_ >= text_.size()) return out;
    const std::size_t begin = position_;
    if (is_letter(at(0))) {
      out.kind = Token::Kind::word;
      while (is_letter(at(0)) || is_digit(at(0))) step();
    } else if (is_digit(at(0)) || (at(0) == '.' && is_digit(at(1)))) {
      out.kind = Token::Kind::number;
      number();
    } else if (at(0) == '"') {
      out.kind = Token::Kind::text;
      step();
      while (position_ < text_.size() && at(0) != '"' && at(0) != '\n') step();
      if (at(0) != '"') throw refused_at(where_, out, "a text without its end", {});
      out.text = text_.substr(begin + 1, position_ - begin - 1);
      step();
      return out;
    } else {
      out.kind = Token::Kind::sign;
      sign();
    }
    out.text = text_.substr(begin, position_ - begin);
    return out;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t position_ = 0;
  int line_ = 1, column_ = 1;
};

}  // namespace

Tokens::Tokens(std::string_view text, std::string where) : where_(std::move(where)) {
  all_ = Lexer(text, where_).all();
}

const Token& Tokens::peek(std::size_t ahead) const {
  return all_[std::min(next_ + ahead, all_.size() - 1)];
}

void Tokens::spend(std::size_t steps) {
  spent_ += steps;
  if (spent_ > steps_max) refuse(peek(), "more than 10^8 steps are executed", "write less out");
}

const Token& Tokens::take() {
  spend(1);
  const Token& taken = peek();
  next_ = std::min(next_ + 1, all_.size() - 1);
  return taken;
}

bool Tokens::accept(std::string_view sign) {
  if (peek().kind != Token::Kind::sign || peek().text != sign) return false;
  take();
  return true;
}

void Tokens::expect(std::string_view sign) {
  if (accept(sign)) return;
  const std::string found =
      peek().kind == Token::Kind::end ? "the end of the file" : "'" + peek().text + "'";
  refuse(peek(), "expected '" + std::string(sign) + "', found " + found);
}

Token Tokens::expect_word(std::string_view what) {
  if (peek().kind != Token::Kind::word) {
    refuse(peek(), "expected " + std::string(what) + ", found '" + peek().text + "'");
  }
  return take();
}

void Tokens::skip_statement() {
  for (int depth = 0; peek().kind != Token::Kind::end;) {
    const Token& token = take();
    if (token.kind != Token::Kind::sign) continue;
    if (token.text == "{") ++depth;
    if (token.text == "}") --depth;
    if (depth == 0 && (token.text == ";" || token.text == "}")) return;
  }
  expect("}");
}

void Tokens::refuse(const Token& at, const std::string& what, const std::string& remedy) const {
  throw refused_at(where_, at, what, remedy);
}

}  // namespace halmark::circuit
