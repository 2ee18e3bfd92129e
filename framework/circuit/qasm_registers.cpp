#include "circuit/qasm_registers.hpp"

#include <cmath>

#include "circuit/qasm.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

constexpr double range_max = 1e6;

}  // namespace

bool is_number_type(std::string_view word) {
  return word == "int" || word == "uint" || word == "float" || word == "angle" || word == "bool";
}

std::int64_t Registers::size() {
  const std::int64_t value = values_.whole(1, circuit_qubits_max);
  tokens_.expect("]");
  return value;
}

void Registers::require_new(const Token& name) const {
  if (scopes_.is_here(name.text)) {
    tokens_.refuse(name, "'" + name.text + "' is there already");
  }
}

void Registers::declare(const Token& name, Value::Kind kind, std::int64_t size) {
  int& total = kind == Value::Kind::qubits ? circuit_.qubits : circuit_.bits;
  require_new(name);
  if (total + size > circuit_qubits_max) {
    tokens_.refuse(name, "more than " + std::to_string(circuit_qubits_max) + " qubits or bits");
  }
  Value value{.kind = kind};
  for (std::int64_t i = 0; i < size; ++i) value.places.push_back(total++);
  scopes_.declare(name.text, std::move(value));
}

std::vector<double> Registers::range() {
  std::vector<double> out;
  if (tokens_.accept("{")) {
    do {
      out.push_back(values_.number());
    } while (tokens_.accept(","));
    tokens_.expect("}");
    return out;
  }
  const Token at = tokens_.peek();
  tokens_.expect("[");
  const double first = values_.number();
  tokens_.expect(":");
  double last = values_.number(), step = 1;
  if (tokens_.accept(":")) {
    step = last;
    last = values_.number();
  }
  tokens_.expect("]");
  const double count = std::floor((last - first) / step) + 1;
  if (step == 0 || !(count <= range_max)) tokens_.refuse(at, "a range of more than 10^6 values");
  if (count < 1) return out;
  tokens_.spend(as_size(count));
  for (int i = 0; i < static_cast<int>(count); ++i) out.push_back(first + step * i);
  return out;
}

// `const int[32] n = 3;`, `uint[4] a = 1;`
void Registers::variable(const Token& word) {
  const Token type = word.text == "const" ? tokens_.expect_word("a type") : word;
  if (!is_number_type(type.text)) {
    tokens_.refuse(type, "not read: a constant of type '" + type.text + "'",
                   "write the circuit out");
  }
  Value out{.type = type.text, .width = tokens_.accept("[") ? size() : 0};
  const Token name = tokens_.expect_word("a name");
  require_new(name);
  if (tokens_.accept("=")) out.number = stored_as(out, values_.number());
  scopes_.declare(name.text, std::move(out));
}

void Registers::assign(const Token& name) {
  const Token sign = tokens_.take();
  double value = values_.number();
  Value& to = *scopes_.find(name.text);
  if (sign.text != "=") {
    value = combined(std::string_view(sign.text).substr(0, sign.text.size() - 1), to.number, value);
  }
  to.number = stored_as(to, value);
}

void Registers::alias() {
  const Token name = tokens_.expect_word("a name");
  require_new(name);
  tokens_.expect("=");
  Value value{.kind = Value::Kind::qubits};
  std::vector<bool> is_there(as_size(circuit_.qubits));
  for (bool goes_on = true; goes_on; goes_on = tokens_.accept("+")) {
    if (!value.places.empty()) tokens_.expect("+");
    for (const int qubit : operand(Value::Kind::qubits)) {
      auto seen = is_there[as_size(qubit)];
      if (seen) tokens_.refuse(name, "the same qubit twice in '" + name.text + "'");
      seen = true;
      value.places.push_back(qubit);
    }
  }
  scopes_.declare(name.text, std::move(value));
}

// A register, one element of it, or a slice.
std::vector<int> Registers::operand(Value::Kind kind) {
  const Token name = tokens_.peek();
  if (name.text == "$")
    tokens_.refuse(name, "not read: '$', a qubit of one device", "name a register");
  return operand_of(tokens_.expect_word("a register"), kind);
}

std::vector<int> Registers::operand_of(const Token& name, Value::Kind kind) {
  const Value* found = scopes_.find(name.text);
  if (found != nullptr && found->kind == Value::Kind::number && kind == Value::Kind::bits) {
    tokens_.refuse(name, "not read: a measurement into '" + name.text + "', which is no bit",
                   "measure into bits, at the end");
  }
  if (found == nullptr || found->kind != kind) {
    tokens_.refuse(name,
                   std::string("no register of ") +
                       (kind == Value::Kind::qubits ? "qubits" : "bits") + " has the name '" +
                       name.text + "'",
                   suggestion(name.text, scopes_.names(kind)));
  }
  const std::vector<int> places = found->places;
  tokens_.spend(places.size());
  if (!tokens_.accept("[")) return places;
  std::vector<int> out;
  for (const std::int64_t index : indices(std::ssize(places))) {
    out.push_back(places[as_size(index)]);
  }
  tokens_.expect("]");
  return out;
}

// Of 0..size-1; what is negative counts from the end.
std::int64_t Registers::index(std::int64_t size) {
  const Token at = tokens_.peek();
  if (at.text != "-") return values_.whole(0, size - 1);
  const std::int64_t value = values_.whole(-size, size - 1);
  return value < 0 ? value + size : value;
}

std::vector<std::int64_t> Registers::indices(std::int64_t size) {
  std::vector<std::int64_t> out;
  if (tokens_.accept("{")) {
    do {
      out.push_back(index(size));
    } while (tokens_.accept(","));
    tokens_.expect("}");
    return out;
  }
  const std::int64_t first = tokens_.peek().text == ":" ? 0 : index(size);
  if (!tokens_.accept(":")) return {first};
  return slice(first, size);
}

// Behind "first:"; of two further figures the first is the step.
std::vector<std::int64_t> Registers::slice(std::int64_t first, std::int64_t size) {
  std::vector<std::int64_t> out;
  std::int64_t step = 1;
  std::int64_t last = tokens_.peek().text == "]" ? size - 1 : 0;
  if (tokens_.peek().text != "]") {
    const std::size_t here = tokens_.at();
    values_.number();  // is it the step?
    const bool is_step = tokens_.peek().text == ":";
    tokens_.go_to(here);
    if (is_step) {
      step = values_.whole(-size, size);
      tokens_.expect(":");
    }
    last = tokens_.peek().text == "]" ? (step < 0 ? 0 : size - 1) : index(size);
  }
  if (step == 0) tokens_.refuse(tokens_.peek(), "a slice with a step of 0");
  for (std::int64_t i = first; step > 0 ? i <= last : i >= last; i += step) out.push_back(i);
  return out;
}

}  // namespace halmark::circuit
