#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/text/error.hpp"
#include "expression/language.hpp"
#include "expression/node.hpp"

namespace halmark {
namespace {

constexpr int depth_max = 200;

struct Token {
  enum class Kind { end, integer, real, text, word, sign } kind = Kind::end;
  std::string text;
  int line = 1, column = 1;
};

struct Function {
  std::string_view name;
  Verb verb;
  std::size_t arguments_min, arguments_max;
  std::string_view meaning, example;
};

constexpr Function functions[] = {
    {"min", Verb::minimum, 2, 16, "the least of 2 to 16 numbers", "min(tp, 2) == 2"},
    {"max", Verb::maximum, 2, 16, "the greatest of 2 to 16 numbers", "max(tp, 2) == 4"},
    {"ceil_div", Verb::ceil_div, 2, 2, "quotient of two integers, rounded up",
     "ceil_div(7, 2) == 4"},
    {"divides", Verb::divides, 2, 2, "whether the first integer divides the second",
     "divides(tp, 8)"},
    {"is_pow2", Verb::is_power_of_two, 1, 1, "whether an integer is a power of two", "is_pow2(tp)"},
    {"log2", Verb::log2, 1, 1, "logarithm to base two of a positive number", "log2(tp) == 2"},
};

class Parser {
 public:
  using Node = Expression::Node;

  Parser(std::string_view text, std::span<const std::string> names,
         const std::map<std::string, ParamValue>& facts, const std::string& where)
      : text_(text), names_(names), facts_(facts), where_(where) {
    next();
  }

  Node whole() {
    Node out = disjunction();
    if (token_.kind != Token::Kind::end) fail("'" + token_.text + "' is not expected here");
    return out;
  }

  std::vector<std::size_t> parameters() && {
    std::ranges::sort(used_);
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    return std::move(used_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::string remedy = {}) const {
    throw refused(what,
                  where_ + (where_.empty() ? "expression:" : ": expression:") +
                      std::to_string(token_.line) + ':' + std::to_string(token_.column),
                  std::move(remedy));
  }

  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
    ++at_;
  }

  bool take_while(auto belongs) {
    const std::size_t start = at_;
    while (at_ < text_.size() && belongs(text_[at_])) {
      token_.text += text_[at_];
      advance();
    }
    return at_ > start;
  }

  void next() {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    while (at_ < text_.size() && is_space(text_[at_])) advance();
    token_ = {.kind = Token::Kind::end, .text = {}, .line = line_, .column = column_};
    if (at_ == text_.size()) {
      token_.text = "the end";
      return;
    }
    const char c = text_[at_];
    if (is_digit(c)) {
      token_.kind = Token::Kind::integer;
      take_while(is_digit);
      if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E')) {
        token_.kind = Token::Kind::real;
        char last = ' ';
        take_while([&](char x) {
          const bool belongs = is_digit(x) || x == '.' || x == 'e' || x == 'E' ||
                               ((x == '+' || x == '-') && (last == 'e' || last == 'E'));
          last = x;
          return belongs;
        });
      }
    } else if (is_letter(c)) {
      token_.kind = Token::Kind::word;
      take_while([&](char x) { return is_letter(x) || is_digit(x) || x == '.'; });
    } else if (c == '\'' || c == '"') {
      token_.kind = Token::Kind::text;
      advance();
      take_while([&](char x) { return x != c; });
      if (at_ == text_.size()) fail("the string is not closed");
      advance();
    } else {
      token_.kind = Token::Kind::sign;
      static constexpr std::string_view pairs[] = {"//", "<=", ">=", "==", "!="};
      const std::string_view two = text_.substr(at_, 2);
      const bool is_pair = std::ranges::find(pairs, two) != std::end(pairs);
      if (!is_pair && std::string_view("+-*/%<>(){},").find(c) == std::string_view::npos) {
        fail(std::string("'") + printable(std::string_view(&c, 1)) + "' means nothing here",
             c == '=' ? "equality is ==" : "");
      }
      for (std::size_t i = 0; i < (is_pair ? 2u : 1u); ++i) {
        token_.text += text_[at_];
        advance();
      }
    }
  }

  bool is_sign(std::string_view sign) const {
    return token_.kind == Token::Kind::sign && token_.text == sign;
  }
  bool is_word(std::string_view word) const {
    return token_.kind == Token::Kind::word && token_.text == word;
  }
  void expect(std::string_view sign) {
    if (!is_sign(sign)) fail("expected '" + std::string(sign) + "', found '" + token_.text + "'");
    next();
  }
  Node node(Verb verb) const {
    return {.verb = verb, .line = token_.line, .column = token_.column};
  }
  static Node join(Node head, Node left, Node right) {
    head.arms.push_back(std::move(left));
    head.arms.push_back(std::move(right));
    return head;
  }

  Node disjunction() {
    if (++depth_ > depth_max) fail("the expression is nested too deeply");
    Node out = conjunction();
    while (is_word("or")) {
      Node head = node(Verb::logical_or);
      next();
      out = join(std::move(head), std::move(out), conjunction());
    }
    --depth_;
    return out;
  }

  Node conjunction() {
    Node out = inversion();
    while (is_word("and")) {
      Node head = node(Verb::logical_and);
      next();
      out = join(std::move(head), std::move(out), inversion());
    }
    return out;
  }

  Node inversion() {
    if (!is_word("not")) return comparison();
    if (++depth_ > depth_max) fail("the expression is nested too deeply");
    Node out = node(Verb::logical_not);
    next();
    out.arms.push_back(inversion());
    --depth_;
    return out;
  }

  std::optional<Verb> comparison_verb() const {
    static constexpr std::pair<std::string_view, Verb> verbs[] = {
        {"<", Verb::less},           {"<=", Verb::less_equal}, {">", Verb::greater},
        {">=", Verb::greater_equal}, {"==", Verb::equal},      {"!=", Verb::not_equal}};
    if (token_.kind != Token::Kind::sign) return std::nullopt;
    for (const auto& [sign, verb] : verbs) {
      if (token_.text == sign) return verb;
    }
    return std::nullopt;
  }

  // a < b < c is (a < b) and (b < c).
  Node comparison() {
    Node left = sum();
    if (is_word("in")) return membership(std::move(left));
    std::optional<Node> out;
    while (const auto verb = comparison_verb()) {
      Node head = node(*verb), glue = node(Verb::logical_and);
      next();
      Node right = sum();
      Node link = join(std::move(head), std::move(left), right);
      out = out ? join(std::move(glue), std::move(*out), std::move(link)) : std::move(link);
      left = std::move(right);
    }
    return out ? std::move(*out) : std::move(left);
  }

  Node membership(Node value) {
    Node out = node(Verb::is_in);
    next();
    out.arms.push_back(std::move(value));
    expect("{");
    while (true) {
      out.arms.push_back(sum());
      if (!is_sign(",")) break;
      next();
    }
    expect("}");
    return out;
  }

  Node sum() {
    Node out = product();
    while (is_sign("+") || is_sign("-")) {
      Node head = node(is_sign("+") ? Verb::add : Verb::subtract);
      next();
      out = join(std::move(head), std::move(out), product());
    }
    return out;
  }

  Node product() {
    Node out = factor();
    while (is_sign("*") || is_sign("/") || is_sign("//") || is_sign("%")) {
      Node head = node(is_sign("*")    ? Verb::multiply
                       : is_sign("/")  ? Verb::divide
                       : is_sign("//") ? Verb::floor_divide
                                       : Verb::modulo);
      next();
      out = join(std::move(head), std::move(out), factor());
    }
    return out;
  }

  Node factor() {
    if (!is_sign("-")) return atom();
    if (++depth_ > depth_max) fail("the expression is nested too deeply");
    Node out = node(Verb::negate);
    next();
    out.arms.push_back(factor());
    --depth_;
    return out;
  }

  Node constant_node(const ParamValue& value) const {
    Node out = node(Verb::constant);
    if (const auto* text = std::get_if<std::string>(&value)) {
      out.text = *text;
      out.constant.kind = Operand::Kind::text;
    } else {
      out.constant = Operand::of(value);
    }
    return out;
  }

  Node atom() {
    switch (token_.kind) {
      case Token::Kind::integer: {
        std::int64_t value = 0;
        const auto& t = token_.text;
        if (std::from_chars(t.data(), t.data() + t.size(), value).ec != std::errc()) {
          fail("the integer " + t + " does not fit in 64 bits");
        }
        return take(constant_node(value));
      }
      case Token::Kind::real: {
        double value = 0;
        const auto& t = token_.text;
        const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), value);
        if (error != std::errc() || end != t.data() + t.size() || !std::isfinite(value)) {
          fail("'" + t + "' is not a number");
        }
        return take(constant_node(value));
      }
      case Token::Kind::text:
        return take(constant_node(token_.text));
      case Token::Kind::word:
        return word();
      default:
        break;
    }
    if (!is_sign("(")) fail("a value is missing before '" + token_.text + "'");
    next();
    Node out = disjunction();
    expect(")");
    return out;
  }

  Node take(Node out) {
    next();
    return out;
  }

  Node word() {
    const std::string name = token_.text;
    if (name == "true" || name == "false") return take(constant_node(name == "true"));
    if (name == "null") return take(constant_node(nullptr));
    for (const Function& f : functions) {
      if (f.name == name) return call(f);
    }
    if (const auto fact = facts_.find(name); fact != facts_.end()) {
      return take(constant_node(fact->second));
    }
    const auto it = std::ranges::find(names_, name);
    if (it == names_.end()) {
      std::vector<std::string> known(names_.begin(), names_.end());
      for (const auto& [fact, value] : facts_) known.push_back(fact);
      fail("'" + name + "' is no parameter, fact or function", suggestion(name, known));
    }
    Node out = node(Verb::parameter);
    out.parameter = static_cast<std::size_t>(it - names_.begin());
    used_.push_back(out.parameter);
    return take(std::move(out));
  }

  Node call(const Function& f) {
    Node out = node(f.verb);
    next();
    expect("(");
    while (true) {
      out.arms.push_back(disjunction());
      if (!is_sign(",")) break;
      next();
    }
    if (out.arms.size() < f.arguments_min || out.arms.size() > f.arguments_max) {
      fail(std::string(f.name) + " takes " + std::to_string(f.arguments_min) +
           (f.arguments_max > f.arguments_min ? " or more values, not " : " value(s), not ") +
           std::to_string(out.arms.size()));
    }
    expect(")");
    return out;
  }

  std::string_view text_;
  std::span<const std::string> names_;
  const std::map<std::string, ParamValue>& facts_;
  const std::string& where_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1, depth_ = 0;
  Token token_{};
  std::vector<std::size_t> used_;
};

// Views of constants point into the nodes, which move while the tree is built.
void point_texts(Expression::Node& node) {
  if (node.constant.kind == Operand::Kind::text) node.constant.text = node.text;
  for (auto& arm : node.arms) point_texts(arm);
}

}  // namespace

Expression::Expression(std::string_view text, std::span<const std::string> names,
                       const std::map<std::string, ParamValue>& facts, const std::string& where)
    : text_(text), where_(where) {
  Parser parser(text_, names, facts, where_);
  root_ = std::make_unique<Node>(parser.whole());
  point_texts(*root_);
  parameters_ = std::move(parser).parameters();
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

std::vector<LanguageWord> expression_functions() {
  std::vector<LanguageWord> out;
  for (const Function& f : functions) out.push_back({f.name, f.meaning, f.example});
  return out;
}

}  // namespace halmark
