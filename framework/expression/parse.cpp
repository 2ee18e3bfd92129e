#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "expression/functions.hpp"
#include "expression/lexer.hpp"
#include "expression/node.hpp"

namespace halmark {
namespace {

constexpr int depth_max = 200;

class Parser {
 public:
  using Node = Expression::Node;

  Parser(std::string_view text, std::span<const std::string> names,
         const std::map<std::string, ParamValue>& facts, const std::string& where)
      : names_(names), facts_(facts), lexer_(text, where) {
    next();
  }

  Node whole() {
    Node out = disjunction();
    if (token_.kind != Token::Kind::end) fail("'" + token_.text + "' is not expected here");
    return out;
  }

  std::vector<std::size_t> parameters() && {
    std::ranges::sort(used_);
    used_.erase(std::ranges::unique(used_).begin(), used_.end());
    return std::move(used_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::string remedy = {}) const {
    lexer_.fail(token_, what, std::move(remedy));
  }

  void next() { token_ = lexer_.next(); }

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
    for (const Function& f : functions()) {
      if (f.name == name) return call(f);
    }
    if (const auto* fact = find_value(facts_, name)) {
      return take(constant_node(*fact));
    }
    const auto it = std::ranges::find(names_, name);
    if (it == names_.end()) {
      std::vector<std::string> known(names_.begin(), names_.end());
      for (const auto& [fact, value] : facts_) known.push_back(fact);
      fail("'" + name + "' is no parameter, fact or function", suggestion(name, known));
    }
    Node out = node(Verb::parameter);
    out.parameter = as_size(it - names_.begin());
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

  std::span<const std::string> names_;
  const std::map<std::string, ParamValue>& facts_;
  Lexer lexer_;
  int depth_ = 0;
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

}  // namespace halmark
