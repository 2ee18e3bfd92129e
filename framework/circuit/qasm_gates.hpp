// Uses of gates while a text is read: those of the library and of the file, with modifiers, applied
// to registers element by element. Refuses what cannot be in a circuit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "circuit/circuit.hpp"
#include "circuit/qasm_values.hpp"

namespace halmark::circuit {

struct Modifier {
  enum class Kind { control, negative_control, inverse, power };
  Kind kind = Kind::inverse;
  double number = 1;  // of controls, or the power
};

// `gate name(parameters) qubits { ... }` of a file.
struct GateDefinition {
  std::vector<std::string> parameters, qubits;
  std::size_t body = 0;  // the token behind its '{'
};

// One use with the qubits that it stands on.
struct GateCall {
  Token at;
  std::vector<double> angles;
  std::vector<Modifier> modifiers;
  std::vector<std::vector<int>> operands;
};

// What executes the body of a definition: the reader of statements.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  virtual void read_body(const GateDefinition& definition) = 0;
};

class GateUses {
 public:
  GateUses(Tokens& tokens, Scopes& scopes, BodyReader& bodies)
      : tokens_(tokens), scopes_(scopes), bodies_(bodies) {}

  void define(const Token& name, GateDefinition definition);
  void require_known(const Token& name) const;
  void use(const GateCall& call);
  void measure(int qubit) { flag(measured_, qubit) = true; }
  bool is_in_body() const { return into_ != nullptr; }
  bool is_used(int qubit) { return flag(touched_, qubit) || flag(measured_, qubit); }
  std::vector<GateUse> take() { return std::move(gates_); }

 private:
  using Gates = std::vector<GateUse>;
  void check_shape(const GateCall& call) const;
  Gates modified(const GateCall& call, const std::vector<int>& qubits);
  Gates plain(const Token& name, const std::vector<double>& angles, const std::vector<int>& qubits);
  Gates raised(const GateCall& call, const Gates& gates, double power) const;
  void add(const Token& at, GateUse gate);
  static std::vector<bool>::reference flag(std::vector<bool>& flags, int qubit) {
    const auto at = static_cast<std::size_t>(qubit);
    if (flags.size() <= at) flags.resize(at + 1);
    return flags[at];
  }

  Tokens& tokens_;
  Scopes& scopes_;
  BodyReader& bodies_;
  std::map<std::string, GateDefinition> definitions_;
  Gates gates_;
  Gates* into_ = nullptr;  // of a body: where its gates are collected
  int depth_ = 0;
  std::vector<bool> measured_, touched_;
};

}  // namespace halmark::circuit
