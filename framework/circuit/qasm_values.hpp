// Names and expressions of OpenQASM: constants, loop variables, registers, and numbers computed of
// them. What a measurement gives has no value here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "circuit/qasm_tokens.hpp"

namespace halmark::circuit {

struct Value {
  enum class Kind { number, qubits, bits };
  Kind kind = Kind::number;
  double number = 0;
  std::string type = {};      // of a number: "int", "uint", "bool" and "float" are kept apart
  std::vector<int> places{};  // of qubits or bits, in the circuit
  std::int64_t width = 0;     // of "int" and "uint" in bits; 0 = not stated
};

// Blocks within blocks; the body of a gate sees its own names and the constants of the file.
class Scopes {
 public:
  Value* find(const std::string& name);
  bool is_here(const std::string& name) const { return all_.back().contains(name); }
  void declare(const std::string& name, Value value) { all_.back()[name] = std::move(value); }
  void open() { all_.emplace_back(); }
  void close() { all_.pop_back(); }
  std::size_t enter_gate();  // what leave_gate takes
  void leave_gate(std::size_t outer);
  std::vector<std::string> names(Value::Kind kind) const;

 private:
  std::vector<std::map<std::string, Value>> all_{1};
  std::size_t visible_from_ = 0;
};

class Expressions {
 public:
  Expressions(Tokens& tokens, Scopes& scopes) : tokens_(tokens), scopes_(scopes) {}
  void be_of_version_2() { is_version_2_ = true; }

  double number(int depth = 0, int least = 0);
  double angle();  // a finite number
  // Refuses anything outside of low..high, and what is no whole number.
  std::int64_t whole(std::int64_t low, std::int64_t high);

 private:
  enum class Integer { no, written, typed };

  Integer of_both(Integer left) const;
  double unary(int depth);
  double primary(const Token& token, int depth);
  double call(const Token& name, int depth);
  double literal(const Token& token);
  double variable(const Token& token);

  Tokens& tokens_;
  Scopes& scopes_;
  bool is_version_2_ = false;
  // Of what was read last. What is written as an integer divides as a number; variables truncate.
  Integer integer_ = Integer::no;
};

// `value` as a variable of the type and width of `as` holds it.
double stored_as(const Value& as, double value);
// What "x OP= y" leaves in x; `sign` without its "=".
double combined(std::string_view sign, double a, double b);

}  // namespace halmark::circuit
