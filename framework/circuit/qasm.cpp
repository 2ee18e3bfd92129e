#include "circuit/qasm.hpp"

#include <algorithm>
#include <array>

#include "circuit/qasm_gates.hpp"
#include "circuit/qasm_registers.hpp"
#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

constexpr const char* way_out = "write the circuit out, with measurements at its end";
constexpr int blocks_deep = 64;

struct NotRead {
  std::string_view word, what;
};
constexpr std::array not_read = {NotRead{"duration", "timing"},
                                 NotRead{"stretch", "timing"},
                                 NotRead{"delay", "timing"},
                                 NotRead{"box", "timing"},
                                 NotRead{"durationof", "timing"},
                                 NotRead{"defcal", "calibration"},
                                 NotRead{"defcalgrammar", "calibration"},
                                 NotRead{"cal", "calibration"},
                                 NotRead{"while", "a loop that depends on a measurement"},
                                 NotRead{"def", "a subroutine"},
                                 NotRead{"extern", "a function outside of the file"},
                                 NotRead{"opaque", "a gate without a body"},
                                 NotRead{"input", "a parameter of a run"},
                                 NotRead{"output", "a parameter of a run"},
                                 NotRead{"array", "an array"},
                                 NotRead{"complex", "a complex number"},
                                 NotRead{"switch", "a choice"},
                                 NotRead{"return", "a subroutine"},
                                 NotRead{"break", "a loop that is left"},
                                 NotRead{"continue", "a loop that is left"},
                                 NotRead{"end", "an end in between"}};

class Parser final : public BodyReader {
 public:
  Parser(std::string_view text, const std::string& where)
      : tokens_(text, where),
        values_(tokens_, scopes_),
        registers_(tokens_, scopes_, values_, circuit_),
        gates_(tokens_, scopes_, *this) {}

  Circuit circuit() {
    header();
    while (tokens_.peek().kind != Token::Kind::end) statement();
    if (circuit_.qubits == 0) tokens_.refuse(tokens_.peek(), "a circuit without a qubit");
    circuit_.gates = gates_.take();
    return std::move(circuit_);
  }

  void read_body(const GateDefinition& definition) override {
    tokens_.spend(statement_steps);
    tokens_.go_to(definition.body);
    while (!tokens_.accept("}")) statement();
  }

  // Of a body of the library, on qubits 0, 1, ...
  std::vector<GateUse> body(const GateUse& gate) {
    for (std::size_t i = 0; i < gate.angles.size(); ++i) {
      scopes_.declare("t" + std::to_string(i), {.number = gate.angles[i], .type = "float"});
    }
    for (std::size_t i = 0; i < gate.qubits.size(); ++i) {
      scopes_.declare(std::string(1, static_cast<char>('a' + i)),
                      {.kind = Value::Kind::qubits, .places = {gate.qubits[i]}});
    }
    while (tokens_.peek().kind != Token::Kind::end) statement();
    return gates_.take();
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
    if (version.text.starts_with("2")) values_.be_of_version_2();
    tokens_.expect(";");
  }

  void statement() {
    tokens_.spend(statement_steps);
    const Token word = tokens_.peek();
    if (tokens_.accept("@")) return annotation(word);
    if (word.kind != Token::Kind::word) {
      const bool is_physical = word.text == "$";
      tokens_.refuse(word, is_physical ? "not read: '$', a qubit of one device"
                                       : "expected a statement, found '" + word.text + "'");
    }
    tokens_.take();
    const auto refused = std::ranges::find(not_read, word.text, &NotRead::word);
    if (refused != not_read.end()) {
      tokens_.refuse(word, "not read: '" + word.text + "', " + std::string(refused->what), way_out);
    }
    if (word.text == "gate" && !gates_.is_in_body()) return definition();
    if (word.text == "for") return loop(word);
    if (word.text == "if") return condition(word);
    if (word.text == "pragma") return annotation(word);
    simple(word);
    tokens_.expect(";");
  }

  // Up to the end of its line: what others may do with it.
  void annotation(const Token& first) {
    while (tokens_.peek().line == first.line && tokens_.peek().kind != Token::Kind::end) {
      tokens_.take();
    }
  }

  void simple(const Token& word) {
    const Value* value = scopes_.find(word.text);
    if (word.text == "barrier" || word.text == "nop") {
      while (tokens_.peek().text != ";" && tokens_.peek().kind != Token::Kind::end) tokens_.take();
      return;
    }
    if (gates_.is_in_body()) return use(word);  // which holds nothing else
    if (word.text == "include") return include();
    if (word.text == "qreg" || word.text == "creg") return old_register(word);
    if (word.text == "qubit" || word.text == "bit") return new_register(word);
    if (word.text == "const" || is_number_type(word.text)) return registers_.variable(word);
    if (word.text == "let") return registers_.alias();
    if (word.text == "reset") return reset(word);
    if (word.text == "measure") {
      const auto from = registers_.operand(Value::Kind::qubits);
      tokens_.expect("->");
      return measure(word, from, registers_.operand(Value::Kind::bits));
    }
    const std::string& next = tokens_.peek().text;
    const bool is_number = value != nullptr && value->kind == Value::Kind::number;
    if (is_number && tokens_.peek().kind == Token::Kind::sign && next.ends_with('=')) {
      return registers_.assign(word);
    }
    // Qubits may have the name of a gate.
    const bool is_register = value != nullptr && !is_number;
    if (is_register && (value->kind == Value::Kind::bits || next == "=" || next == "[")) {
      const auto to = registers_.operand_of(word, Value::Kind::bits);
      tokens_.expect("=");
      return measured_into(to);
    }
    use(word);
  }

  void include() {
    const Token file = tokens_.take();
    if (file.text != "qelib1.inc" && file.text != "stdgates.inc") {
      tokens_.refuse(file, "cannot include '" + file.text + "'",
                     "the gates of qelib1.inc and stdgates.inc are known");
    }
  }

  void old_register(const Token& word) {
    const Token name = tokens_.expect_word("the name of a register");
    tokens_.expect("[");
    const auto kind = word.text == "qreg" ? Value::Kind::qubits : Value::Kind::bits;
    registers_.declare(name, kind, registers_.size());
  }

  void new_register(const Token& word) {
    const std::int64_t count = tokens_.accept("[") ? registers_.size() : 1;
    const Token name = tokens_.expect_word("the name of a register");
    const auto kind = word.text == "qubit" ? Value::Kind::qubits : Value::Kind::bits;
    registers_.declare(name, kind, count);
    if (word.text == "bit" && tokens_.accept("=")) {
      measured_into(scopes_.find(name.text)->places);
    }
  }

  void definition() {
    const Token name = tokens_.expect_word("the name of a gate");
    GateDefinition out;
    if (tokens_.accept("(")) {
      while (!tokens_.accept(")")) {
        out.parameters.push_back(tokens_.expect_word("the name of an angle").text);
        if (!tokens_.accept(",") && tokens_.peek().text != ")") tokens_.expect(")");
      }
    }
    do {
      out.qubits.push_back(tokens_.expect_word("the name of a qubit").text);
    } while (tokens_.accept(","));
    if (tokens_.peek().text != "{") tokens_.expect("{");
    out.body = tokens_.at() + 1;
    tokens_.skip_statement();
    gates_.define(name, std::move(out));
  }

  void block() {
    if (++depth_ > blocks_deep) tokens_.refuse(tokens_.peek(), "blocks within 64 others");
    scopes_.open();
    if (tokens_.accept("{")) {
      while (!tokens_.accept("}")) {
        if (tokens_.peek().kind == Token::Kind::end) tokens_.expect("}");
        statement();
      }
    } else {
      statement();
    }
    scopes_.close();
    --depth_;
  }

  // What a condition or range says is known, unless bits stand in it.
  void require_known(const Token& word, const char* what, std::string_view end) {
    for (std::size_t i = 0; tokens_.peek(i).kind != Token::Kind::end; ++i) {
      const Token& one = tokens_.peek(i);
      const Value* value = one.kind == Token::Kind::word ? scopes_.find(one.text) : nullptr;
      if (value != nullptr && value->kind == Value::Kind::bits) {
        tokens_.refuse(word, "not read: '" + word.text + "', " + what, way_out);
      }
      if (one.text == end) return;
    }
  }

  void condition(const Token& word) {
    require_known(word, "which depends on a measurement", ")");
    tokens_.expect("(");
    const bool holds = values_.number() != 0;
    tokens_.expect(")");
    holds ? block() : tokens_.skip_statement();
    if (tokens_.peek().text != "else") return;
    tokens_.take();
    holds ? tokens_.skip_statement() : block();
  }

  void loop(const Token& word) {
    Token name = tokens_.expect_word("a loop variable");
    Value variable{.type = "int"};
    if (is_number_type(name.text)) {
      variable.type = name.text;
      if (tokens_.accept("[")) variable.width = registers_.size();
      name = tokens_.expect_word("a loop variable");
    }
    const Token in = tokens_.expect_word("'in'");
    if (in.text != "in") tokens_.refuse(in, "expected 'in', found '" + in.text + "'");
    require_known(word, "a loop that depends on a measurement",
                  tokens_.peek().text == "{" ? "}" : "]");
    const std::vector<double> values = registers_.range();
    const std::size_t body = tokens_.at();
    if (values.empty()) tokens_.skip_statement();
    for (const double value : values) {
      tokens_.spend(statement_steps);
      tokens_.go_to(body);
      scopes_.open();
      variable.number = stored_as(variable, value);
      scopes_.declare(name.text, variable);
      block();
      scopes_.close();
    }
  }

  void reset(const Token& word) {
    for (const int qubit : registers_.operand(Value::Kind::qubits)) {
      if (!gates_.is_used(qubit)) continue;
      tokens_.refuse(word, "not read: 'reset' of a qubit that was used before", way_out);
    }
  }

  void measured_into(const std::vector<int>& to) {
    const Token verb = tokens_.expect_word("'measure'");
    if (verb.text != "measure") tokens_.refuse(verb, "only 'measure' may stand behind '='");
    measure(verb, registers_.operand(Value::Kind::qubits), to);
  }

  void measure(const Token& at, const std::vector<int>& from, const std::vector<int>& to) {
    if (from.size() != to.size()) {
      tokens_.refuse(at, std::to_string(from.size()) + " qubits are measured into " +
                             std::to_string(to.size()) + " bits");
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      circuit_.measured.push_back({from[i], to[i]});
      gates_.measure(from[i]);
    }
  }

  Modifier modifier(const Token& word) {
    using enum Modifier::Kind;
    Modifier out{.kind = word.text == "ctrl"      ? control
                         : word.text == "negctrl" ? negative_control
                         : word.text == "inv"     ? inverse
                                                  : power};
    if (out.kind != inverse && tokens_.accept("(")) {
      out.number = out.kind == power ? values_.angle()
                                     : static_cast<double>(values_.whole(1, circuit_qubits_max));
      tokens_.expect(")");
    }
    tokens_.expect("@");
    return out;
  }

  void use(const Token& word) {
    GateCall call{.at = word, .angles = {}, .modifiers = {}, .operands = {}};
    while (call.at.text == "ctrl" || call.at.text == "negctrl" || call.at.text == "inv" ||
           call.at.text == "pow") {
      call.modifiers.push_back(modifier(call.at));
      call.at = tokens_.expect_word("a gate");
    }
    gates_.require_known(call.at);
    if (tokens_.accept("(")) {
      while (!tokens_.accept(")")) {
        call.angles.push_back(values_.angle());
        if (!tokens_.accept(",")) {
          tokens_.expect(")");
          break;
        }
      }
    }
    if (tokens_.peek().text != ";" || !(call.at.text == "gphase")) {
      do {
        call.operands.push_back(registers_.operand(Value::Kind::qubits));
      } while (tokens_.accept(","));
    }
    gates_.use(call);
  }

  Tokens tokens_;
  Scopes scopes_;
  Expressions values_;
  Circuit circuit_;
  Registers registers_;
  GateUses gates_;
  int depth_ = 0;  // of blocks, those of gates within gates too
};

}  // namespace

std::vector<GateUse> definition_of(const GateUse& gate) {
  const GateKind& kind = *find_gate(gate.name);
  if (kind.body.empty() || gate.controls > 0 || gate.power != 1) return {gate};
  return Parser(kind.body, "the library").body(gate);
}

Circuit parse_qasm(std::string_view text, const std::string& where) {
  return Parser(text, where).circuit();
}

Circuit read_qasm(const std::string& path) {
  constexpr InputKind qasm_input{"a circuit", 16 * mebibyte, "name an existing OpenQASM file"};
  const std::string text = read_kind(path, qasm_input, "circuit");
  if (text.find("qubit") == text.npos && text.find("qreg") == text.npos) {
    throw other_kind(text, input_name(path), "an OpenQASM circuit with a register of qubits");
  }
  return parse_qasm(text, input_name(path));
}

}  // namespace halmark::circuit
