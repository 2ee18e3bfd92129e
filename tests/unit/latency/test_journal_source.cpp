#include "latency/journal_source.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using testing::AllOf;

// 1e12 FLOP/s: 2 x 1000^3 FLOPs are 2 ms.
Device device() {
  Device d{.id = "here"};
  d.peaks = {{.path = "p", .dtype = Dtype::bf16, .threads = 2, .flops_per_s = 1e12}};
  return d;
}

KernelCase case_of(std::int64_t m) { return {.problem = gemm(m), .backend = "cpu"}; }

TEST(JournalSource, folds_the_rounds_of_whole_devices_read_cold) {
  KernelCase hot = case_of(1000), cut = case_of(1000), crowd = case_of(1000);
  hot.mode = CacheMode::hot;
  cut.parts = 2;
  crowd.shards_at_once = 2;
  const std::vector<Measurement> rows{row_of(case_of(1000), 4e6), row_of(case_of(1000), 5e6),
                                      row_of(case_of(1000), 6e6), row_of(hot, 3e6),
                                      row_of(cut, 3e6),           row_of(crowd, 3e6)};
  const JournalSource source(rows, device(), "r.db");
  EXPECT_EQ(source.size(), 1u);
  const auto latency = source.latency(case_of(1000));
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->ns, 5e6);
  EXPECT_EQ(latency->rounds, 3);
  EXPECT_EQ(latency->provenance, Provenance::measured);
  EXPECT_DOUBLE_EQ(latency->lower_bound_ns, 2e6);
  EXPECT_EQ(latency->limiter, Limiter::compute);
  EXPECT_FALSE(source.latency(case_of(999)));
}

TEST(JournalSource, of_several_variants_the_fastest_that_can_be_true) {
  KernelCase other = case_of(1000), impossible = case_of(1000);
  other.kernel = "tiled";
  impossible.kernel = "skips work";
  const JournalSource source(
      std::vector{row_of(case_of(1000), 5e6), row_of(other, 4e6), row_of(impossible, 1e6)},
      device(), "r.db");
  EXPECT_EQ(source.latency(case_of(1000))->ns, 4e6);
  ASSERT_EQ(source.points().size(), 1u);
  EXPECT_EQ(source.points()[0].ns, 4e6);
}

// Variants come in the order of their names: the false one first, last, and two of them alone.
TEST(JournalSource, a_false_time_hides_no_true_one_whatever_their_order) {
  const auto variant = [](const char* name, double ns) {
    KernelCase c = case_of(1000);
    c.kernel = name;
    return row_of(c, ns);
  };
  for (const auto& rows : {std::vector{variant("a", 1e6), variant("b", 5e6), variant("c", 6e6)},
                           std::vector{variant("a", 6e6), variant("b", 5e6), variant("c", 1e6)}}) {
    const JournalSource source(rows, device(), "r.db");
    EXPECT_EQ(source.latency(case_of(1000))->ns, 5e6);
    EXPECT_EQ(source.latency(case_of(1000))->status, Status::ok);
    EXPECT_EQ(source.latency(case_of(1000))->reason, "");
  }
  const JournalSource none(std::vector{variant("a", 1.2e6), variant("b", 1e6)}, device(), "r.db");
  EXPECT_EQ(none.latency(case_of(1000))->status, Status::quarantined);
  EXPECT_EQ(none.latency(case_of(1000))->ns, 1e6);
}

TEST(JournalSource, rows_without_a_time_are_none) {
  Measurement failed = row_of(case_of(1000), 5e6);
  failed.status = Status::crashed;
  failed.samples.clear();
  const JournalSource source(std::vector{failed}, device(), "r.db");
  EXPECT_EQ(source.size(), 0u);
  EXPECT_FALSE(source.latency(case_of(1000)));
}

TEST(JournalSource, a_time_below_its_bound_is_quarantined_and_teaches_nothing) {
  const auto with = [](double ns) {
    return JournalSource(std::vector{row_of(case_of(1000), ns)}, device(), "r.db");
  };
  EXPECT_EQ(with(2e6 / 1.019).latency(case_of(1000))->status, Status::ok);
  const JournalSource refused = with(2e6 / 1.021);
  const auto latency = refused.latency(case_of(1000));
  EXPECT_EQ(latency->status, Status::quarantined);
  EXPECT_THAT(latency->reason, AllOf(HasSubstr("2000.000 us"), HasSubstr("measured: r.db")));
  EXPECT_TRUE(refused.points().empty());
}

}  // namespace
}  // namespace halmark
