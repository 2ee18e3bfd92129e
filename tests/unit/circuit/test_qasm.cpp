// OpenQASM: what is read, what it is written as, and what is refused where.
// What OpenQASM allows and what it does not: tokens with their places, angles, registers, limits.

#include <numbers>

#include "refused_qasm.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::circuit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string head = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[3];\ncreg c[3];\n";

TEST(Qasm, versions_2_and_3_give_the_same_circuit) {
  const Circuit two =
      parse_qasm(head + "rz(-pi/2*(1+0.5)) q[1];\ncx q[0],q[2];\nmeasure q -> c;", "2");
  const Circuit three = parse_qasm(
      "OPENQASM 3;\ninclude \"stdgates.inc\";\nqubit[3] q;\nbit[3] c;\n/* a\n comment */\n"
      "rz(-3*pi/4) q[1]; // here\ncx q[0], q[2];\nc = measure q;\n",
      "3");
  EXPECT_EQ(qasm_text(two, 3), qasm_text(three, 3));
  ASSERT_EQ(two.gates.size(), 2u);
  EXPECT_DOUBLE_EQ(two.gates[0].angles[0], -0.75 * std::numbers::pi);
  EXPECT_THAT(two.gates[1].qubits, ElementsAre(0, 2));
  EXPECT_EQ(two.measured.size(), 3u);
}

TEST(Qasm, what_is_written_is_read_as_the_same_circuit) {
  const Circuit circuit = parse_qasm(
      head + "u3(0.1,1e-3,2.5) q[0];ccx q[0],q[1],q[2];swap q[0],q[2];measure q[1]->c[0];", "");
  for (const int version : {2, 3}) {
    const Circuit again = parse_qasm(qasm_text(circuit, version), "again");
    EXPECT_EQ(qasm_text(again, 2), qasm_text(circuit, 2));
  }
}

TEST(Qasm, a_register_stands_for_its_qubits_one_by_one) {
  const Circuit circuit = parse_qasm(head + "qreg a[3];\nh q;\ncx q,a;\ncz q[0],a;", "");
  ASSERT_EQ(circuit.gates.size(), 9u);
  EXPECT_THAT(circuit.gates[4].qubits, ElementsAre(1, 4));
  EXPECT_THAT(circuit.gates[8].qubits, ElementsAre(0, 5));
}

TEST(Qasm, refusals_name_the_place_and_what_stands_there) {
  expect_refusals(
      {{head + "hh q[0];", "a.qasm:5:1: unknown gate 'hh'"},
       {head + "h q[0];\n  h q[3];", "a.qasm:6:7: expected an integer in 0..2"},
       {head + "rz(1/0) q[0];", "a.qasm:5:4: an angle"},
       {head + "rz(1e400) q[0];", "a.qasm:5:4: expected a number"},
       {head + "cx q[0],q[0];", "same qubit twice"},
       {head + "cx q[0];", "takes 0 angles and 2 qubits, got 0 and 1"},
       {head + "measure q -> c; h q[1];", "measured before"},
       {head + "if(c==1) x q[0];", "not read: 'if'"},
       {"OPENQASM 1.0;", "a.qasm:1:10: OpenQASM 1.0 is not read"},
       {"include \"other.inc\";", "cannot include 'other.inc'"},
       {"qreg q[5000];", "expected an integer in 1..4096"},
       {head + "h q[0]", "expected ';', found the end of the file"},
       {"", "without a qubit"},
       {head + "barrier q", "the end of the file"},
       {head + "h q[0];\n /* x q[0];\n h q[0];", "a.qasm:6:2: a comment without its end"},
       {head + "// c\rhh q[0];", "a.qasm:6:1: unknown gate 'hh'"},
       {head + "/*/ hh q[0];", "a.qasm:5:1: a comment without its end"},
       {head + "h q[0];\r\nhh q[0];", "a.qasm:6:1: unknown gate 'hh'"},
       {head + "rz(" + std::string(500, '(') + "1) q[0];", "64"}});
}

double angle(const std::string& text) {
  return parse_qasm("qubit q;rz(" + text + ") q;", text).gates.at(0).angles.at(0);
}

TEST(QasmAngles, are_sums_of_products_from_left_to_right) {
  const double pi = std::numbers::pi;
  for (const auto& [text, value] : {std::pair{"2", 2.0},
                                    {"1+2*3", 7.0},
                                    {"7-2-1", 4.0},
                                    {"12/3/2", 2.0},
                                    {"12/3*2", 8.0},
                                    {"-(1+2)*-2", 6.0},
                                    {"--3", 3.0},
                                    {"pi/4", pi / 4},
                                    {"2*pi-pi", pi},
                                    {".5", 0.5},
                                    {"1.25", 1.25},
                                    {"1e3", 1000.0},
                                    {"1E3", 1000.0},
                                    {"2e-2", 0.02},
                                    {"2e+2", 200.0},
                                    {"1.", 1.0},
                                    {"0.5+1", 1.5},
                                    {"1e1-1", 9.0}}) {
    EXPECT_DOUBLE_EQ(angle(text), value) << text;
  }
}

TEST(QasmAngles, that_are_none_are_refused_where_they_stand) {
  expect_refusals({{"x) q;", "a.qasm:1:12: expected a number or pi, found 'x'"},
                   {"1.2.3) q;", "expected a number or pi, found '1.2.3'"},
                   {"\"1\") q;", "expected a number or pi, found '1'"},
                   {"0/0) q;", "an angle that is no finite number"},
                   {"(1) q;", "expected ')'"},
                   {"1 2) q;", "expected ')', found '2'"},
                   {std::string(65, '-') + "1) q;", "more than 64 brackets or signs"}},
                  "qubit q;rz(");
  EXPECT_DOUBLE_EQ(angle(std::string(64, '-') + "1"), 1);
  EXPECT_DOUBLE_EQ(angle(std::string(64, '(') + "1" + std::string(64, ')')), 1);
}

TEST(QasmTokens, have_their_line_and_column_behind_comments_and_blanks) {
  expect_refusals({{"qubit q;\n\t x1 q;", "a.qasm:2:3: unknown gate 'x1'"},
                   {"// a\n/* b\n c */ q_ q;", "a.qasm:3:7: unknown gate 'q_'"},
                   {"/**/no;", "a.qasm:1:5: unknown gate 'no'"},
                   {"qubit q;\r\nno q;", "a.qasm:2:1: unknown gate 'no'"},
                   {"qubit q;h q; // no end", "accepted"},
                   {"qubit q;h q; /* no end", "a.qasm:1:14: a comment without its end"},
                   {"include \"a", "a.qasm:1:9: a text without its end"},
                   {"include \"a\n\";", "a text without its end"},
                   {"; qubit q;", "a.qasm:1:1: expected a statement, found ';'"},
                   {"5;", "expected a statement, found '5'"}});
  EXPECT_EQ(parse_qasm("qubit aZ_09;h aZ_09;", "names").gates.size(), 1u);
}

TEST(QasmHeader, is_of_version_2_or_3_or_absent) {
  for (const char* header : {"", "OPENQASM 2.0;", "OPENQASM 2;", "OPENQASM 3;", "OPENQASM 3.1;"}) {
    EXPECT_EQ(parse_qasm(std::string(header) + "qubit q;", header).qubits, 1) << header;
  }
  expect_refusals({{"OPENQASM 2.1;qubit q;", "OpenQASM 2.1 is not read; 2.0 and 3"},
                   {"OPENQASM 3 qubit q;", "expected ';', found 'qubit'"},
                   {"include \"stdgates.inc\";include \"qelib1.inc\";qubit q;", "accepted"}});
}

TEST(QasmRegisters, lie_one_behind_the_other_up_to_4096_qubits) {
  const Circuit circuit =
      parse_qasm("qubit a;qreg b[2];bit c;creg d[3];h b;d[2]=measure b[1];", "");
  EXPECT_EQ(circuit.qubits, 3);
  EXPECT_EQ(circuit.bits, 4);
  ASSERT_EQ(circuit.gates.size(), 2u);
  EXPECT_THAT(circuit.gates[1].qubits, ElementsAre(2));
  ASSERT_EQ(circuit.measured.size(), 1u);
  EXPECT_EQ(circuit.measured[0].qubit, 2);
  EXPECT_EQ(circuit.measured[0].bit, 3);
  EXPECT_EQ(parse_qasm("qreg a[4095];qubit b;", "").qubits, 4096);
  EXPECT_EQ(parse_qasm("qubit q;creg a[4096];", "").bits, 4096);
  expect_refusals({{"qreg a[4096];qubit b;", "a.qasm:1:20: more than 4096 qubits or bits"},
                   {"qubit q;creg a[4096];bit b;", "more than 4096"},
                   {"qreg a[0];", "expected an integer in 1..4096, found '0'"},
                   {"qreg a[1.5];", "found '1.5'"},
                   {"qreg a[x];", "found 'x'"},
                   {"qubit a;bit a;", "a.qasm:1:13: 'a' is there already"},
                   {"qubit 3;", "expected the name of a register, found '3'"},
                   {"qreg a 3;", "expected '[', found '3'"},
                   {"qreg a[3;", "expected ']', found ';'"}});
}

TEST(QasmOperands, are_registers_of_their_kind_within_their_size) {
  const std::string head = "qreg qubits[3];creg bits[3];";
  expect_refusals(
      {{"h qubit_;", "no register of qubits has the name 'qubit_'; did you mean 'qubits'"},
       {"h bits;", "no register of qubits has the name 'bits'"},
       {"measure qubits -> qubits;", "no register of bits has the name 'qubits'"},
       {"measure bits -> bits;", "no register of qubits"},
       {"h 3;", "expected a register, found '3'"},
       {"h qubits[2];", "accepted"},
       {"h qubits[3];", "an integer in 0..2, found '3'"},
       {"h qubits[-1];", "accepted"},
       {"h qubits[-4];", "an integer in -3..2, found '-4'"},
       {"qreg two[2];cx qubits,two;", "registers of different sizes in one gate"}},
      head);
  EXPECT_EQ(parse_qasm(head + "qreg two[1];cx qubits,two;", "").gates.size(), 3u);
}

TEST(QasmMeasurements, go_bit_by_bit_and_end_the_circuit) {
  const std::string head = "qreg q[3];creg c[3];creg d[2];";
  const Circuit circuit = parse_qasm(head + "measure q[2] -> d[1];c = measure q;", "");
  ASSERT_EQ(circuit.measured.size(), 4u);
  EXPECT_EQ(circuit.measured[0].qubit, 2);
  EXPECT_EQ(circuit.measured[0].bit, 4);
  EXPECT_EQ(circuit.measured[3].qubit, 2);
  EXPECT_EQ(circuit.measured[3].bit, 2);
  expect_refusals(
      {{"measure q -> d;", "a.qasm:1:31: 3 qubits are measured into 2 bits"},
       {"c = q;", "only 'measure' may stand behind '='"},
       {"c = 3;", "expected 'measure', found '3'"},
       {"c measure q;", "expected '=', found 'measure'"},
       {"measure q;", "expected '->', found ';'"},
       {"q = measure q;", "no register of bits has the name 'q'"},
       {"c[0] = measure q[0];x q[0];", "measured before; only measurements at the end are read"},
       {"c[0] = measure q[0];x q[1];barrier q;", "accepted"}},
      head);
}

TEST(QasmGates, take_what_they_are_made_for) {
  const std::string head = "qreg q[3];";
  expect_refusals({{"rx q[0];", "takes 1 angles and 1 qubits, got 0 and 1"},
                   {"h(1) q[0];", "takes 0 angles and 1 qubits, got 1 and 1"},
                   {"u3(1,2) q[0];", "takes 3 angles"},
                   {"h q[0],q[1];", "got 0 and 2"},
                   {"h() q[0];", "accepted"},
                   {"ccx q[0],q[1],q[0];", "the same qubit twice"},
                   {"rxx q[0];", "takes 1 angles and 2 qubits"},
                   {"rxy q[0];", "did you mean"}},
                  head);
  for (const auto& [later, what] : {std::pair{"opaque", "a gate without a body"},
                                    {"while", "a loop that depends on a measurement"},
                                    {"def", "a subroutine"},
                                    {"input", "a parameter of a run"},
                                    {"extern", "a function outside of the file"},
                                    {"delay", "timing"},
                                    {"duration", "timing"},
                                    {"box", "timing"},
                                    {"defcal", "calibration"},
                                    {"cal", "calibration"},
                                    {"array", "an array"}}) {
    EXPECT_THAT(refusal_of(head + later + " q[0];"),
                HasSubstr("not read: '" + std::string(later) + "', " + what +
                          "; write the circuit out, with measurements at its end"));
  }
}

TEST(QasmGates, are_a_million_at_most) {
  std::string text = "qreg q[4000];";
  for (int k = 0; k < 250; ++k) text += "h q;";
  EXPECT_EQ(parse_qasm(text, "").gates.size(), 1'000'000u);
  EXPECT_THAT(refusal_of(text + "h q[0];"), HasSubstr("more than 10^6 gates"));
}

TEST(QasmText, is_of_either_version_to_the_letter) {
  const Circuit circuit =
      parse_qasm("qubit[2] q;bit[2] c;u3(0.5,-1,2e-7) q[1];cx q[0],q[1];c[1] = measure q[0];", "");
  EXPECT_EQ(qasm_text(circuit, 2),
            "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[2];\ncreg c[2];\n"
            "u3(0.5,-1,2e-07) q[1];\ncx q[0],q[1];\nmeasure q[0] -> c[1];\n");
  EXPECT_EQ(qasm_text(circuit, 3),
            "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[2] q;\nbit[2] c;\n"
            "u3(0.5,-1,2e-07) q[1];\ncx q[0],q[1];\nc[1] = measure q[0];\n");
  EXPECT_EQ(qasm_text(parse_qasm("qubit q;", ""), 3),
            "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[1] q;\n");
}

TEST(QasmFile, is_read_under_its_name) {
  const test::ScratchFolder folder;
  test::write_file(folder / "a.qasm", "qreg q[2];h q;");
  EXPECT_EQ(read_qasm(folder / "a.qasm").gates.size(), 2u);
  test::write_file(folder / "b.qasm", "qreg q[2];no q;");
  const auto failure = test::error_of([&] { read_qasm(folder / "b.qasm"); });
  EXPECT_THAT(failure.line(), HasSubstr("b.qasm:1:11: unknown gate"));
}

}  // namespace
}  // namespace halmark::circuit
