#include "latency/journal_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/contract.hpp"

namespace halmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// 1e12 FLOP/s: 2 x 1000^3 FLOPs are 2 ms.
Device device() {
  Device d{.id = "here"};
  d.peaks = {{.path = "p", .dtype = Dtype::bf16, .threads = 2, .flops_per_s = 1e12}};
  return d;
}

KernelCase gemm(std::int64_t m) {
  const auto bf16 = static_cast<std::int64_t>(Dtype::bf16);
  KernelCase c;
  c.problem = complete_problem({"gemm",
                                {{"m", m},
                                 {"n", 1000},
                                 {"k", 1000},
                                 {"src_dtype", bf16},
                                 {"wei_dtype", bf16},
                                 {"dst_dtype", bf16}}});
  c.backend = "cpu";
  return c;
}

Measurement row(const KernelCase& kernel_case, double ns) {
  Measurement m;
  m.kernel_case = kernel_case;
  m.status = Status::ok;
  m.samples.push_back({.wall_ns = ns});
  m.duration_ns_median = ns;
  m.duration_ns_interval = {ns - 1, ns + 1};
  return m;
}

TEST(JournalSource, folds_the_rounds_of_whole_devices_read_cold) {
  KernelCase hot = gemm(1000), cut = gemm(1000), crowd = gemm(1000);
  hot.mode = CacheMode::hot;
  cut.parts = 2;
  crowd.shards_at_once = 2;
  const std::vector<Measurement> rows{row(gemm(1000), 4e6), row(gemm(1000), 5e6),
                                      row(gemm(1000), 6e6), row(hot, 3e6),
                                      row(cut, 3e6),        row(crowd, 3e6)};
  const JournalSource source(rows, device(), "r.db");
  EXPECT_EQ(source.size(), 1u);
  const auto latency = source.latency(gemm(1000));
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->ns, 5e6);
  EXPECT_EQ(latency->rounds, 3);
  EXPECT_EQ(latency->provenance, Provenance::measured);
  EXPECT_DOUBLE_EQ(latency->lower_bound_ns, 2e6);
  EXPECT_EQ(latency->limiter, Limiter::compute);
  EXPECT_FALSE(source.latency(gemm(999)));
}

TEST(JournalSource, of_several_variants_the_fastest_that_can_be_true) {
  KernelCase other = gemm(1000), impossible = gemm(1000);
  other.kernel = "tiled";
  impossible.kernel = "skips work";
  const JournalSource source(
      std::vector{row(gemm(1000), 5e6), row(other, 4e6), row(impossible, 1e6)}, device(), "r.db");
  EXPECT_EQ(source.latency(gemm(1000))->ns, 4e6);
  ASSERT_EQ(source.points().size(), 1u);
  EXPECT_EQ(source.points()[0].ns, 4e6);
}

// Variants come in the order of their names: the false one first, last, and two of them alone.
TEST(JournalSource, a_false_time_hides_no_true_one_whatever_their_order) {
  const auto variant = [](const char* name, double ns) {
    KernelCase c = gemm(1000);
    c.kernel = name;
    return row(c, ns);
  };
  for (const auto& rows : {std::vector{variant("a", 1e6), variant("b", 5e6), variant("c", 6e6)},
                           std::vector{variant("a", 6e6), variant("b", 5e6), variant("c", 1e6)}}) {
    const JournalSource source(rows, device(), "r.db");
    EXPECT_EQ(source.latency(gemm(1000))->ns, 5e6);
    EXPECT_EQ(source.latency(gemm(1000))->status, Status::ok);
    EXPECT_EQ(source.latency(gemm(1000))->reason, "");
  }
  const JournalSource none(std::vector{variant("a", 1.2e6), variant("b", 1e6)}, device(), "r.db");
  EXPECT_EQ(none.latency(gemm(1000))->status, Status::quarantined);
  EXPECT_EQ(none.latency(gemm(1000))->ns, 1e6);
}

TEST(JournalSource, rows_without_a_time_are_none) {
  Measurement failed = row(gemm(1000), 5e6);
  failed.status = Status::crashed;
  failed.samples.clear();
  const JournalSource source(std::vector{failed}, device(), "r.db");
  EXPECT_EQ(source.size(), 0u);
  EXPECT_FALSE(source.latency(gemm(1000)));
}

TEST(JournalSource, a_time_below_its_bound_is_quarantined_and_teaches_nothing) {
  const auto with = [](double ns) {
    return JournalSource(std::vector{row(gemm(1000), ns)}, device(), "r.db");
  };
  EXPECT_EQ(with(2e6 / 1.019).latency(gemm(1000))->status, Status::ok);
  const JournalSource refused = with(2e6 / 1.021);
  const auto latency = refused.latency(gemm(1000));
  EXPECT_EQ(latency->status, Status::quarantined);
  EXPECT_THAT(latency->reason, AllOf(HasSubstr("2000.000 us"), HasSubstr("measured: r.db")));
  EXPECT_TRUE(refused.points().empty());
}

}  // namespace
}  // namespace halmark
