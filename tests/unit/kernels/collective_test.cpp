#include <gtest/gtest.h>

#include "core/numeric/cast.hpp"
#include "kernels/collective.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

Params collective(std::int64_t bytes, std::int64_t ranks, Dtype dtype = Dtype::f32) {
  return {{"bytes", bytes}, {"ranks", ranks}, {"dtype", value_of(dtype)}};
}

// Rank r holds {r1, r2}, or two blocks for each of three ranks.
TableReader three_ranks(std::int64_t bytes) {
  TableReader inputs;
  inputs.tables[{0, 0}] = {1, 2, 3, 4, 5, 6};
  inputs.tables[{1, 0}] = {10, 20, 30, 40, 50, 60};
  inputs.tables[{2, 0}] = {100, -200, 300, 400, 500, -600};
  for (auto& [place, table] : inputs.tables) table.resize(as_size(bytes / 4));
  return inputs;
}

// Reduced: all ranks have the sum. Gathered: rank order. Sent: by one rank. Reduced and scattered:
// each rank has its block of the sum. All to all: blocks and ranks are transposed. Broadcast: the
// source of the first.
TEST(Collectives, give_each_rank_what_they_say) {
  const struct {
    const char* op;
    int rank;
    std::int64_t bytes;
    std::vector<double> result;
  } cases[] = {{"all_reduce", 0, 8, {111, -178}},
               {"all_reduce", 1, 8, {111, -178}},
               {"all_reduce", 2, 8, {111, -178}},
               {"all_gather", 1, 8, {1, 2, 10, 20, 100, -200}},
               {"send_recv", 0, 8, {100, -200}},
               {"send_recv", 1, 8, {1, 2}},
               {"broadcast", 0, 8, {1, 2}},
               {"broadcast", 1, 8, {1, 2}},
               {"broadcast", 2, 8, {1, 2}},
               {"reduce_scatter", 0, 24, {111, -178}},
               {"reduce_scatter", 1, 24, {333, 444}},
               {"reduce_scatter", 2, 24, {555, -534}},
               {"all_to_all", 0, 24, {1, 2, 10, 20, 100, -200}},
               {"all_to_all", 2, 24, {5, 6, 50, 60, 500, -600}}};
  for (const auto& [op, rank, bytes, result] : cases) {
    EXPECT_EQ(expected_values(op, collective(bytes, 3), three_ranks(bytes), 1, rank), result)
        << op << rank;
  }
}

TEST(Collectives, a_source_of_blocks_must_divide_by_the_ranks) {
  for (const auto* name : {"reduce_scatter", "all_to_all"}) {
    EXPECT_FALSE(op(name).check_relations(collective(24, 3)).has_value());
    const auto reason = op(name).check_relations(collective(20, 3));
    ASSERT_TRUE(reason.has_value());
    EXPECT_NE(reason->find("3 ranks"), std::string::npos) << *reason;
  }
  EXPECT_FALSE(op("all_reduce").check_relations(collective(20, 3)).has_value());
}

TEST(Collectives, one_rank_is_the_identity_and_moves_nothing) {
  for (const auto* name :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv"}) {
    const auto params = collective(4096, 1);
    const Drawn drawn(name, params, 1);
    const auto x = drawn.of(0);
    const auto out = expected(name, params, drawn.inputs, 1);
    ASSERT_EQ(out.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(out[i].value, x[i]);
      EXPECT_EQ(out[i].tolerance, 0);
    }
    EXPECT_EQ(op(name).work(params).transfer_bytes, 0) << name;
    EXPECT_EQ(op(name).work(params).vector_flops, 0) << name;
  }
}

// One line of nccl-tests: what its GetBw functions compute from the counts of a run. `count` is its
// paramcount; sizes and factors are transcribed from all_reduce.cu, all_gather.cu,
// reduce_scatter.cu, alltoall.cu, broadcast.cu and sendrecv.cu.
struct NcclTests {
  const char* op;
  double (*base)(double count, double type_bytes, double ranks);
  double (*factor)(double ranks);
  std::int64_t (*source_elements)(std::int64_t count, std::int64_t ranks);
};
double plain(double count, double type_bytes, double) { return count * type_bytes; }
double times_ranks(double count, double type_bytes, double n) { return count * type_bytes * n; }
std::int64_t same(std::int64_t count, std::int64_t) { return count; }
std::int64_t of_all(std::int64_t count, std::int64_t ranks) { return count * ranks; }

const NcclTests nccl_tests[] = {
    {"all_reduce", plain, [](double n) { return 2 * (n - 1) / n; }, same},
    {"all_gather", times_ranks, [](double n) { return (n - 1) / n; }, same},
    {"reduce_scatter", times_ranks, [](double n) { return (n - 1) / n; }, of_all},
    {"all_to_all", times_ranks, [](double n) { return (n - 1) / n; }, of_all},
    {"broadcast", plain, [](double) { return 1.0; }, same},
    {"send_recv", plain, [](double) { return 1.0; }, same},
};

TEST(Collectives, bandwidths_are_those_of_nccl_tests) {
  constexpr double seconds = 1e-3;
  for (const NcclTests& line : nccl_tests) {
    for (const std::int64_t n : {2, 3, 8}) {
      for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
        const std::int64_t count = 4096, width = dtype_bits(dtype) / 8;
        const auto bytes = line.source_elements(count, n) * width;
        const auto work = op(line.op).work(collective(bytes, n, dtype));
        const auto found = collective_bandwidth(work, seconds * 1e9);
        ASSERT_TRUE(found.has_value()) << line.op;
        const double base = line.base(as_double(count), as_double(width), as_double(n));
        EXPECT_DOUBLE_EQ(found->algorithm, base / seconds) << line.op;
        EXPECT_DOUBLE_EQ(found->bus, base / seconds * line.factor(as_double(n)))
            << line.op << ' ' << n;
      }
    }
  }
}

// Lines of nccl-tests on 8 H100 SXM, half, 512 MiB: size, microseconds and busbw as it printed them
// (public measurements of ai-dynamo/aiconfigurator, NCCL 2.29.2).
TEST(Collectives, published_lines_of_nccl_tests_read_the_same) {
  constexpr std::int64_t size = 536870912, ranks = 8;
  struct Line {
    const char* op;
    std::int64_t source_bytes;
    double duration_us, busbw;
  };
  for (const Line& line :
       {Line{"all_reduce", size, 2111.06, 445.05}, Line{"all_gather", size / ranks, 1401.5, 335.19},
        Line{"reduce_scatter", size, 1399.36, 335.70}, Line{"all_to_all", size, 1490.42, 315.19}}) {
    const auto work = op(line.op).work(collective(line.source_bytes, ranks, Dtype::f16));
    EXPECT_NEAR(collective_bandwidth(work, line.duration_us * 1e3)->bus * 1e-9, line.busbw, 0.01)
        << line.op;
  }
}

TEST(Collectives, other_ops_have_no_bus) {
  EXPECT_FALSE(collective_bandwidth(op("copy").work({{"bytes", 64}}), 1).has_value());
}

TEST(Collectives, ranks_hold_different_sources) {
  const Drawn drawn("all_reduce", collective(400, 2), 3);
  EXPECT_NE(drawn.of(0, 0), drawn.of(0, 1));
}

}  // namespace
}  // namespace halmark::testing
