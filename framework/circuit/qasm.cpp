#include "circuit/qasm.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>

#include "circuit/qasm_tokens.hpp"
#include "core/input/input_file.hpp"
#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

struct Register {
  bool is_quantum = true;
  int begin = 0, size = 1;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : tokens_(text, where) {}

  Circuit circuit() {
    header();
    while (tokens_.peek().kind != Token::Kind::end) statement();
    if (circuit_.qubits == 0) tokens_.refuse(tokens_.peek(), "a circuit without a qubit");
    return std::move(circuit_);
  }

 private:
  void header() {
    const Token first = tokens_.peek();
    if (first.text != "OPENQASM") return;  // optional in version 3
    tokens_.take();
    const Token version = tokens_.take();
    if (version.text != "2.0" && version.text != "2" && !version.text.starts_with("3")) {
      tokens_.refuse(version, "OpenQASM " + version.text + " is not read", "2.0 and 3 are");
    }
    tokens_.expect(";");
  }

  void statement() {
    const Token word = tokens_.peek();
    if (word.kind != Token::Kind::word) {
      tokens_.refuse(word, "expected a statement, found '" + word.text + "'");
    }
    tokens_.take();
    if (word.text == "include") {
      include();
    } else if (word.text == "qreg" || word.text == "creg") {
      const Token name = tokens_.expect_word("the name of a register");
      tokens_.expect("[");
      declare(name, word.text == "qreg", size());
    } else if (word.text == "qubit" || word.text == "bit") {
      const std::int64_t count = tokens_.accept("[") ? size() : 1;
      declare(tokens_.expect_word("the name of a register"), word.text == "qubit", count);
    } else if (word.text == "barrier") {
      while (!tokens_.accept(";")) {
        if (tokens_.peek().kind == Token::Kind::end) tokens_.expect(";");
        tokens_.take();
      }
      return;
    } else if (word.text == "measure") {
      const auto from = operand(true);
      tokens_.expect("->");
      measure(word, from, operand(false));
    } else if (registers_.contains(word.text)) {
      const auto to = operand_of(word, false);
      tokens_.expect("=");
      const Token verb = tokens_.expect_word("'measure'");
      if (verb.text != "measure") tokens_.refuse(verb, "only 'measure' may stand behind '='");
      measure(word, operand(true), to);
    } else {
      use(word);
    }
    tokens_.expect(";");
  }

  void include() {
    const Token file = tokens_.take();
    if (file.text != "qelib1.inc" && file.text != "stdgates.inc") {
      tokens_.refuse(file, "cannot include '" + file.text + "'",
                     "the gates of qelib1.inc and stdgates.inc are known");
    }
  }

  std::int64_t integer(std::int64_t low, std::int64_t high) {
    const Token number = tokens_.take();
    std::int64_t value = 0;
    const char* end = number.text.data() + number.text.size();
    const auto read = std::from_chars(number.text.data(), end, value);
    if (number.kind != Token::Kind::number || read.ptr != end || read.ec != std::errc{} ||
        value < low || value > high) {
      tokens_.refuse(number, "expected an integer in " + std::to_string(low) + ".." +
                                 std::to_string(high) + ", found '" + number.text + "'");
    }
    return value;
  }

  std::int64_t size() {
    const std::int64_t value = integer(1, circuit_qubits_max);
    tokens_.expect("]");
    return value;
  }

  void declare(const Token& name, bool is_quantum, std::int64_t size) {
    int& total = is_quantum ? circuit_.qubits : circuit_.bits;
    if (registers_.contains(name.text))
      tokens_.refuse(name, "'" + name.text + "' is there already");
    if (total + size > circuit_qubits_max) {
      tokens_.refuse(name, "more than " + std::to_string(circuit_qubits_max) + " qubits or bits");
    }
    registers_[name.text] = {is_quantum, total, static_cast<int>(size)};
    total += static_cast<int>(size);
  }

  // A register or one element of it.
  std::vector<int> operand(bool is_quantum) {
    return operand_of(tokens_.expect_word("a register"), is_quantum);
  }
  std::vector<int> operand_of(const Token& name, bool is_quantum) {
    const auto found = registers_.find(name.text);
    if (found == registers_.end() || found->second.is_quantum != is_quantum) {
      std::vector<std::string> known;
      for (const auto& [each, reg] : registers_) {
        if (reg.is_quantum == is_quantum) known.push_back(each);
      }
      tokens_.refuse(name,
                     std::string("no register of ") + (is_quantum ? "qubits" : "bits") +
                         " has the name '" + name.text + "'",
                     suggestion(name.text, known));
    }
    const Register& reg = found->second;
    if (tokens_.accept("[")) {
      const auto index = static_cast<int>(integer(0, reg.size - 1));
      tokens_.expect("]");
      return {reg.begin + index};
    }
    std::vector<int> all;
    for (int i = 0; i < reg.size; ++i) all.push_back(reg.begin + i);
    return all;
  }

  void measure(const Token& at, const std::vector<int>& from, const std::vector<int>& to) {
    if (from.size() != to.size()) {
      tokens_.refuse(at, std::to_string(from.size()) + " qubits are measured into " +
                             std::to_string(to.size()) + " bits");
    }
    for (std::size_t i = 0; i < from.size(); ++i) circuit_.measured.push_back({from[i], to[i]});
  }

  void use(const Token& name) {
    const GateKind* kind = find_gate(name.text);
    if (kind == nullptr) {
      static const std::vector<std::string> later{"gate",  "opaque", "reset", "if",   "for",
                                                  "while", "def",    "input", "const"};
      const bool is_later = std::ranges::find(later, name.text) != later.end();
      tokens_.refuse(name, (is_later ? "not read: '" : "unknown gate '") + name.text + "'",
                     is_later ? "write the circuit out, with measurements at its end"
                              : suggestion(name.text, gate_names()));
    }
    std::vector<double> angles;
    if (tokens_.accept("(")) {
      while (!tokens_.accept(")")) {
        angles.push_back(angle());
        if (!tokens_.accept(",")) {
          tokens_.expect(")");
          break;
        }
      }
    }
    std::vector<std::vector<int>> operands{operand(true)};
    while (tokens_.accept(",")) operands.push_back(operand(true));
    if (static_cast<int>(angles.size()) != kind->angles ||
        static_cast<int>(operands.size()) != kind->qubits()) {
      tokens_.refuse(name, "'" + name.text + "' takes " + std::to_string(kind->angles) +
                               " angles and " + std::to_string(kind->qubits()) + " qubits, got " +
                               std::to_string(angles.size()) + " and " +
                               std::to_string(operands.size()));
    }
    broadcast(name, angles, operands);
  }

  // Registers stand for their elements one by one; single qubits are repeated.
  void broadcast(const Token& name, const std::vector<double>& angles,
                 const std::vector<std::vector<int>>& operands) {
    std::size_t width = 1;
    for (const auto& each : operands) {
      if (each.size() != 1 && width != 1 && each.size() != width) {
        tokens_.refuse(name, "registers of different sizes in one gate");
      }
      width = std::max(width, each.size());
    }
    for (std::size_t i = 0; i < width; ++i) {
      GateUse gate{name.text, angles, {}};
      for (const auto& each : operands) gate.qubits.push_back(each[each.size() == 1 ? 0 : i]);
      check(name, gate);
      circuit_.gates.push_back(std::move(gate));
    }
  }

  void check(const Token& name, const GateUse& gate) const {
    if (circuit_.gates.size() >= circuit_gates_max) tokens_.refuse(name, "more than 10^6 gates");
    for (std::size_t a = 0; a < gate.qubits.size(); ++a) {
      const auto again = std::count(gate.qubits.begin(), gate.qubits.end(), gate.qubits[a]);
      if (again > 1) tokens_.refuse(name, "a gate on the same qubit twice");
      const auto is_it = [&](const Measured& m) { return m.qubit == gate.qubits[a]; };
      if (std::ranges::any_of(circuit_.measured, is_it)) {
        tokens_.refuse(name, "a gate on a qubit that was measured before",
                       "only measurements at the end are read");
      }
    }
  }

  // Sums of products of factors; `depth` keeps brackets from using up the stack.
  double angle(int depth = 0) {
    const Token at = tokens_.peek();
    double value = product(depth);
    while (tokens_.peek().text == "+" || tokens_.peek().text == "-") {
      const bool adds = tokens_.take().text == "+";
      value += (adds ? 1 : -1) * product(depth);
    }
    if (!std::isfinite(value)) tokens_.refuse(at, "an angle that is no finite number");
    return value;
  }
  double product(int depth) {
    double value = factor(depth);
    while (tokens_.peek().text == "*" || tokens_.peek().text == "/") {
      const bool multiplies = tokens_.take().text == "*";
      const double by = factor(depth);
      value = multiplies ? value * by : value / by;
    }
    return value;
  }
  double factor(int depth) {
    const Token token = tokens_.take();
    if (depth > 64) tokens_.refuse(token, "more than 64 brackets or signs in one another");
    if (token.text == "-") return -factor(depth + 1);
    if (token.text == "pi") return std::numbers::pi;
    if (token.text == "(") {
      const double value = angle(depth + 1);
      tokens_.expect(")");
      return value;
    }
    double value = 0;
    const char* end = token.text.data() + token.text.size();
    const auto read = std::from_chars(token.text.data(), end, value);
    if (token.kind != Token::Kind::number || read.ptr != end || read.ec != std::errc{}) {
      tokens_.refuse(token, "expected a number or pi, found '" + token.text + "'");
    }
    return value;
  }

  Tokens tokens_;
  std::map<std::string, Register> registers_;
  Circuit circuit_;
};

}  // namespace

Circuit parse_qasm(std::string_view text, const std::string& where) {
  return Parser(text, where).circuit();
}

Circuit read_qasm(const std::string& path) {
  constexpr InputKind qasm_input{"a circuit", 16 * mebibyte, "name an existing OpenQASM file"};
  return parse_qasm(read_input(path, qasm_input), input_name(path));
}

}  // namespace halmark::circuit
