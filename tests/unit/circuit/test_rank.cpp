// Fidelities, times and costs against products by hand; every shipped file is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "circuit/qasm.hpp"
#include "circuit/rank.hpp"
#include "core/input/places.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::circuit {
namespace {

using ::testing::HasSubstr;

QpuDevice device(const std::string& id, int qubits, double two_qubit_error) {
  QpuDevice out;
  out.id = id;
  out.qubits = qubits;
  out.connectivity = "all_to_all";
  out.one_qubit_error = 0.001;
  out.two_qubit_error = two_qubit_error;
  out.readout_error = 0.01;
  return out;
}

const Circuit ghz = parse_qasm("qreg q[3];h q[0];cx q[0],q[1];cx q[1],q[2];", "ghz");

TEST(Rank, fidelity_is_the_product_over_gates_and_readouts) {
  const auto rows = rank(ghz, {device("a", 3, 0.02)}, 100);
  EXPECT_NEAR(rows[0].fidelity, 0.999 * 0.98 * 0.98 * 0.99 * 0.99 * 0.99, 1e-12);
  EXPECT_EQ(rows[0].dominant, "two-qubit gates");
  EXPECT_EQ(rank(ghz, {device("a", 3, 0.001)}, 100)[0].dominant, "readout");
}

TEST(Rank, the_better_device_is_first_and_the_small_one_last_with_its_reason) {
  const auto rows =
      rank(ghz, {device("small", 2, 0), device("bad", 5, 0.1), device("good", 5, 0.01)}, 1);
  EXPECT_EQ(rows[0].device.id, "good");
  EXPECT_EQ(rows[1].device.id, "bad");
  EXPECT_EQ(rows[2].device.id, "small");
  EXPECT_EQ(rows[2].refusal, "the circuit has 3 qubits, the device 2");
}

TEST(Rank, an_error_that_nobody_states_makes_an_upper_bound) {
  QpuDevice silent = device("a", 3, 0.02);
  silent.readout_error.reset();
  const auto rows = rank(ghz, {silent, device("known", 3, 0.1)}, 1);
  EXPECT_EQ(rows[0].device.id, "known");  // an upper bound is behind what is known
  EXPECT_TRUE(rows[1].is_upper_bound);
  EXPECT_NEAR(rows[1].fidelity, 0.999 * 0.98 * 0.98, 1e-12);
}

TEST(Rank, time_is_the_critical_path_and_cost_is_per_task_and_shot) {
  QpuDevice timed = device("a", 3, 0.02);
  timed.one_qubit_ns = 10;
  timed.two_qubit_ns = 100;
  timed.readout_ns = 1000;
  timed.usd_per_task = 0.3;
  timed.usd_per_shot = 0.01;
  const auto rows = rank(ghz, {timed}, 200);
  EXPECT_DOUBLE_EQ(rows[0].shot_ns.value(), 10 + 2 * 100 + 1000);
  EXPECT_DOUBLE_EQ(rows[0].cost_usd.value(), 2.3);
  EXPECT_FALSE(rank(ghz, {device("a", 3, 0.02)}, 1)[0].shot_ns.has_value());
}

TEST(Rank, a_line_needs_no_swaps_and_all_pairs_on_a_grid_do) {
  QpuDevice grid = device("grid", 16, 0.01);
  grid.connectivity = "grid";
  EXPECT_EQ(rank(ghz, {grid}, 1)[0].swaps, 0);
  std::string all = "qreg q[9];";
  for (int a = 0; a < 9; ++a) {
    for (int b = 0; b < a; ++b)
      all += "cz q[" + std::to_string(a) + "],q[" + std::to_string(b) + "];";
  }
  // 36 pairs, 2/3 * 3 = 2 hops on average, half of it by a good router.
  const auto rows = rank(parse_qasm(all, "all"), {grid, device("ions", 16, 0.01)}, 1);
  EXPECT_EQ(rows[0].device.id, "ions");
  EXPECT_DOUBLE_EQ(rows[1].swaps, 18);
  EXPECT_EQ(rows[1].gates.two_qubit, 36 + 3 * 18);
}

TEST(Rank, every_shipped_qpu_has_figures_with_their_source) {
  const auto devices = known_qpus(config_dirs("qpus"));
  ASSERT_GE(devices.size(), 5u);
  for (const QpuDevice& each : devices) {
    EXPECT_FALSE(each.errors_source.empty()) << each.id;
    EXPECT_TRUE(each.two_qubit_error.has_value()) << each.id;
    EXPECT_EQ(each.usd_per_shot.has_value(), !each.price_source.empty()) << each.id;
  }
}

TEST(Rank, a_figure_without_its_source_is_refused_at_its_place) {
  const std::string text =
      "id = 'a'\nname = 'a'\nvendor = 'v'\ntechnology = 't'\nqubits = 2\nconnectivity = 'line'\n"
      "two_qubit_error = 0.1\n";
  EXPECT_THROW(parse_qpu(text, "a.toml"), Error);
  EXPECT_EQ(parse_qpu(text + "errors_source = 'paper'\n", "a.toml").qubits, 2);
  const auto misspelt = [&] {
    parse_qpu(text + "errors_source = 'p'\ntwo_qubit_eror = 1\n", "a.toml");
  };
  EXPECT_THAT(test::error_of(misspelt).line(), HasSubstr("a.toml:9:1"));
}

}  // namespace
}  // namespace halmark::circuit
