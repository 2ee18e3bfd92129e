#include "history/recorded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stored.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using halmark::test::error_of;
using testing::HasSubstr;

class Recorded : public testing::Test {
 protected:
  NightReport report(const HistoryQuery& query) {
    return night_report(*open_store_read_only(path_), query, {}, path_);
  }
  halmark::test::ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(Recorded, the_series_of_all_nights_are_judged_together) {
  test::store_nights(path_, {.nights = 22, .step = 0.08, .step_at = 20});
  const NightReport night = report({});
  ASSERT_EQ(night.series.size(), 2u);
  EXPECT_EQ(night.runs.size(), 22u);
  EXPECT_EQ(night.series[0].change, Change::slower);
  EXPECT_THAT(night.series[0].name.what, HasSubstr("m=1"));
  EXPECT_NEAR(*night.series[0].ratio, 1.08, 0.01);
  EXPECT_EQ(night.series[1].change, Change::same);
  EXPECT_EQ(night.count(Change::slower), 1);
}

TEST_F(Recorded, an_op_is_read_by_its_keys_with_the_same_result) {
  test::store_nights(path_, {.nights = 22, .step = 0.08, .step_at = 20});
  const NightReport all = report({}), op = report({.op = "gemm"});
  ASSERT_EQ(op.series.size(), all.series.size());
  for (std::size_t i = 0; i < op.series.size(); ++i) {
    EXPECT_EQ(op.series[i].name, all.series[i].name);
    EXPECT_EQ(op.series[i].change, all.series[i].change);
    EXPECT_EQ(*op.series[i].ratio, *all.series[i].ratio);
    EXPECT_EQ(op.series[i].nights.size(), all.series[i].nights.size());
  }
}

TEST_F(Recorded, only_the_latest_nights_and_the_device_that_is_asked_for) {
  test::store_nights(path_, {.nights = 22, .step = 0.08, .step_at = 20});
  const NightReport few = report({.nights = 12});
  EXPECT_EQ(few.runs.front(), 11);
  EXPECT_EQ(few.series[0].nights.size(), 12u);
  EXPECT_EQ(report({.device = "cpu:0"}).series.size(), 2u);
  EXPECT_THAT(error_of([&] { report({.device = "cuda"}); }).line(),
              HasSubstr("no kernel on cuda was measured"));
}

TEST_F(Recorded, runs_of_other_machines_are_left_out) {
  test::store_nights(path_, {.nights = 5, .fingerprint = "class@other"});
  test::store_nights(path_, {.nights = 12});
  EXPECT_EQ(report({}).runs.size(), 12u);
  EXPECT_EQ(report({.op = "gemm"}).series[0].nights.size(), 12u);
}

TEST_F(Recorded, what_is_not_there_is_refused_with_the_reason) {
  EXPECT_EQ(error_of([&] { report({}); }).exit_code(), ExitCode::refused);
  { open_store(path_); }
  EXPECT_THAT(error_of([&] { report({}); }).line(), HasSubstr("the database has no run"));
  test::store_nights(path_, {.nights = 1});
  EXPECT_THAT(error_of([&] { report({.op = "gem"}); }).line(), HasSubstr("kernel of op 'gem'"));
  EXPECT_THAT(error_of([&] { report({.model = "llama"}); }).line(),
              HasSubstr("configuration of model 'llama'"));
}

Evaluation step_of(const std::string& model, double ns) {
  Evaluation out;
  out.configuration = {.model = model, .precision = {.name = "f32"}};
  out.configuration.workload.batch = 1;
  out.estimate = Estimate{.step_ns = ns, .low_ns = 0.99 * ns, .high_ns = 1.01 * ns};
  return out;
}

// Of each night the last evaluation of a configuration counts; one without an estimate does not.
TEST_F(Recorded, configurations_of_a_model_are_series_too) {
  for (int night = 1; night <= 12; ++night) {
    const auto store = open_store(path_);
    const std::int64_t run = store->begin_run(
        {.command = "halmark tune", .fingerprint = "class@host", .started_utc = "2026-01-01"});
    store->append(run, step_of("m", 5000));
    store->append(run, step_of("m", night > 10 ? 1200 : 1000));
    store->append(run, step_of("other", 7000));
    Evaluation refused = step_of("m", 1);
    refused.estimate.reset();
    store->append(run, refused);
  }
  const NightReport night = report({.model = "m"});
  ASSERT_EQ(night.series.size(), 1u);
  EXPECT_EQ(night.series[0].name.what, step_of("m", 1).configuration.key());
  EXPECT_EQ(night.series[0].name.fingerprint, "class@host");
  ASSERT_EQ(night.series[0].nights.size(), 12u);
  EXPECT_NEAR(night.series[0].nights.front().ns, 1000, 1e-6);
  EXPECT_EQ(night.series[0].nights.front().processes.size(), 1u);
  EXPECT_NEAR(night.series[0].nights.back().ns, 1200, 1e-6);
  EXPECT_EQ(night.fingerprint, "class@host");
  EXPECT_EQ(night.last_started_utc, "2026-01-01");
}

// Two builds that took turns say of the step that the nights see what it is of.
TEST_F(Recorded, duets_of_recent_nights_are_heard) {
  test::store_nights(path_, {.nights = 21, .step = 0.08, .step_at = 20});
  {
    const auto store = open_store(path_);
    Duet duet{
        .kernel_case = test::measurement(1, 1, 0).kernel_case, .old_build = "a", .new_build = "b"};
    duet.log_ratios.assign(10, std::log(1.2));
    store->append(21, duet);
    duet.log_ratios.assign(10, std::log(1.08));
    store->append(21, duet);
    duet.kernel_case = test::measurement(2, 1, 0).kernel_case;
    duet.log_ratios.assign(10, std::log(1.5));
    store->append(14, duet);  // before the last seven nights
  }
  const NightReport night = report({});
  EXPECT_EQ(night.series[0].change, Change::slower) << "on its first night already";
  ASSERT_TRUE(night.series[0].duet);
  EXPECT_EQ(night.series[0].duet->run, 21);
  EXPECT_EQ(night.series[0].duet->old_build, "a");
  EXPECT_EQ(night.series[0].duet->new_build, "b");
  EXPECT_NEAR(*night.series[0].ratio, 1.08, 1e-9) << "the last duet counts";
  EXPECT_FALSE(night.series[1].duet);
  EXPECT_EQ(night.series[1].change, Change::same);
}

}  // namespace
}  // namespace halmark::history
