#include "circuit/qasm_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::circuit {
namespace {

constexpr int depth_max = 64;
constexpr double whole_max = 9007199254740992.0;  // 2^53: beyond it not every whole number is one

struct Operation {
  std::string_view sign;
  int level;
};
constexpr std::array operations = {Operation{"||", 1}, Operation{"&&", 2}, Operation{"|", 3},
                                   Operation{"^", 4},  Operation{"&", 5},  Operation{"==", 6},
                                   Operation{"!=", 6}, Operation{"<", 7},  Operation{">", 7},
                                   Operation{"<=", 7}, Operation{">=", 7}, Operation{"<<", 8},
                                   Operation{">>", 8}, Operation{"+", 9},  Operation{"-", 9},
                                   Operation{"*", 10}, Operation{"/", 10}, Operation{"%", 10}};

std::int64_t bits_of(double value) {
  return std::fabs(value) < whole_max ? static_cast<std::int64_t>(value) : 0;
}

struct Function {
  std::string_view name;
  double (*of)(double);
};
constexpr std::array functions = {Function{"sin", [](double x) { return std::sin(x); }},
                                  Function{"cos", [](double x) { return std::cos(x); }},
                                  Function{"tan", [](double x) { return std::tan(x); }},
                                  Function{"arcsin", [](double x) { return std::asin(x); }},
                                  Function{"arccos", [](double x) { return std::acos(x); }},
                                  Function{"arctan", [](double x) { return std::atan(x); }},
                                  Function{"asin", [](double x) { return std::asin(x); }},
                                  Function{"acos", [](double x) { return std::acos(x); }},
                                  Function{"atan", [](double x) { return std::atan(x); }},
                                  Function{"exp", [](double x) { return std::exp(x); }},
                                  Function{"ln", [](double x) { return std::log(x); }},
                                  Function{"log", [](double x) { return std::log(x); }},
                                  Function{"sqrt", [](double x) { return std::sqrt(x); }},
                                  Function{"abs", [](double x) { return std::fabs(x); }},
                                  Function{"floor", [](double x) { return std::floor(x); }},
                                  Function{"ceiling", [](double x) { return std::ceil(x); }},
                                  Function{"bool", [](double x) { return x == 0 ? 0.0 : 1.0; }},
                                  Function{"int", [](double x) { return std::trunc(x); }},
                                  Function{"uint", [](double x) { return std::trunc(x); }},
                                  Function{"float", [](double x) { return x; }},
                                  Function{"angle", [](double x) { return x; }}};

struct Constant {
  std::string_view name;
  double value;
};
constexpr std::array constants = {Constant{"pi", std::numbers::pi},
                                  Constant{"\u03c0", std::numbers::pi},
                                  Constant{"tau", 2 * std::numbers::pi},
                                  Constant{"\u03c4", 2 * std::numbers::pi},
                                  Constant{"euler", std::numbers::e},
                                  Constant{"\u2107", std::numbers::e},
                                  Constant{"true", 1},
                                  Constant{"false", 0}};

bool is_integer(std::string_view type) { return type == "int" || type == "uint"; }

double of_bits(std::string_view sign, double a, double b) {
  const std::int64_t x = bits_of(a), y = bits_of(b);
  if (sign == "|") return as_double(x | y);
  if (sign == "^") return as_double(x ^ y);
  if (sign == "&") return as_double(x & y);
  const bool fits = y >= 0 && y < 64;
  return fits ? (sign == "<<" ? std::ldexp(a, static_cast<int>(y)) : as_double(x >> y)) : 0;
}

}  // namespace

double stored_as(const Value& as, double value) {
  if (as.type == "bool") return value == 0 ? 0 : 1;
  if (!is_integer(as.type)) return value;
  value = std::trunc(value);
  if (as.width == 0 || as.width > 52) return value;
  const double all = std::ldexp(1.0, static_cast<int>(as.width));
  value -= all * std::floor(value / all);
  return as.type == "int" && value >= all / 2 ? value - all : value;
}

double combined(std::string_view sign, double a, double b) {
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (sign == "/") return a / b;
  if (sign == "%") return std::fmod(a, b);
  if (sign == "**") return std::pow(a, b);
  if (sign == "||") return a != 0 || b != 0 ? 1 : 0;
  if (sign == "&&") return a != 0 && b != 0 ? 1 : 0;
  if (sign == "==") return a == b ? 1 : 0;
  if (sign == "!=") return a != b ? 1 : 0;
  if (sign == "<") return a < b ? 1 : 0;
  if (sign == ">") return a > b ? 1 : 0;
  if (sign == "<=") return a <= b ? 1 : 0;
  if (sign == ">=") return a >= b ? 1 : 0;
  return of_bits(sign, a, b);
}

Value* Scopes::find(const std::string& name) {
  for (std::size_t i = all_.size(); i-- > visible_from_;) {
    if (const auto found = all_[i].find(name); found != all_[i].end()) return &found->second;
  }
  if (visible_from_ == 0) return nullptr;
  const auto found = all_[0].find(name);
  const bool is_number = found != all_[0].end() && found->second.kind == Value::Kind::number;
  return is_number ? &found->second : nullptr;
}

std::size_t Scopes::enter_gate() {
  const std::size_t outer = visible_from_;
  visible_from_ = all_.size();
  open();
  return outer;
}

void Scopes::leave_gate(std::size_t outer) {
  all_.resize(visible_from_);
  visible_from_ = outer;
}

std::vector<std::string> Scopes::names(Value::Kind kind) const {
  std::vector<std::string> out;
  for (std::size_t i = visible_from_; i < all_.size(); ++i) {
    for (const auto& [name, value] : all_[i]) {
      if (value.kind == kind) out.push_back(name);
    }
  }
  return out;
}

double Expressions::number(int depth, int least) {
  double value = unary(depth);
  while (tokens_.peek().kind == Token::Kind::sign) {
    const auto found = std::ranges::find(operations, tokens_.peek().text, &Operation::sign);
    if (found == operations.end() || found->level < least) break;
    if (is_version_2_ && found->sign == "^") break;
    tokens_.take();
    const Integer left = integer_;
    value = combined(found->sign, value, number(depth, found->level + 1));
    integer_ = found->level <= 8 ? Integer::typed : of_both(left);
    if (found->sign == "/" && integer_ == Integer::typed) value = std::trunc(value);
  }
  return value;
}

Expressions::Integer Expressions::of_both(Integer left) const {
  return std::min(left, integer_) == Integer::no ? Integer::no : std::max(left, integer_);
}

double Expressions::angle() {
  const Token at = tokens_.peek();
  const double value = number();
  if (!std::isfinite(value)) tokens_.refuse(at, "an angle that is no finite number");
  return value;
}

std::int64_t Expressions::whole(std::int64_t low, std::int64_t high) {
  const Token at = tokens_.peek();
  const std::size_t begin = tokens_.at();
  const double value = number();
  if (value == std::floor(value) && value >= as_double(low) && value <= as_double(high)) {
    return static_cast<std::int64_t>(value);
  }
  tokens_.refuse(at, "expected an integer in " + std::to_string(low) + ".." + std::to_string(high) +
                         ", found '" + (tokens_.at() == begin + 1 ? at.text : number_text(value)) +
                         "'");
}

double Expressions::unary(int depth) {
  const Token token = tokens_.take();
  if (depth > depth_max) {
    tokens_.refuse(token, "more than 64 brackets or signs in one another");
  }
  if (token.text == "-" && token.kind == Token::Kind::sign) return -unary(depth + 1);
  if (token.text == "+" && token.kind == Token::Kind::sign) return unary(depth + 1);
  if (token.text == "!") return unary(depth + 1) == 0 ? 1 : 0;
  if (token.text == "~") return as_double(~bits_of(unary(depth + 1)));
  const double value = primary(token, depth);
  if (tokens_.accept("**") || (is_version_2_ && tokens_.accept("^"))) {
    const Integer left = integer_;
    const double power = unary(depth + 1);
    integer_ = of_both(left);
    return std::pow(value, power);
  }
  return value;
}

double Expressions::primary(const Token& token, int depth) {
  if (token.text == "(" && token.kind == Token::Kind::sign) {
    const double value = number(depth + 1);
    tokens_.expect(")");
    return value;
  }
  if (token.kind != Token::Kind::word) return literal(token);
  const auto constant = std::ranges::find(constants, token.text, &Constant::name);
  if (constant != constants.end()) {
    integer_ = Integer::no;
    return constant->value;
  }
  const bool is_called = tokens_.peek().text == "(" || tokens_.peek().text == "[";
  return is_called && scopes_.find(token.text) == nullptr ? call(token, depth) : variable(token);
}

double Expressions::call(const Token& name, int depth) {
  Value as{.type = name.text};
  if (tokens_.accept("[")) {  // of a cast
    as.width = whole(1, 1 << 20);
    tokens_.expect("]");
  }
  tokens_.expect("(");
  const double first = number(depth + 1);
  const bool is_pow = name.text == "pow" || name.text == "mod";
  if (is_pow) {
    tokens_.expect(",");
    const double second = number(depth + 1);
    tokens_.expect(")");
    integer_ = Integer::no;
    return name.text == "pow" ? std::pow(first, second) : std::fmod(first, second);
  }
  tokens_.expect(")");
  const auto found = std::ranges::find(functions, name.text, &Function::name);
  if (found == functions.end())
    tokens_.refuse(name, "no function has the name '" + name.text + "'");
  integer_ = is_integer(name.text) ? Integer::typed : Integer::no;
  return stored_as(as, found->of(first));
}

double Expressions::literal(const Token& token) {
  std::string digits = token.text;
  std::erase(digits, '_');
  const auto refuse = [&] {
    tokens_.refuse(token, "expected a number or pi, found '" + token.text + "'");
  };
  if (token.kind != Token::Kind::number) refuse();
  if (digits.size() > 2 && digits[0] == '0' && std::string_view("xbo").find(digits[1]) < 3) {
    const int base = digits[1] == 'x' ? 16 : digits[1] == 'b' ? 2 : 8;
    std::int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data() + 2, end, value, base);
    if (read.ptr != end || read.ec != std::errc{}) refuse();
    integer_ = Integer::written;
    return as_double(value);
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  if (read.ptr != end || read.ec != std::errc{}) refuse();
  integer_ = digits.find_first_of(".eE") == digits.npos ? Integer::written : Integer::no;
  return value;
}

double Expressions::variable(const Token& token) {
  const Value* found = scopes_.find(token.text);
  if (found != nullptr && found->kind == Value::Kind::bits) {
    tokens_.refuse(token, "not read: '" + token.text + "', which depends on a measurement",
                   "only measurements at the end are read");
  }
  if (found == nullptr || found->kind != Value::Kind::number) {
    tokens_.refuse(token, "expected a number or pi, found '" + token.text + "'");
  }
  const double value = found->number;
  const Integer integer = is_integer(found->type) ? Integer::typed : Integer::no;
  if (!tokens_.accept("[")) {
    integer_ = integer;
    return value;
  }
  const auto bit = static_cast<unsigned>(whole(0, 52));  // of an integer
  tokens_.expect("]");
  integer_ = integer;
  return as_double(bits_of(value) >> bit & 1);
}

}  // namespace halmark::circuit
