// What names stand for while a text is read: registers, declared one behind the other, named whole,
// by element, slice or list of elements; numbers; other names of qubits.
#pragma once

#include <cstdint>
#include <vector>

#include "circuit/circuit.hpp"
#include "circuit/qasm_values.hpp"

namespace halmark::circuit {

// int, uint, float, angle, bool.
bool is_number_type(std::string_view word);

class Registers {
 public:
  Registers(Tokens& tokens, Scopes& scopes, Expressions& values, Circuit& circuit)
      : tokens_(tokens), scopes_(scopes), values_(values), circuit_(circuit) {}

  void require_new(const Token& name) const;
  // "n]" of a width or size.
  std::int64_t size();
  void declare(const Token& name, Value::Kind kind, std::int64_t size);
  void variable(const Token& word);  // "const int[32] n = 3", "uint[4] a = 1"
  void assign(const Token& name);    // "= 3", "<<= 1"
  void alias();                      // "let pair = q[0:1] ++ q[3]"
  // The places that the next words name.
  std::vector<int> operand(Value::Kind kind);
  std::vector<int> operand_of(const Token& name, Value::Kind kind);
  // "[first : step : last]" or "{a, b}" of a loop.
  std::vector<double> range();

 private:
  std::int64_t index(std::int64_t size);
  std::vector<std::int64_t> indices(std::int64_t size);
  std::vector<std::int64_t> slice(std::int64_t first, std::int64_t size);

  Tokens& tokens_;
  Scopes& scopes_;
  Expressions& values_;
  Circuit& circuit_;
};

}  // namespace halmark::circuit
