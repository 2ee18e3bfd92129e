#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

Params collective(std::int64_t bytes, std::int64_t ranks, Dtype dtype = Dtype::f32) {
  return {{"bytes", bytes}, {"ranks", ranks}, {"dtype", value_of(dtype)}};
}

TableReader three_ranks() {
  TableReader inputs;
  inputs.tables[{0, 0}] = {1, 2};
  inputs.tables[{1, 0}] = {10, 20};
  inputs.tables[{2, 0}] = {100, -200};
  return inputs;
}

std::vector<double> result(const std::string& name, int rank) {
  std::vector<double> out;
  for (const auto& e : expected(name, collective(8, 3), three_ranks(), 1, rank))
    out.push_back(e.value);
  return out;
}

TEST(Collectives, all_reduce_gives_every_rank_the_sum) {
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(result("all_reduce", rank), (std::vector<double>{111, -178}));
  }
}

TEST(Collectives, all_gather_keeps_rank_order) {
  EXPECT_EQ(result("all_gather", 1), (std::vector<double>{1, 2, 10, 20, 100, -200}));
}

TEST(Collectives, send_recv_shifts_by_one_rank) {
  EXPECT_EQ(result("send_recv", 0), (std::vector<double>{100, -200}));
  EXPECT_EQ(result("send_recv", 1), (std::vector<double>{1, 2}));
}

TEST(Collectives, one_rank_is_the_identity_and_moves_nothing) {
  for (const auto* name : {"all_reduce", "all_gather", "send_recv"}) {
    const auto params = collective(4096, 1);
    const auto operands = op(name).operands(params);
    const GeneratedInputs inputs(1, operands, 0);
    const auto x = values(inputs, operands[0], 0);
    const auto out = expected(name, params, inputs, 1);
    ASSERT_EQ(out.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(out[i].value, x[i]);
      EXPECT_EQ(out[i].tolerance, 0);
    }
    EXPECT_EQ(op(name).work(params).transfer_bytes, 0) << name;
    EXPECT_EQ(op(name).work(params).vector_flops, 0) << name;
  }
}

// Bus factors: all-reduce 2 (n - 1) / n; all-gather (n - 1) / n of the gathered size.
TEST(Collectives, transfers_follow_the_bus_factors) {
  const double bytes = 1 << 20;
  for (const std::int64_t n : {2, 4, 8}) {
    const auto ranks = static_cast<double>(n);
    EXPECT_EQ(op("all_reduce").work(collective(1 << 20, n)).transfer_bytes,
              bytes * 2 * (ranks - 1) / ranks);
    EXPECT_EQ(op("all_gather").work(collective(1 << 20, n)).transfer_bytes,
              ranks * bytes * (ranks - 1) / ranks);
    EXPECT_EQ(op("send_recv").work(collective(1 << 20, n)).transfer_bytes, bytes);
  }
}

TEST(Collectives, ranks_hold_different_sources) {
  const auto params = collective(400, 2);
  const auto operands = op("all_reduce").operands(params);
  const GeneratedInputs inputs(3, operands, 0);
  EXPECT_NE(values(inputs, operands[0], 0, 0), values(inputs, operands[0], 0, 1));
}

}  // namespace
}  // namespace halmark::testing
