#include "latency/imported/imported_source.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using testing::AllOf;

KernelCase case_of(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype) {
  return {.problem = gemm(m, n, k, number_of(dtype))};
}

TEST(ImportedSource, knows_exact_problems_and_says_whose_they_are) {
  ImportedSource source({});
  source.add(table_of("gemm_dtype,m,n,k,latency\nfp8,1,2,3,1\nfp8,1,2,3,2\nfp8_block,1,2,3,9\n"));
  EXPECT_EQ(source.size(), 2u) << "rows of the first series";
  KernelCase wanted = case_of(1, 2, 3, Dtype::f8_e4m3fn);
  const auto latency = source.latency(wanted);
  ASSERT_TRUE(latency);
  EXPECT_DOUBLE_EQ(latency->ns, 1.5e6);  // the mean of the first series; the other is not mixed in
  EXPECT_EQ(latency->provenance, Provenance::imported);
  EXPECT_EQ(latency->status, Status::ok);
  says(latency->reason, "t.csv:2 gemm f8_e4m3fn;");
  wanted.problem.params.set("m", 2);
  EXPECT_FALSE(source.latency(wanted));
  wanted.problem.params.set("m", 1);
  wanted.parts = 2;
  EXPECT_FALSE(source.latency(wanted)) << "a cut of a device is another device";
}

// 2 x 1000^3 FLOPs at 1e12 are 2 ms: both sides of 102 % of that, as the table writes ms.
TEST(ImportedSource, a_time_below_the_bound_is_quarantined_with_both_figures) {
  Device device;
  device.peaks = {{.path = "p", .dtype = Dtype::bf16, .flops_per_s = 1e12}};
  const auto with = [&](const std::string& ms) {
    ImportedSource source(roofline::Ceilings(device, 0));
    source.add(table_of("gemm_dtype,m,n,k,latency\nbfloat16,1000,1000,1000," + ms + "\n"));
    return source.latency(case_of(1000, 1000, 1000, Dtype::bf16)).value();
  };
  const Latency kept = with(std::to_string(2 / 1.019));
  EXPECT_EQ(kept.status, Status::ok);
  EXPECT_DOUBLE_EQ(kept.lower_bound_ns, 2e6) << "a time does not bend the bound";
  EXPECT_EQ(kept.limiter, Limiter::compute);
  const Latency refused = with(std::to_string(2 / 1.021));
  EXPECT_EQ(refused.status, Status::quarantined);
  EXPECT_THAT(refused.reason, AllOf(HasSubstr("faster_than_roofline: 102.1 %"), HasSubstr("1958.8"),
                                    HasSubstr("2000.000 us"), HasSubstr("t.csv:2 gemm bf16")));
}

}  // namespace
}  // namespace halmark
