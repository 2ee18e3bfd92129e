// Sources that never become a kernel, with compilers that are scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "../error_of.hpp"
#include "../kernels/written.hpp"
#include "../scratch_folder.hpp"
#include "judge/judge.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark::judge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

KernelCase gemm(Dtype dtype = Dtype::f32, std::int64_t m = 8) {
  const char* shape = "m=? n=16 k=32 src_dtype=? wei_dtype=? dst_dtype=f32";
  return {.problem = complete_problem({"gemm", test::written(shape, m, dtype, dtype)}),
          .backend = "judged"};
}

class Judging : public testing::Test {
 protected:
  Judging() {
    test::write_file(request_.path, "text");
    compiler_is("exit 0");
  }

  void compiler_is(const std::string& script) const {
    test::write_file(folder_ / "compiler", "#!/bin/sh\n" + script + '\n');
    fs::permissions(folder_ / "compiler", fs::perms::owner_all);
  }

  Judged judged(const std::vector<KernelCase>& cases = {gemm()}) {
    tune::KernelMeasuring measuring;
    measuring.sink = [&](const Measurement& row) { rows_.push_back(row); };
    return judge_source(request_, cases, measuring, {});
  }

  const test::ScratchFolder folder_;
  const test::ScopedVariable cc_{"CC", folder_ / "compiler"}, cxx_{"CXX", folder_ / "compiler"},
      tmpdir_{"TMPDIR", folder_.path().string()};
  JudgeRequest request_{.path = folder_ / "a.c", .baseline = "", .keep = "", .flags = {}};
  std::vector<Measurement> rows_;
};

TEST_F(Judging, of_what_does_not_compile_has_a_row_of_the_build) {
  compiler_is("echo 'a.c:1: error: no'; exit 1");
  const Judged out = judged();
  ASSERT_TRUE(out.fault);
  EXPECT_EQ(out.fault->status, Status::compile_failed);
  EXPECT_EQ(out.fault->reason, "a.c:1: error: no");
  EXPECT_EQ(out.fault->phase, "build");
  EXPECT_EQ(out.fault->plugin_name, "judged");
  EXPECT_EQ(out.fault->kernel_case, gemm());
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_EQ(rows_[0].reason, out.fault->reason);
  EXPECT_EQ(out.source, request_.path);
  EXPECT_EQ(out.op, "gemm");
  EXPECT_THAT(out.entry, HasSubstr("float"));
  EXPECT_GT(out.conformance_problems, 1u);
  EXPECT_THAT(out.conformance, IsEmpty());
  EXPECT_EQ(out.baseline_reason, "there is no plugin 'cpu' here");
  EXPECT_EQ(folder_.names(), (std::set<std::string>{"a.c", "compiler"})) << "nothing is kept";
}

TEST_F(Judging, of_a_source_without_the_entry_says_what_to_define) {
  compiler_is("echo \"ld: undefined reference to \\`run'\"; exit 1");
  const Judged named = judged();
  ASSERT_TRUE(named.fault);
  EXPECT_THAT(named.fault->reason, HasSubstr("it has no entry; it must define "));
}

TEST_F(Judging, keeps_what_was_built_where_it_is_told_to) {
  request_.keep = folder_ / "kept";
  request_.flags = {"-DX=1"};
  compiler_is("echo \"$@\" >> " + (folder_ / "arguments") +
              "; for last; do case $last in */hm_judged.so) echo no > $last;; esac; done");
  const Judged out = judged();
  EXPECT_TRUE(fs::exists(folder_ / "kept/judged_kernel.h"));
  EXPECT_EQ(out.build.plugin_path, folder_ / "kept/hm_judged.so");
  EXPECT_THAT(test::file_bytes(out.build.plugin_path),
              testing::StartsWith("no\nkernel a\nop gemm\nsource a.c\nproblem\n"));
  EXPECT_THAT(test::file_bytes(folder_ / "arguments"),
              testing::AllOf(HasSubstr("-std=gnu17"), HasSubstr(" -DX=1\n")));
  EXPECT_THAT(out.build.compiler, HasSubstr("-O3 -march=native -fopenmp"));
  ASSERT_TRUE(out.fault) << "it is no plugin";
  EXPECT_EQ(out.fault->phase, "load");
  EXPECT_NE(out.fault->status, Status::ok);
  EXPECT_NE(out.fault->reason, "");
}

TEST_F(Judging, takes_no_folder_that_cannot_be_made) {
  test::write_file(folder_ / "file", "");
  request_.keep = folder_ / "file/kept";
  const Error error = test::error_of([&] { (void)judged(); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), request_.keep);
  EXPECT_EQ(error.remedy(), "name another one: --keep");
}

TEST_F(Judging, is_of_one_dtype_and_of_any_sizes) {
  const Error error = test::error_of([&] { (void)judged({gemm(), gemm(Dtype::bf16)}); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("the problems differ in more than their sizes"));
  compiler_is("exit 1");
  EXPECT_TRUE(judged({gemm(), gemm(Dtype::f32, 9)}).fault);
}

TEST_F(Judging, has_no_baseline_where_none_is_wanted_and_the_one_that_is_named) {
  compiler_is("exit 1");
  request_.baseline = "none";
  EXPECT_EQ(judged().baseline_reason, "--baseline none");
  request_.baseline = "absent";
  EXPECT_NE(test::error_of([&] { (void)judged(); }).line(), "");
}

TEST_F(Judging, without_a_compiler_names_what_to_install) {
  const test::ScopedVariable no_c("CC", "hm-absent");
  EXPECT_THAT(test::error_of([&] { (void)judged(); }).line(), HasSubstr("no compiler of C was"));
  const test::ScopedVariable no_cxx("CXX", "hm-absent");
  EXPECT_THAT(test::error_of([&] { (void)judged(); }).line(), HasSubstr("no compiler of C++ was"));
}

TEST(Machinery, of_c_is_the_host_and_of_a_device_its_plugin) {
  const FoundPlugin host = machinery_of("a.c", {});
  ASSERT_TRUE(host.description);
  EXPECT_EQ(host.path, "");
  EXPECT_NE(test::error_of([] { (void)machinery_of("a.cl", {}); }).line(), "");
}

}  // namespace
}  // namespace halmark::judge
