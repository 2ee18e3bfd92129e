#include "history/recorded.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "stored.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using halmark::test::error_of;
using halmark::test::expect_error;
using testing::HasSubstr;

const test::StoredNights slower_at_last{.nights = 22, .step = 0.08, .step_at = 20};

class Recorded : public testing::Test {
 protected:
  NightReport report(const HistoryQuery& query) {
    return night_report(*open_store_read_only(path_), query, {}, path_);
  }
  halmark::test::ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(Recorded, the_series_of_all_nights_are_judged_together) {
  test::store_nights(path_, slower_at_last);
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
  test::store_nights(path_, slower_at_last);
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
  test::store_nights(path_, slower_at_last);
  const NightReport few = report({.nights = 12});
  EXPECT_EQ(few.runs.front(), 11);
  EXPECT_EQ(few.series[0].nights.size(), 12u);
  EXPECT_EQ(report({.device = "cpu:0"}).series.size(), 2u);
  expect_error([&] { report({.device = "cuda"}); }, "no kernel on cuda was measured");
}

std::int64_t begin(Store& store, const std::string& utc = "2026-01-01",
                   const std::string& fingerprint = "class@host") {
  return store.begin_run(
      {.command = "halmark bench", .fingerprint = fingerprint, .started_utc = utc});
}

// Rows of one kernel in a run of that day; of none with no times.
void append_run(const std::string& path, const std::string& day, std::vector<Measurement> rows) {
  const auto store = open_store(path);
  store->append(begin(*store, day + "T02:00:00Z"), rows);
}

std::vector<Measurement> rows_of(std::int64_t m, Status status = Status::ok) {
  std::vector<Measurement> out;
  for (int round = 0; round < 3; ++round) {
    out.push_back(test::measurement(m, 1000, round));
    out.back().status = status;
    out.back().reason = status == Status::ok ? "" : "why";
  }
  return out;
}

const SeriesHistory& series_of(const NightReport& night, const std::string& m) {
  return *std::ranges::find_if(night.series, [&](const SeriesHistory& one) {
    return one.name.what.find(m) != std::string::npos;
  });
}

TEST_F(Recorded, a_series_that_was_not_measured_tonight_keeps_no_verdict_of_an_earlier_night) {
  test::store_nights(path_, slower_at_last);
  append_run(path_, "2026-02-01", rows_of(2));
  const NightReport night = report({});
  EXPECT_EQ(series_of(night, "m=1").change, Change::waiting) << "it was SLOWER";
  EXPECT_EQ(series_of(night, "m=1").reason, "not measured tonight, last in run 22");
  EXPECT_FALSE(series_of(night, "m=1").ratio);
  EXPECT_EQ(series_of(night, "m=1").nights.size(), 22u) << "what is known stays";
  EXPECT_EQ(series_of(night, "m=2").change, Change::same);
  EXPECT_EQ(report({.op = "gemm"}).count(Change::waiting), 1);
  // Later on the same day another command measures it: tonight is the day.
  append_run(path_, "2026-02-01", rows_of(1));
  EXPECT_EQ(report({}).count(Change::waiting), 0);
}

// What computed in earlier nights and breaks tonight is no noise.
TEST_F(Recorded, a_series_that_breaks_tonight_has_failed) {
  test::store_nights(path_, {.nights = 22});
  append_run(path_, "2026-02-01", rows_of(1, Status::crashed));
  append_run(path_, "2026-02-01", rows_of(2, Status::quarantined));
  append_run(path_, "2026-02-01", rows_of(3, Status::wrong_result));
  const NightReport night = report({});
  EXPECT_EQ(series_of(night, "m=1").change, Change::failed);
  EXPECT_EQ(series_of(night, "m=1").reason, "no sound row tonight, of 3: crashed: why");
  EXPECT_EQ(series_of(night, "m=2").change, Change::invalid) << "a time that nobody believes";
  EXPECT_EQ(series_of(night, "m=3").change, Change::invalid) << "it never computed";
  EXPECT_EQ(night.series.front().change, Change::failed) << "first of all";
}

TEST_F(Recorded, a_series_without_a_sound_row_tonight_is_invalid_with_the_reason) {
  test::store_nights(path_, slower_at_last);
  std::vector<Measurement> rows = rows_of(1, Status::invalid);
  const std::vector<Measurement> others = rows_of(2, Status::suspect);
  rows.insert(rows.end(), others.begin(), others.end());
  append_run(path_, "2026-02-01", rows);
  const NightReport night = report({});
  EXPECT_EQ(series_of(night, "m=1").change, Change::invalid);
  EXPECT_EQ(series_of(night, "m=1").reason, "no sound row tonight, of 3: invalid: why");
  EXPECT_EQ(series_of(night, "m=2").change, Change::invalid);
  EXPECT_EQ(series_of(night, "m=2").reason, "no sound row tonight, of 3: why");
  // Builds that took turns tonight say what single rows do not.
  Duet duet{.kernel_case = test::measurement(2, 1, 0).kernel_case};
  duet.log_ratios.assign(10, std::log(1.2));
  open_store(path_)->append(23, duet);
  EXPECT_EQ(series_of(report({}), "m=2").change, Change::slower);
}

// Of a query the latest run that has some of it: a bench says nothing of configurations.
TEST_F(Recorded, tonight_is_of_what_is_asked_for) {
  test::store_nights(path_, {.nights = 8});
  append_run(path_, "2026-02-01", {});
  EXPECT_EQ(report({}).count(Change::waiting), 0);
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
  expect_error([&] { report({}); }, "the database has no run");
  test::store_nights(path_, {.nights = 1});
  expect_error([&] { report({.op = "gem"}); }, "kernel of op 'gem'");
  expect_error([&] { report({.model = "llama"}); }, "configuration of model 'llama'");
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
    const std::int64_t run = begin(*store);
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

// Nights of kept builds; a build computes gemm m=1 in its own time.
class NightsOfBuilds : public Recorded {
 protected:
  std::int64_t night(const std::string& build, double ns) {
    const auto store = open_store(path_);
    const std::string day = std::to_string(++nights_ + 10);
    const std::int64_t run = store->begin_run({.command = "halmark tune",
                                               .fingerprint = "class@host",
                                               .tool_version = "0.1",
                                               .started_utc = "2026-01-" + day + "T02:00:00Z"});
    for (int round = 0; round < 3; ++round) {
      for (std::int64_t m = 1; m <= 2; ++m) {
        const auto counter = static_cast<std::uint64_t>(nights_ * 6 + round * 2 + m);
        Measurement row = test::measurement(
            m, (m == 1 ? ns : 1000) * std::exp(0.003 * test::normal(1, counter)), round);
        row.plugin_hash = build + build;
        store->append(run, row);
      }
    }
    store->append(run, RunMachine{.lines = {}, .build = build + "0000"});
    return run;
  }
  // Pairs of both builds of m=1 that scatter: a night of them decides nothing.
  void pairs(std::int64_t run, double size) {
    Duet duet{.kernel_case = test::measurement(1, 1, 0).kernel_case,
              .old_build = "aaaa",
              .new_build = "bbbb",
              .choosing_pairs = 4};
    for (int i = 0; i < 8; ++i) duet.log_ratios.push_back(size + (i % 2 == 0 ? 0.045 : -0.045));
    open_store(path_)->append(run, duet);
  }
  static const SeriesHistory& of_m1(const NightReport& night) {
    return *std::ranges::find_if(night.series, [](const SeriesHistory& one) {
      return one.name.what.find("m=1 ") != std::string::npos;
    });
  }
  int nights_ = 0;
};

TEST_F(NightsOfBuilds, pairs_of_several_nights_answer_what_those_of_one_leave_open) {
  for (int i = 0; i < 7; ++i) night("aaaa", 1000);
  pairs(night("bbbb", 1050), 0.05);
  NightReport told = report({});
  EXPECT_EQ(of_m1(told).change, Change::undecided);
  EXPECT_EQ(told.pairs.series, 2u);
  EXPECT_EQ(told.pairs.open, 2u) << "of m=2 there is none at all";
  for (int i = 0; i < 2; ++i) pairs(night("bbbb", 1050), 0.05);
  told = report({});
  EXPECT_EQ(of_m1(told).change, Change::slower);
  EXPECT_EQ(of_m1(told).duet->verdict.pairs, 24);
  EXPECT_EQ(of_m1(told).duet->first_run, 8);
  EXPECT_EQ(told.pairs.open, 1u);
  EXPECT_EQ(told.pairs.old_build, "aaaa0000");
}

TEST_F(NightsOfBuilds, a_build_that_returns_is_held_against_its_own_nights) {
  for (int i = 0; i < 7; ++i) night("aaaa", 1000);
  for (int i = 0; i < 3; ++i) pairs(night("bbbb", 1080), 0.08);
  ASSERT_EQ(of_m1(report({})).change, Change::slower);
  night("aaaa", 1000);
  const NightReport told = report({});
  EXPECT_EQ(of_m1(told).change, Change::same) << of_m1(told).reason;
  EXPECT_FALSE(of_m1(told).duet);
  EXPECT_EQ(told.pairs.new_build, "") << "nothing has to be asked";
}

// One night of rows of these kernels, by m and time.
void store_night(const std::string& path, const std::vector<std::pair<std::int64_t, double>>& rows,
                 const std::string& fingerprint = "class@host") {
  const auto store = open_store(path);
  const std::int64_t run = begin(*store, "2026-01-01", fingerprint);
  int round = 0;
  for (const auto& [m, ns] : rows) store->append(run, test::measurement(m, ns, round++));
}

TEST_F(Recorded, the_urgent_come_first_and_of_these_the_slowest) {
  for (int night = 0; night < 12; ++night) {
    const double jitter = night % 2 == 0 ? 1.001 : 0.999;
    std::vector<std::pair<std::int64_t, double>> rows;
    for (int process = 0; process < 3; ++process) {
      const double ns = 1000 * jitter * (1 + 1e-4 * process);
      const bool is_last = night >= 10;
      rows.insert(rows.end(), {{1, ns * (is_last ? 1.1 : 1)},
                               {2, ns * (is_last ? 0.7 : 1)},
                               {3, ns},
                               {4, ns * (is_last ? 1.4 : 1)},
                               {5, ns * (is_last ? 0.9 : 1)}});
    }
    store_night(path_, rows);
  }
  std::vector<std::string> order;
  for (const SeriesHistory& one : report({}).series) {
    order.push_back(one.name.what.substr(one.name.what.find("m="), 3));
  }
  EXPECT_THAT(order, testing::ElementsAre("m=4", "m=1", "m=5", "m=2", "m=3"));
  EXPECT_EQ(report({}).count(Change::faster), 2);
  EXPECT_EQ(report({}).count(Change::invalid), 0);
}

TEST_F(Recorded, of_an_op_twelve_rows_a_night_are_read_of_this_machine) {
  store_night(path_, std::vector<std::pair<std::int64_t, double>>(14, {1, 1000}));
  EXPECT_EQ(report({.op = "gemm", .nights = 1}).series[0].nights[0].processes.size(), 12u);
  EXPECT_EQ(report({.nights = 1}).series[0].nights[0].processes.size(), 14u);
  store_night(path_, {{1, 1000}}, "class@other");
  store_night(path_, {{1, 1000}});
  EXPECT_EQ(report({.op = "gemm", .nights = 4}).series[0].nights.size(), 2u)
      << "other machines stand between";
}

TEST_F(Recorded, a_device_is_named_by_its_backend_and_its_number) {
  {
    const auto store = open_store(path_);
    const std::int64_t run = begin(*store);
    Measurement other = test::measurement(2, 1000, 0);
    other.kernel_case.backend = "cuda";
    store->append(run, other);
    store->append(run, test::measurement(1, 1000, 0));
  }
  for (const char* op : {"", "gemm"}) {
    EXPECT_EQ(report({.op = op}).series.size(), 2u);
    for (const char* device : {"cpu", "cpu:0", "cuda", "cuda:0"}) {
      EXPECT_EQ(report({.op = op, .device = device}).series.size(), 1u) << op << device;
    }
    expect_error([&] { report({.op = op, .device = "cpu:1"}); },
                 "on cpu:1 was measured in the latest runs of this machine");
  }
}

TEST_F(Recorded, configurations_behind_those_of_other_models_count_too) {
  const auto store = open_store(path_);
  const std::int64_t run = begin(*store);
  Evaluation refused = step_of("m", 1);
  refused.estimate.reset();
  store->append(run, step_of("other", 7000));
  store->append(run, refused);
  store->append(run, step_of("m", 1000));
  EXPECT_NEAR(report({.model = "m"}).series.at(0).nights.at(0).ns, 1000, 1e-6);
}

TEST_F(Recorded, duets_of_the_last_seven_nights_are_heard_or_of_all_if_there_are_fewer) {
  const auto heard = [&](int nights, std::int64_t run) {
    const std::string path = folder_ / (std::to_string(nights) + ".db");
    test::store_nights(path, {.nights = nights});
    Duet duet{.kernel_case = test::measurement(2, 1, 0).kernel_case};
    duet.log_ratios.assign(10, std::log(1.02));
    open_store(path)->append(run, duet);
    const NightReport night = night_report(*open_store_read_only(path), {}, {.floor = 0.01}, path);
    const bool out = night.series[0].duet || night.series[1].duet;
    EXPECT_EQ(night.count(Change::slower), out ? 1 : 0) << "by the floor that was asked for";
    return out;
  };
  EXPECT_TRUE(heard(21, 15));
  EXPECT_FALSE(heard(20, 13));
  EXPECT_TRUE(heard(3, 1));
}

}  // namespace
}  // namespace halmark::history
