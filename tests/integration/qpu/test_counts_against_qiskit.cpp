// Circuits that Qiskit draws and writes: each gate is counted as often as Qiskit counts it. Needs
// qiskit.
#include <gtest/gtest.h>

#include "circuit/qasm.hpp"
#include "core/json/json.hpp"
#include "tests/checkout.hpp"
#include "tests/integration/process.hpp"
#include "tests/python_with.hpp"

namespace halmark::circuit {
namespace {

TEST(CircuitsAgainstQiskit, have_as_many_gates_of_each_name) {
  const auto python = test::python_with("qiskit");
  if (!python) GTEST_SKIP() << "no Python with qiskit";
  const auto ran =
      integration::Process(
          {.arguments = {*python, test::in_source("/tests/integration/qpu/qiskit_counts.py"), "30"},
           .limit_s = 200})
          .wait();
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json cases = Json::parse(ran.out);
  ASSERT_EQ(cases.size(), 30u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Circuit circuit = parse_qasm(cases[i]["qasm"].get<std::string>(), "qiskit");
    auto counts = counts_by_name(circuit);
    if (const auto built_in = counts.extract("U")) counts["u"] += built_in.mapped();
    EXPECT_EQ(counts, (cases[i]["counts"].get<std::map<std::string, std::int64_t>>())) << i;
    EXPECT_EQ(circuit.qubits, cases[i]["qubits"].get<int>());
    EXPECT_EQ(std::ssize(circuit.measured), circuit.qubits);
  }
}

}  // namespace
}  // namespace halmark::circuit
