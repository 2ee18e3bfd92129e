// At which share of the best bandwidth figures were taken, in every format.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "report/report.hpp"
#include "report/sentences.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

RunReport with_shares(const std::vector<std::optional<double>>& shares) {
  RunReport out{.title = "t", .model = "m"};
  for (const auto& share : shares) {
    KernelPoint kernel{.key = "k", .op = "gemm", .problem = "gemm m=1", .duration_ns = 1};
    kernel.bandwidth_share = share;
    if (!share) kernel.bandwidth_reason = "not recorded";
    out.kernels.push_back(kernel);
  }
  return out;
}

TEST(BandwidthShare, is_told_with_its_span) {
  const RunReport report = with_shares({0.52, 0.44, std::nullopt, 0.61});
  const std::string told =
      "memory while measuring: at 52.0 % of the best bandwidth (44.0 % .. 61.0 %, 3 kernels)";
  EXPECT_EQ(report::bandwidth_state_text(report), told);
  EXPECT_THAT(report_text(report, false), HasSubstr(told));
  EXPECT_THAT(report_markdown(report), HasSubstr("at 52.0 % of the best bandwidth"));
  EXPECT_THAT(report_html(report), HasSubstr("at 52.0 % of the best bandwidth"));
  const Json json = report_json(report);
  EXPECT_THAT(json, test::HasValues(R"({"/bandwidth_share/median": 0.52,
      "/bandwidth_share/low": 0.44, "/bandwidth_share/high": 0.61,
      "/kernels/0/bandwidth_share": 0.52, "/kernels/2/bandwidth_share_reason": "not recorded",
      "/kernels/2/bandwidth_share": null})"));
}

TEST(BandwidthShare, above_the_best_is_explained) {
  const std::string why = "; the best needs three probes";
  EXPECT_THAT(report::bandwidth_state_text(with_shares({0.9, 1.01})), HasSubstr(why));
  EXPECT_THAT(report::bandwidth_state_text(with_shares({0.9, 1.0})),
              Not(HasSubstr("three probes")));
}

TEST(BandwidthShare, is_not_told_where_nothing_is_known) {
  const RunReport report = with_shares({std::nullopt});
  EXPECT_EQ(report::bandwidth_state_text(report), "");
  for (const std::string& text : {report_text(report, false), report_markdown(report)}) {
    EXPECT_THAT(text, Not(HasSubstr("best bandwidth")));
  }
  EXPECT_TRUE(report_json(report)["bandwidth_share"].is_null());
  EXPECT_EQ(report_json(report)["bandwidth_share_reason"],
            "no kernel was measured beside reads of the memory");
}

TEST(BandwidthShare, peaks_of_one_occasion_are_marked) {
  RunReport report = with_shares({});
  report.device.emplace();
  report.device->peaks.push_back({.path = "f32_vector", .flops_per_s = 1e11});
  EXPECT_THAT(report_html(report), Not(HasSubstr("(provisional)")));
  report.device->peaks[0].is_provisional = true;
  EXPECT_THAT(report_html(report), HasSubstr("(provisional)"));
  EXPECT_EQ(report_json(report)["device"]["peaks"][0]["provisional"], true);
}

}  // namespace
}  // namespace halmark
