// Programs of OpenQASM: gates of the file, constants, loops, conditions, modifiers, slices. Each is
// held against the same circuit written out by hand; modifiers against matrices.
#include <cmath>
#include <numbers>

#include "refused_qasm.hpp"

namespace halmark::circuit {
namespace {

using ::testing::HasSubstr;

struct Program {
  std::string text, written_out;
};

void expect_same(const std::vector<Program>& programs, const std::string& head) {
  for (const Program& program : programs) {
    EXPECT_EQ(qasm_text(parse_qasm(head + program.text, "program"), 3),
              qasm_text(parse_qasm(head + program.written_out, "written out"), 3))
        << program.text;
  }
}

TEST(QasmPrograms, are_the_circuits_that_they_say) {
  expect_same(
      {{"gate bell a, b { h a; cx a, b; } bell q[1], q[3];", "h q[1]; cx q[1], q[3];"},
       {"gate g(x, y) a { rz(x/2) a; ry(y+x) a; } gate f(z) a, b { g(z, -z) b; g(1, 2) a; }"
        "f(pi) q[0], q[2];",
        "rz(pi/2) q[2]; ry(0) q[2]; rz(0.5) q[0]; ry(3) q[0];"},
       {"gate nothing a { } nothing q; x q[0];", "x q[0];"},
       {"gate cH x, h { h h; sdg h; cx x, h; } cH q[0], q[1];", "h q[1]; sdg q[1]; cx q[0], q[1];"},
       {"gate over a, b { cx a, b; } qubit[4] r; over q, r;",
        "qubit[4] r; cx q[0], r[0]; cx q[1], r[1]; cx q[2], r[2]; cx q[3], r[3];"},
       {"const int[32] n = 3; const float theta = pi / n; rz(2 * theta) q[n];",
        "rz(2 * pi / 3) q[3];"},
       {"for uint i in [0 : 2] { cx q[i], q[i + 1]; }",
        "cx q[0], q[1]; cx q[1], q[2]; cx q[2], q[3];"},
       {"for uint i in [2 : -1 : 0] h q[i];", "h q[2]; h q[1]; h q[0];"},
       {"for i in {3, 1} { rx(pi / i) q[i]; }", "rx(pi / 3) q[3]; rx(pi) q[1];"},
       {"for int i in [0:1] for int j in [2:3] cz q[i], q[j];",
        "cz q[0], q[2]; cz q[0], q[3]; cz q[1], q[2]; cz q[1], q[3];"},
       {"for int i in [1:0] { h q; } x q[0];", "x q[0];"},
       {"for int i in [1e300:0] { h q; } x q[0];", "x q[0];"},
       {"uint[4] in = 5; for uint i in [0:3] { if (bool(in[i])) x q[i]; else y q[i]; }",
        "x q[0]; y q[1]; x q[2]; y q[3];"},
       {"int n = 1; for int i in [0:2] { p(n) q[i]; n <<= 1; n += 1; }",
        "p(1) q[0]; p(3) q[1]; p(7) q[2];"},
       {"const int i = 3; if (i / 2 == 1) x q[0]; rx(i / 2) q[0]; rx(i / 2.0) q[0]; rx(-i / 2) "
        "q[0];",
        "x q[0]; rx(1) q[0]; rx(1.5) q[0]; rx(-1) q[0];"},
       {"uint[2] i = 5; rx(i) q[0]; uint[4] a = -1; rx(a) q[0]; int[3] b = 7; rx(b) q[0]; b = -5; "
        "rx(b) q[0]; rx(uint[3](9)) q[0]; i += 3; rx(i) q[0];",
        "rx(1) q[0]; rx(15) q[0]; rx(-1) q[0]; rx(3) q[0]; rx(1) q[0]; rx(0) q[0];"},
       {"reset q; h q[1:3]; x q[0:2:3]; z q[{3, 0}]; y q[-1];",
        "h q[1]; h q[2]; h q[3]; x q[0]; x q[2]; z q[3]; z q[0]; y q[3];"},
       {"let pair = q[0:1] ++ q[3]; h pair;", "h q[0]; h q[1]; h q[3];"},
       {"barrier q; barrier; reset q[0]; x q[0];", "x q[0];"},
       {"@ignore this line\n#pragma whatever\nx q[0];", "x q[0];"}},
      "OPENQASM 3.0; include \"stdgates.inc\"; qubit[4] q;");
}

TEST(QasmPrograms, compute_with_functions_of_either_version) {
  for (const auto& [text, value] : {std::pair{"sin(pi/6)", 0.5},
                                    {"cos(0)+tan(0)", 1.0},
                                    {"sqrt(2)*sqrt(2)", 2.0},
                                    {"ln(exp(3))", 3.0},
                                    {"pi - arccos(-1)", 0.0},
                                    {"2**3", 8.0},
                                    {"-2**2", -4.0},
                                    {"pow(2, 0.5)", std::numbers::sqrt2},
                                    {"7 % 4", 3.0},
                                    {"(1 << 3) | 1", 9.0},
                                    {"tau - 2*\u03c0", 0.0},
                                    {"float(0x1F) + 0b11", 34.0},
                                    {"0E1 + 0E+00 + 1E1", 10.0},
                                    {"1_000", 1000.0}}) {
    const Circuit circuit =
        parse_qasm("OPENQASM 3; qubit q; rz(" + std::string(text) + ") q;", text);
    EXPECT_NEAR(circuit.gates.at(0).angles.at(0), value, 1e-15 * (1 + std::fabs(value))) << text;
  }
  const Circuit two = parse_qasm("OPENQASM 2.0; qreg q[1]; rz(2^3^1/sin(pi/2)) q[0];", "");
  EXPECT_DOUBLE_EQ(two.gates.at(0).angles.at(0), 8) << "a power in version 2";
}

TEST(QasmPrograms, name_gates_after_their_modifiers) {
  expect_same(
      {{"inv @ s q[0];", "sdg q[0];"},
       {"inv @ sx q[0];", "sxdg q[0];"},
       {"inv @ rx(0.3) q[0];", "rx(-0.3) q[0];"},
       {"inv @ u3(1, 2, 3) q[0];", "u3(-1, -3, -2) q[0];"},
       {"ctrl @ x q[0], q[1];", "cx q[0], q[1];"},
       {"ctrl @ ctrl @ x q[0], q[1], q[2];", "ccx q[0], q[1], q[2];"},
       {"ctrl(3) @ x q[0], q[1], q[2], q[3];", "c3x q[0], q[1], q[2], q[3];"},
       {"ctrl @ inv @ s q[0], q[1];", "csdg q[0], q[1];"},
       {"inv @ ctrl @ s q[0], q[1];", "csdg q[0], q[1];"},
       {"ctrl @ swap q[0], q[1], q[2];", "cswap q[0], q[1], q[2];"},
       {"negctrl @ x q[0], q[1];", "x q[0]; cx q[0], q[1]; x q[0];"},
       {"ctrl @ gphase(0.4) q[1];", "p(0.4) q[1];"},
       {"ctrl(2) @ gphase(0.4) q[1], q[0];", "cp(0.4) q[1], q[0];"},
       {"gphase(0.4); x q[0];", "x q[0];"},
       {"pow(4) @ phase(0.1) q[0];", "phase(0.4) q[0];"},
       {"pow(-1) @ t q[0];", "tdg q[0];"},
       {"gate two a, b { h a; s b; } inv @ two q[0], q[1];", "sdg q[1]; h q[0];"},
       {"gate two a, b { h a; s b; } pow(2) @ two q[0], q[1];", "h q[0]; s q[1]; h q[0]; s q[1];"},
       {"gate phase_t a { t a; gphase(0.2); } ctrl @ phase_t q[2], q[0];",
        "ctrl @ t q[2], q[0]; p(0.2) q[2];"}},
      "OPENQASM 3.0; qubit[4] q;");
}

std::vector<Amplitude> state_of(const std::string& gates) {
  const Circuit circuit = parse_qasm(
      "OPENQASM 3.0; qubit[4] q; u3(0.3,0.4,0.5) q[0]; u3(1.3,0.2,0.9) q[1]; u3(0.8,2.4,1.5) q[2];"
      "u3(0.6,0.1,2.5) q[3];" +
          gates,
      gates);
  StateVector state(circuit.qubits);
  for (const GateUse& gate : circuit.gates) apply(state, gate);
  return {state.amplitudes().begin(), state.amplitudes().end()};
}

void expect_states(const std::string& gates, const std::string& others) {
  const auto a = state_of(gates), b = state_of(others);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(std::abs(a[i] - b[i]), 0, 1e-13) << gates;
}

// Identities that hold exactly, the phase included.
TEST(QasmPrograms, of_equal_unitaries_give_equal_states) {
  for (const std::string name :
       {"x", "y", "z", "h", "s", "t", "sx", "rx(0.7)", "u3(0.7,0.3,0.9)"}) {
    expect_states("pow(0.5) @ " + name + " q[0]; pow(0.5) @ " + name + " q[0];", name + " q[0];");
    expect_states("inv @ " + name + " q[0]; " + name + " q[0];", "id q[0];");
    expect_states(
        "ctrl @ pow(0.5) @ " + name + " q[1], q[0]; ctrl @ pow(0.5) @ " + name + " q[1], q[0];",
        "ctrl @ " + name + " q[1], q[0];");
    expect_states(
        "ctrl(2) @ " + name + " q[1], q[2], q[0]; ctrl(2) @ inv @ " + name + " q[1], q[2], q[0];",
        "id q[0];");
  }
  for (const std::string name : {"rxx(0.7)", "ryy(0.7)", "rzz(0.7)", "rzx(0.7)", "swap", "iswap",
                                 "ecr", "dcx", "csx", "cs", "cu(0.7,0.3,0.9,0.2)", "cu3(1,2,3)"}) {
    expect_states(name + " q[0], q[1]; inv @ " + name + " q[0], q[1];", "id q[0];");
    expect_states(
        "ctrl @ " + name + " q[2], q[0], q[1]; ctrl @ inv @ " + name + " q[2], q[0], q[1];",
        "id q[0];");
  }
  expect_states("rccx q[0], q[1], q[2]; inv @ rccx q[0], q[1], q[2];", "id q[0];");
  expect_states("rc3x q[0],q[1],q[2],q[3]; inv @ rc3x q[0],q[1],q[2],q[3];", "id q[0];");
  expect_states("ccz q[0], q[1], q[2];", "h q[2]; ccx q[0], q[1], q[2]; h q[2];");
  expect_states("c3sqrtx q[0],q[1],q[2],q[3]; c3sqrtx q[0],q[1],q[2],q[3];",
                "c3x q[0],q[1],q[2],q[3];");
  expect_states("dcx q[0], q[1];", "cx q[0], q[1]; cx q[1], q[0];");
  expect_states("r(0.4, 0) q[0];", "rx(0.4) q[0];");
  expect_states("pow(2) @ pow(0.5) @ x q[0];", "x q[0];");
  // U(pi, 0, pi) is i X, "Built-in gates" of the specification of version 3.
  expect_states("ctrl @ U(pi,0,pi) q[1], q[0];", "cx q[1], q[0]; s q[1];");
  expect_states("ctrl @ inv @ U(pi,0,pi) q[1], q[0];", "cx q[1], q[0]; sdg q[1];");
  expect_states("gate x2 a { U(pi,0,pi) a; gphase(-pi/2); } ctrl @ x2 q[1], q[0];",
                "cx q[1], q[0];");
  expect_states("r(0.4, pi/2) q[0];", "ry(0.4) q[0];");
}

TEST(QasmPrograms, that_depend_on_a_measurement_are_refused_by_name) {
  const std::string head = "qubit[3] q; bit[3] c;";
  expect_refusals(
      {{"c = measure q; if (c == 1) { x q[0]; }", "a.qasm:1:37: not read: 'if', which depends"},
       {"if (c == 99999999999999999999999999) x q[0];", "which depends on a measurement"},
       {"for int i in [0 : c] { x q[0]; }", "not read: 'for', a loop that depends on a measure"},
       {"rx(c[0]) q[0];", "not read: 'c', which depends on a measurement"},
       {"x q[0]; reset q[0];", "not read: 'reset' of a qubit that was used before"},
       {"measure q -> c; reset q[1];", "not read: 'reset'"},
       {"x $0;", "not read: '$', a qubit of one device"},
       {"pow(0.5) @ swap q[0], q[1];", "not read: a power that is not whole"},
       {"gate g a { g a; } g q[0];", "gates are defined by more than 64 others"},
       {"gate g a { x b; } g q[0];", "no register of qubits has the name 'b'"},
       {"gate g a { x q[0]; } g q[0];", "no register of qubits has the name 'q'"},
       {"gate g a, b { cx a, b; } g q[0], q[0];", "the same qubit twice"},
       {"gate g a { } gate g a { }", "'g' is there already"},
       {"gate g a { h a; reset a; } g q[0];", "unknown gate 'reset'"},
       {"gate g a { measure a -> c[0]; } g q[0];", "unknown gate 'measure'"},
       {"gate g a { gate f b { } } g q[0];", "unknown gate 'gate'"},
       {"pow(0.5) @ pow(2) @ x q[0];", "not read: a power that is not whole, of a gate of"},
       {"pow(0.5) @ inv @ pow(1.5) @ h q[0];", "not read: a power that is not whole"},
       {"gate g(t) a { rx(t) a; } g q[0];", "'g' takes 1 angles and 1 qubits, got 0 and 1"},
       {"ctrl @ x q[0];", "'x' takes 0 angles and 2 qubits, got 0 and 1"},
       {"ctrl @ x q[0], q[0];", "the same qubit twice"},
       {"for int i in [0 : 1e9] x q[0];", "a range of more than 10^6 values"},
       {"for int i in [0:2] { x q[0];", "expected '}', found the end of the file"},
       {"gate g a { x a;", "expected '}', found the end of the file"},
       {"angle[3] n; measure q[0] -> n[0];", "not read: a measurement into 'n', which is no bit"},
       {"const n = 3;", "not read: a constant of type 'n'"},
       {"int n = 1; int n = 2;", "'n' is there already"},
       {"let two = q ++ q;", "the same qubit twice in 'two'"}},
      head);
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// 2^40 uses of a gate without gates would never end; nor would what executes no statement at all.
TEST(QasmPrograms, that_would_never_end_are_refused) {
  std::string text = "qubit q; gate g0 a { }";
  for (int i = 1; i <= 40; ++i) {
    const std::string inner = "g" + std::to_string(i - 1);
    text += "gate g" + std::to_string(i) + " a { " + inner + " a; " + inner + " a; }";
  }
  const std::string endless = "more than 10^8 steps are executed";
  const std::string rounds = "qubit[2] q; for int i in [0:999999] ";
  expect_refusals(
      {{text + " g40 q;", endless},
       {rounds + "{ for int j in [0:999999] {} }", endless},
       {rounds + "{ if (false) { " + repeated("h q[0];", 1000) + " } }", endless},
       {rounds + "{ barrier q" + repeated(",q", 1000) + "; }", endless},
       {"qubit[4096] q; gate n a { } for int i in [0:999999] { n q; }", endless},
       {"qubit q; gate n a { gphase(1); gphase(1); } for int i in [0:999999] "
        "{ pow(500000) @ n q; }",
        endless},
       {"qubit q;" + repeated("if (true) ", 100'000) + "x q;", "blocks within 64 others"},
       {"qubit q;" + repeated("for int i in {1} ", 100'000) + "x q;", "blocks within 64 others"}});
  EXPECT_THAT(refusal_of("qubit q; gate n a { } pow(1000000) @ pow(1000000) @ n q;"), "accepted");
}

TEST(QasmCounts, are_of_gates_by_name_with_those_of_the_file_taken_apart) {
  const Circuit circuit = parse_qasm(
      "OPENQASM 2.0; include \"qelib1.inc\"; qreg q[4];"
      "gate maj a,b,c { cx c,b; cx c,a; ccx a,b,c; } maj q[0],q[1],q[2]; maj q[1],q[2],q[3];"
      "rzz(0.3) q[0],q[1]; c3x q[0],q[1],q[2],q[3]; rccx q[0],q[1],q[2]; h q;",
      "");
  const std::map<std::string, std::int64_t> expected = {{"c3x", 1}, {"ccx", 2},  {"cx", 4},
                                                        {"h", 4},   {"rccx", 1}, {"rzz", 1}};
  EXPECT_EQ(counts_by_name(circuit), expected);
  // By hand: ccx 6 and 9 each; c3x 14 and 17 (Qiskit's C3XGate: 14 cx, 15 p, 2 h); rccx 3 and 6.
  const GateCounts counts = count_gates(circuit);
  EXPECT_EQ(counts.two_qubit, 2 * 6 + 4 + 1 + 14 + 3);
  EXPECT_EQ(counts.one_qubit, 2 * 9 + 4 + 17 + 6);
}

}  // namespace
}  // namespace halmark::circuit
