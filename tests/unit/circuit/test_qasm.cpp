// OpenQASM: what is read, what it is written as, and what is refused where.
#include <numbers>

#include "refused_qasm.hpp"

namespace halmark::circuit {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace halmark::circuit
