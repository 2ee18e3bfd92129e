// A device of the fake plugin, whose kernels take what a script says: measured, interrupted, gone
// on with, written, and used by its name.
#include "onboard/onboard.hpp"

#include <gmock/gmock.h>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "host/plugin/discovery.hpp"
#include "onboard/onboard_view.hpp"
#include "plan/device/device_file.hpp"
#include "problems.hpp"
#include "tests/checkout.hpp"
#include "tests/scoped_environment.hpp"
#include "tune/sizing/forecasts_view.hpp"
#include "tune/sources/device_sides.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::onboard {
namespace {

using namespace onboard_test;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class OnboardTest : public testing::Test {
 protected:
  OnboardTest() {
    for (const std::int64_t n : {16, 24, 32, 48, 64}) {
      for (const std::int64_t m : {1, 2, 4, 8, 16, 32, 64, 96}) {
        plan_.candidates.fitted.push_back(candidate(gemm(m, n, 32), 0.02));
      }
    }
    for (const std::int64_t m : {1, 3, 12, 40, 80}) {
      plan_.candidates.held_out.push_back(candidate(gemm(m, 40, 32), 0.02));
    }
    plan_.held_out = plan_.candidates.held_out.size();
    plan_.request = {.out = "mine", .backend = "fake", .dtypes = {"f32"}};
    plan_.device = device();
    plan_.folder = folder_ / "devices/mine";
    plan_.total_s = 60;
    plan_.text = "a plan";
    setting_.target.measured = device();
    setting_.target.fingerprint = "print";
    setting_.plugin_release = "1";
    const auto found = discover(
        {.paths = {test::in_build("/tests/plugins/hm_fake.so")}, .search_installed = false});
    measuring_.backend = "fake";
    measuring_.plugin_path = found.at(0).path;
    measuring_.plugin_hash = found.at(0).hash;
  }

  Outcome onboarded(const Hooks& hooks = {}) {
    const auto store = open_store(folder_ / "rows.db");
    Outcome out =
        onboard(plan_, setting_, measuring_, *store,
                {.command = "halmark onboard", .started_utc = "2026-11-30T00:00:00Z"}, hooks);
    rows_ = store->run_measurements(*store->latest_run()).size();
    return out;
  }

  const test::ScratchFolder folder_;
  const test::ScopedVariable script_{"HALMARK_FAKE_SCRIPT",
                                     "timer=device_event;latency_ns=50000;bytes_per_s=1e9"};
  Plan plan_;
  Setting setting_;
  tune::KernelMeasuring measuring_;
  std::size_t rows_ = 0;
};

TEST_F(OnboardTest, a_stopped_one_keeps_its_rows_and_the_next_call_measures_the_rest_alone) {
  std::stop_source stop;
  measuring_.stop = stop.get_token();
  std::size_t said = 0;
  const Outcome first = onboarded({[&](double, double, const std::string&) {
    if (++said == 7) stop.request_stop();
  }});
  EXPECT_TRUE(first.is_interrupted);
  EXPECT_GE(rows_, 7u);
  EXPECT_FALSE(fs::exists(plan_.folder));
  const std::size_t before = rows_;
  measuring_.stop = {};
  const Outcome second = onboarded();
  EXPECT_FALSE(second.is_interrupted);
  EXPECT_EQ(rows_, second.fitted + second.failed + plan_.held_out)
      << "no kernel was measured twice";
  EXPECT_GT(rows_, before);
  EXPECT_EQ(second.end, "the held-out error is within the goal") << "the script has no noise";
  EXPECT_LT(second.fitted, 40u);
  EXPECT_LT(*second.families.back().median, 0.05);
  EXPECT_THAT(
      outcome_view(plan_, second).text,
      AllOf(HasSubstr("What may be believed"), HasSubstr("no decode step of another model")));
}

TEST_F(OnboardTest, the_folder_is_a_known_device_with_tables_of_its_own) {
  const Outcome outcome = onboarded();
  EXPECT_EQ(outcome.checksum.size(), 64u);
  const std::vector<fs::path> devices = {folder_ / "devices"};
  const Device by_name = known_device("mine", devices);
  EXPECT_EQ(by_name.folder, plan_.folder.string());
  EXPECT_EQ(known_device(plan_.folder.string(), {}).id, "mine");
  EXPECT_EQ(known_devices(devices).size(), 1u);
  EXPECT_FALSE(datasheet_of(by_name.name, "gpu", devices)) << "what was measured is no datasheet";
  const auto forecasts = tune::found_forecasts(by_name, devices);
  ASSERT_EQ(forecasts.files.size(), 1u);
  EXPECT_EQ(forecasts.files[0].engine, "fake");
  EXPECT_FALSE(forecasts.near);
  const std::string listed = tune::forecasts_view("mine", {}, devices, 200).text;
  EXPECT_THAT(listed,
              testing::ContainsRegex("mine +fake 1 +[0-9]+ +[0-9.]+ % +[0-9.]+ % +op_gemm"));
  const auto sides = tune::device_sides({.names = {plan_.folder.string(), "mine"}}, devices);
  EXPECT_EQ(sides[0].device, "mine");
  EXPECT_EQ(sides[1].device, "mine");
  // Another device is not written over it, and damage is not believed.
  plan_.device.fingerprint = "another";
  EXPECT_THAT(test::error_of([&] { onboarded(); }).line(), HasSubstr("holds another device"));
  test::write_file((plan_.folder / "device.toml").string(), "id = \"mine\"\n");
  EXPECT_THAT(test::error_of([&] { known_device("mine", devices); }).line(),
              HasSubstr("SHA256SUMS"));
}

}  // namespace
}  // namespace halmark::onboard
