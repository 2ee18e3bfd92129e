// Plugins with false answers and times, each through a whole campaign of one row, beside honest
// ones that must stay what they are.
#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "bad/cheats.hpp"
#include "bad/expected.hpp"
#include "measure/campaign/run_peaks.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/measure/campaign/fake_campaign.hpp"

namespace halmark::abi_test {

void PrintTo(const Cheat& cheat, std::ostream* out) { *out << cheat.name; }

namespace {

constexpr std::int64_t f32 = static_cast<std::int64_t>(Dtype::f32);

KernelCase case_of(CheatCase what) {
  KernelCase out;
  switch (what) {
    case CheatCase::small:
      out = gemm_case(8, 24, 16, 3);
      break;
    case CheatCase::one_set:
      out = gemm_case(2, 8, 8, 1);
      break;
    case CheatCase::wide:
      out = gemm_case(1, 2048, 2048, 1);
      break;
    case CheatCase::rows:
      out.problem = {"softmax",
                     Params{{"rows", 64}, {"cols", 40}, {"src_dtype", f32}, {"dst_dtype", f32}}};
      break;
    case CheatCase::fused:
      out.problem = {
          "gated_activation",
          Params{{"rows", 16}, {"cols", 40}, {"kind", 0}, {"src_dtype", f32}, {"dst_dtype", f32}}};
      break;
    case CheatCase::collective:
      out.problem = {"all_reduce", Params{{"ranks", 1}, {"bytes", 1024}, {"dtype", f32}}};
      break;
    case CheatCase::long_gemm:
      out = gemm_case(1, 1024, 1024, 1);
      break;
    case CheatCase::medium:
      out = gemm_case(16, 128, 128, 1);
      break;
    case CheatCase::many_rows:
      out.problem = {"softmax",
                     Params{{"rows", 64}, {"cols", 512}, {"src_dtype", f32}, {"dst_dtype", f32}}};
      break;
    case CheatCase::copy:
      out.problem = {"copy", Params{{"bytes", 4096}}};
      break;
  }
  out.backend = "fake";
  return out;
}

CampaignOptions options_for(const std::string& script, bool is_apart, int repeat) {
  CampaignOptions options = fake_options(script);
  options.rule.min_samples = 60;
  options.rule.budget_s = 0.005;
  options.rule.repeat = repeat;
  options.plugin_path_by_backend["fake"] =
      test::in_build("/tests/plugins/hm_fake") + std::string(is_apart ? "_apart" : "") + ".so";
  return options;
}

Measurement measure(const std::string& script, CheatCase what, bool is_apart, int repeat) {
  RunPeaks peaks(with_slow_memory(), [] { return std::string("2026-11-22T15:00:00Z"); });
  CampaignOptions options = options_for(script, is_apart, repeat);
  if (what == CheatCase::wide) options.peaks = &peaks;
  const std::vector<KernelCase> cases{case_of(what)};
  return Campaign(std::move(options)).run(cases).at(0);
}

class CheatingPlugin : public testing::TestWithParam<Cheat> {};

TEST_P(CheatingPlugin, has_no_row_that_is_believed) {
  const Cheat& cheat = GetParam();
  const auto measured = [&] {
    return measure(std::string(cheat.script), cheat.of, cheat.is_apart, cheat.repeat);
  };
  Measurement row = measured();
  // A row misses what is wrong in each tenth execution with up to 1 % (checked_executions), two
  // rows with 1 in 10,000.
  const bool is_seldom = cheat.script.find("every_tenth") != cheat.script.npos;
  if (is_seldom && row.status == Status::ok) row = measured();
  std::printf("%-36s %-13s %-13s %s\n", std::string(cheat.name).c_str(),
              std::string(cheat.status).c_str(), std::string(status_name(row.status)).c_str(),
              row.reason.c_str());
  EXPECT_EQ(status_name(row.status), cheat.status) << row.reason;
  EXPECT_NE(row.reason.find(cheat.text), std::string::npos) << row.reason;
}

INSTANTIATE_TEST_SUITE_P(Abi, CheatingPlugin, testing::ValuesIn(cheats),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CheatingPlugins, are_with_those_that_fail_to_load_at_least_sixty) {
  EXPECT_GE(std::size(cheats) + std::size(bad_plugins), 60u);
}

// The same cases without a fault, in every way in which those ran.
TEST(CheatingPlugins, honest_ones_are_ok) {
  struct Honest {
    const char* script;
    CheatCase of;
    bool is_apart;
    int repeat;
  };
  std::vector<Honest> all;
  for (const CheatCase of : {CheatCase::small, CheatCase::one_set, CheatCase::wide, CheatCase::rows,
                             CheatCase::fused, CheatCase::collective, CheatCase::copy}) {
    for (const bool is_apart : {false, true}) {
      all.push_back({"", of, is_apart, 0});
      all.push_back({"latency_ns=50000", of, is_apart, 1});
      all.push_back({"timer=device_event;latency_ns=300000", of, is_apart, 0});
    }
  }
  all.push_back({"", CheatCase::one_set, false, 20});
  all.push_back({"", CheatCase::small, true, 7});
  for (const Honest& honest : all) {
    // Where the naive product takes longer than the scripted time, the device's clock is a lie.
    if (honest.of == CheatCase::wide && *honest.script != '\0') continue;
    const Measurement row = measure(honest.script, honest.of, honest.is_apart, honest.repeat);
    EXPECT_EQ(status_name(row.status), "ok")
        << honest.script << " of " << row.kernel_case.problem.text() << ": " << row.reason;
    const bool counts = row.correctness.method.find("executions around") != std::string::npos;
    EXPECT_TRUE(counts) << row.correctness.method;
  }
}

}  // namespace
}  // namespace halmark::abi_test
