// Sources that become a kernel, with a compiler that copies the fake plugin: its shapes first, then
// what was asked, beside a baseline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "judge/judge.hpp"
#include "tests/checkout.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark::judge {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

const std::string plugins = test::in_build("/tests/plugins/");

KernelCase copied(std::int64_t bytes = 64) {
  return {.problem = complete_problem({"copy", {{"bytes", bytes}}}), .backend = "judged"};
}

class JudgingRun : public testing::Test {
 protected:
  JudgingRun() {
    test::write_file(request_.path, "text");
    test::write_file(folder_ / "compiler",
                     "#!/bin/sh\nfor last; do case $last in */hm_judged.so) "
                     "cp " +
                         plugins + "hm_fake.so $last;; esac; done\n");
    fs::permissions(folder_ / "compiler", fs::perms::owner_all);
    measuring_.rounds = 2;
    measuring_.seconds = 0.002;
    measuring_.sink = [this](const Measurement& row) { rows_.push_back(row); };
  }

  Judged judged(const std::vector<KernelCase>& cases = {copied()}) {
    return judge_source(request_, cases, measuring_, found_);
  }
  void with_second_backend() {
    found_ = discover({.paths = {plugins + "hm_fake_two.so"}, .search_installed = false});
    ASSERT_TRUE(found_.at(0).is_loaded()) << found_[0].refusal;
  }
  static void script(const char* text) { setenv("HALMARK_FAKE_SCRIPT", text, 1); }

  const test::ScratchFolder folder_;
  const test::ScopedVariable cc_{"CC", folder_ / "compiler"}, cxx_{"CXX", folder_ / "compiler"},
      script_{"HALMARK_FAKE_SCRIPT"};
  JudgeRequest request_{.path = folder_ / "a.c", .baseline = "none", .keep = "", .flags = {}};
  tune::KernelMeasuring measuring_;
  std::vector<FoundPlugin> found_;
  std::vector<Measurement> rows_;
};

TEST_F(JudgingRun, measures_every_shape_once_and_what_was_asked_in_rounds) {
  KernelCase asked = copied();
  asked.sets = 3;
  const Judged out = judged({asked, copied(128)});
  EXPECT_FALSE(out.fault);
  ASSERT_GT(out.conformance_problems, 1u);
  ASSERT_EQ(out.conformance.size(), out.conformance_problems);
  for (const Measurement& row : out.conformance) {
    EXPECT_EQ(row.round, 0);
    EXPECT_EQ(row.kernel_case.sets, 1);
    EXPECT_EQ(row.kernel_case.backend, "judged");
    EXPECT_EQ(std::ranges::count(out.conformance, row.kernel_case, &Measurement::kernel_case), 1)
        << "each shape is one, whatever number of problems was asked";
  }
  ASSERT_EQ(out.rows.size(), 4u);  // two problems in two rounds
  EXPECT_EQ(std::ranges::count(out.rows, asked, &Measurement::kernel_case), 2);
  EXPECT_THAT(out.rows, Each(Field(&Measurement::plugin_hash, SizeIs(64))));
  EXPECT_THAT(out.rows, Each(Field(&Measurement::plugin_name, "fake")));
  EXPECT_THAT(out.baseline, IsEmpty());
  EXPECT_EQ(rows_.size(), 4u) << "times of the shapes are nobody's figures";
}

TEST_F(JudgingRun, ends_with_the_first_shape_that_is_wrong_and_keeps_its_row) {
  script("wrong=zeros");
  const Judged out = judged();
  ASSERT_EQ(out.conformance.size(), 1u);
  EXPECT_EQ(out.conformance[0].status, Status::wrong_result);
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_EQ(rows_[0].kernel_case, out.conformance[0].kernel_case);
  EXPECT_THAT(out.rows, IsEmpty());
  EXPECT_FALSE(out.fault);
}

// A lying timer does not end the shapes: nobody asked for their times.
TEST_F(JudgingRun, times_that_cannot_be_true_are_judged_where_they_were_asked_for) {
  script("timer=device_event;elapsed=negative");
  const Judged out = judged();
  EXPECT_EQ(out.conformance.size(), out.conformance_problems);
  EXPECT_THAT(out.conformance, Each(Field(&Measurement::status, Status::quarantined)));
  EXPECT_EQ(out.rows.size(), 2u);
  EXPECT_EQ(rows_.size(), 2u);
}

TEST_F(JudgingRun, is_interrupted_between_shapes) {
  std::stop_source user;
  measuring_.stop = user.get_token();
  measuring_.progress = [&](const CampaignProgress&) { user.request_stop(); };
  const Judged out = judged();
  // Busy neighbours may let a second one begin before the stop is seen.
  EXPECT_LE(1u, out.conformance.size());
  EXPECT_LT(out.conformance.size(), out.conformance_problems);
  EXPECT_THAT(out.rows, IsEmpty());
  EXPECT_FALSE(out.fault);
}

// However long the asked problem is sampled, a shape is for 10 ms: of executions of 1 ms each.
TEST_F(JudgingRun, samples_a_shape_for_ten_milliseconds_at_most) {
  script("latency_ns=1000000");
  measuring_.rounds = 1;
  measuring_.seconds = 0.2;
  const Judged out = judged();
  const auto sampled_ms = [](const Measurement& row) {
    double ns = 0;
    for (const Sample& sample : row.samples) ns += sample.wall_ns;
    return ns * static_cast<double>(row.repeat) / 1e6;
  };
  ASSERT_EQ(out.rows.size(), 1u);
  for (const Measurement& row : out.conformance) {
    EXPECT_LT(sampled_ms(row), 180) << "200 were asked for the rows";
  }
  EXPECT_GT(sampled_ms(out.rows[0]), 0);
}

TEST_F(JudgingRun, has_a_baseline_in_turns_with_what_was_asked) {
  with_second_backend();
  request_.baseline = "fake_two";
  const Judged out = judged();
  EXPECT_EQ(out.baseline_reason, "");
  ASSERT_EQ(out.rows.size(), 2u);
  ASSERT_EQ(out.baseline.size(), 2u);
  for (const Measurement& row : out.baseline) {
    EXPECT_EQ(row.kernel_case.backend, "fake_two");
    EXPECT_EQ(row.kernel_case.problem, copied().problem);
    EXPECT_EQ(row.plugin_hash, found_[0].hash);
  }
  EXPECT_EQ(rows_.size(), 4u);
  EXPECT_EQ(out.conformance.size(), out.conformance_problems) << "of the source alone";
}

TEST_F(JudgingRun, by_default_is_held_against_the_backend_of_its_language) {
  with_second_backend();
  request_.baseline = "";
  EXPECT_EQ(judged().baseline_reason, "there is no plugin 'cpu' here");
  found_[0].description->name = "cpu";
  const Judged out = judged();
  EXPECT_EQ(out.baseline_reason, "");
  EXPECT_EQ(out.baseline.size(), 2u);
}

TEST_F(JudgingRun, refuses_a_kernel_that_its_baseline_has_not) {
  with_second_backend();
  request_.baseline = "fake_two:other";
  EXPECT_EQ(test::error_of([&] { (void)judged(); }).exit_code(), ExitCode::refused);
  request_.baseline = "other";
  EXPECT_EQ(test::error_of([&] { (void)judged(); }).exit_code(), ExitCode::unfit);
}

TEST_F(JudgingRun, of_a_collective_is_refused) {
  const OpContract* collective = nullptr;
  for (const OpContract* op : all_contracts()) {
    if (op->is_collective()) collective = op;
  }
  ASSERT_NE(collective, nullptr);
  const std::vector<Dtype> dtypes{Dtype::f32};
  KernelCase asked = copied();
  asked.problem = complete_problem(
      {std::string(collective->name()), collective->conformance_params(dtypes).at(0)});
  const Error error = test::error_of([&] { (void)judged({asked}); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("is a collective, and a source has one process"));
}

// Of a device's language: its plugin is what the source is put behind.
class JudgingOfDevice : public JudgingRun {
 protected:
  JudgingOfDevice() {
    found_ = discover({.paths = {plugins + "hm_fake.so"}, .search_installed = false});
    found_.at(0).description->devices.at(0).isa = "sm_90";
  }
};

TEST_F(JudgingOfDevice, in_opencl_runs_in_a_copy_of_its_plugin) {
  request_.path = folder_ / "a.cl";
  test::write_file(request_.path, "__kernel void run() {}");
  found_[0].description->name = "opencl";
  const Judged out = judged();
  EXPECT_FALSE(out.fault);
  EXPECT_EQ(out.rows.size(), 2u);
  EXPECT_EQ(out.build.compiler, "");
}

TEST_F(JudgingOfDevice, in_cuda_is_compiled_for_the_architecture_of_the_device) {
  request_.path = folder_ / "a.cu";
  test::write_file(request_.path, "text");
  test::write_file(folder_ / "compiler",
                   "#!/bin/sh\nfor last; do case $last in */kernel.so) echo code > $last;; esac; "
                   "done\n");
  found_[0].description->name = "cuda";
  const test::ScopedVariable nvcc("NVCC", folder_ / "compiler");
  const Judged out = judged();
  KernelCase elsewhere = copied();
  elsewhere.device = "no such device";
  EXPECT_EQ(test::error_of([&] { (void)judged({elsewhere}); }).exit_code(), ExitCode::refused);
  EXPECT_FALSE(out.fault);
  EXPECT_EQ(out.rows.size(), 2u);
  EXPECT_EQ(out.build.compiler,
            (folder_ / "compiler") + " -O3 -gencode=arch=compute_90a,code=sm_90a");
}

TEST_F(JudgingOfDevice, finds_the_machinery_of_its_language) {
  found_[0].description->name = "opencl";
  EXPECT_EQ(machinery_of("a.cl", found_).path, found_[0].path);
  EXPECT_EQ(machinery_of("a.c", found_).path, "");
}

}  // namespace
}  // namespace halmark::judge
