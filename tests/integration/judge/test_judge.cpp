// Kernels' sources before the judge: honest ones are accepted and scored, each cheat of
// SOL-ExecBench's list that a CPU or an OpenCL source can do is refused by the gate that is there
// for it, and whatever is wrong with a source is a status, a reason and an exit code.
#include "tests/integration/halmark_fixture.hpp"

#include <chrono>

#include "tests/checkout.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark::integration {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const std::string sources = test::in_source("/tests/data/judge/");

class Judge : public HalmarkTest {
 protected:
  Arguments judge(const std::string& source, Arguments more = {},
                  const std::string& params = problem) const {
    Arguments out{"judge",  sources + source, "--op", "gemm",      "--params", params,
                  "--json", "--rounds",       "2",    "--seconds", "0.05"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  bool has_opencl() const {
    const Json data = data_of({"devices"});
    for (const Json& device : data["devices"]) {
      if (device["backend"] == "opencl" && device["status"] == "ok") return true;
    }
    return false;
  }

  static constexpr const char* problem = "m=64,n=192,k=160";
};

// Of a busy machine a row may have no time: then nothing was decided, and that is said.
constexpr int undecided = 4;

TEST_F(Judge, accepts_a_naive_and_a_tiled_source_and_scores_them) {
  double naive = 0, tiled = 0;
  for (const char* source : {"gemm_naive.cpp", "gemm_tiled.cpp"}) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome o = halmark(judge(source));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 60) << source;
    ASSERT_THAT(o.exit_code, AnyOf(0, undecided)) << o.out << o.err;
    if (o.exit_code == undecided) GTEST_SKIP() << "the machine was too busy: " << o.out;
    const Json data = envelope_of(o.out)["data"];
    EXPECT_EQ(data["verdict"], "accepted");
    EXPECT_GE(data["conformance_problems"], 4);
    EXPECT_THAT(data["entry"].get<std::string>(),
                HasSubstr("run(const float* src, const float* wei, float* dst, int64_t m"));
    const Json& row = data["rows"][0];
    EXPECT_THAT(row["problem"].get<std::string>(), HasSubstr("k=160 m=64 n=192"));
    (source == std::string("gemm_naive.cpp") ? naive : tiled) = row["duration_ns"].get<double>();
    // This world has no measured peaks: no bound, no score, and both say so.
    EXPECT_TRUE(row["score"].is_null());
    EXPECT_NE(row["score_reason"], "");
  }
  EXPECT_GT(naive, 1.2 * tiled);
}

// S by hand from the three times that the document has (SOL-ExecBench's formula).
TEST_F(Judge, scores_by_the_published_formula) {
  know_peaks(R"(
[[peak]]
path = "f32_vector"
dtype = "f32"
threads = 2
flops_per_s = 1e14
source = "a test"
)");
  const Outcome o = halmark(judge("gemm_tiled.cpp"));
  ASSERT_THAT(o.exit_code, AnyOf(0, undecided)) << o.out << o.err;
  if (o.exit_code == undecided) GTEST_SKIP() << "the machine was too busy: " << o.out;
  const Json row = envelope_of(o.out)["data"]["rows"][0];
  if (row["baseline_ns"].is_null()) GTEST_SKIP() << "no baseline here: " << row["score_reason"];
  const double t = row["duration_ns"], sol = row["bound_ns"], base = row["baseline_ns"];
  EXPECT_NEAR(row["score"], 1 / (1 + (t - sol) / (base - sol)), 1e-9);
  EXPECT_THAT(row["limiter"].get<std::string>(), AnyOf("compute", "memory"));
  EXPECT_THAT(row["baseline"].get<std::string>(), HasSubstr("cpu"));
}

TEST_F(Judge, takes_other_ops_and_types_by_the_same_rule) {
  struct Case {
    const char *source, *op, *params, *dtype;
  };
  for (const Case& c :
       {Case{"rmsnorm.c", "rmsnorm", "rows=64,cols=256", "f32"},
        Case{"softmax.cpp", "softmax", "rows=64,cols=200", "f32"},
        Case{"activation_bf16.cpp", "activation", "rows=64,cols=256,kind=2", "bf16"}}) {
    const Outcome o =
        halmark({"judge", std::string(sources) + c.source, "--op", c.op, "--params", c.params,
                 "--dtype", c.dtype, "--rounds", "1", "--seconds", "0.02", "--baseline", "none"});
    EXPECT_THAT(o.exit_code, AnyOf(0, undecided)) << c.source << '\n' << o.out << o.err;
  }
}

struct Offence {
  const char* source;
  int exit_code;
  const char* status;
  const char* reason;  // part of it
  Arguments more = {};
  const char* params = "m=64,n=192,k=160";
};

std::string offence_name(const testing::TestParamInfo<Offence>& info) {
  return test::case_name({info.param.source});
}

class JudgeOffences : public Judge, public testing::WithParamInterface<Offence> {};

TEST_P(JudgeOffences, are_refused_with_their_reason) {
  const Offence& offence = GetParam();
  const bool is_opencl = std::string(offence.source).ends_with(".cl");
  if (is_opencl && !has_opencl()) GTEST_SKIP() << "no OpenCL device here (pocl-opencl-icd)";
#ifndef __x86_64__
  if (std::string(offence.source).find("timer_patched") != std::string::npos) {
    GTEST_SKIP() << "it writes instructions of x86-64";
  }
#endif
  const Outcome o = halmark(judge(offence.source, offence.more, offence.params));
  ASSERT_FALSE(o.timed_out);
  ASSERT_EQ(o.exit_code, offence.exit_code) << o.out << o.err;
  const Json data = envelope_of(o.out)["data"];
  ASSERT_TRUE(data.contains("verdict")) << o.out;
  EXPECT_EQ(data["verdict"], "refused");
  EXPECT_EQ(data["status"], offence.status) << o.out;
  EXPECT_THAT(data["reason"].get<std::string>(), HasSubstr(offence.reason));
  // Nothing is lost: what refused it is a row.
  EXPECT_GE(sql_count(path("state/halmark/halmark.db"),
                      "SELECT count(*) FROM entry WHERE kind = 'measurement'"),
            1);
}

const Arguments no_baseline{"--baseline", "none"};
// A product that takes much longer than to look at its inputs.
constexpr const char* large = "m=64,n=512,k=512";

INSTANTIATE_TEST_SUITE_P(
    cheats, JudgeOffences,
    testing::Values(
        Offence{"cheats/cached_by_pointer.cpp", 6, "wrong_result", "expected", no_baseline},
        Offence{"cheats/cached_by_content.cpp", 3, "quarantined", "", no_baseline, large},
        Offence{"cheats/until_poisoned.cpp", 3, "quarantined", "", no_baseline, large},
        Offence{"cheats/stale_output.cpp", 6, "wrong_result", "", no_baseline},
        Offence{"cheats/only_when_poisoned.cpp", 6, "wrong_result", "was not written", no_baseline},
        Offence{"cheats/skips_repeats.cpp", 6, "wrong_result", "", no_baseline},
        Offence{"cheats/late_thread.cpp", 6, "wrong_result", "", no_baseline},
        Offence{"cheats/constant_output.cpp", 6, "wrong_result", "is 0, expected", no_baseline},
        Offence{"cheats/lower_precision.cpp", 6, "wrong_result", "expected", no_baseline},
        Offence{"cheats/mutates_inputs.cpp", 6, "wrong_result", "mutated its inputs", no_baseline},
        Offence{"cheats/writes_elsewhere.cpp", 6, "wrong_result", "out of bounds", no_baseline},
        Offence{"cheats/remembers_weights.cpp", 6, "wrong_result", "", no_baseline},
        Offence{"cheats/right_once.cpp", 6, "wrong_result", "", no_baseline},
        Offence{"cheats/computes_ahead.cpp", 6, "wrong_result", "", no_baseline},
        Offence{"cheats/timer_patched.cpp", 3, "quarantined", "tampered", no_baseline},
        Offence{"cheats/only_when_poisoned.cl", 6, "wrong_result", "", no_baseline},
        Offence{"cheats/constant_output.cl", 6, "wrong_result", "is 0, expected", no_baseline},
        Offence{"cheats/lower_precision.cl", 6, "wrong_result", "expected", no_baseline},
        Offence{"cheats/mutates_inputs.cl", 6, "wrong_result", "mutated its inputs", no_baseline},
        Offence{"cheats/writes_elsewhere.cl", 6, "wrong_result", "out of bounds", no_baseline}),
    offence_name);

INSTANTIATE_TEST_SUITE_P(
    faults, JudgeOffences,
    testing::Values(
        Offence{"faults/no_compile.cpp", 2, "compile_failed", "no_compile.cpp:3:"},
        Offence{"faults/no_compile.cl", 2, "compile_failed", "no_compile.cl:3"},
        Offence{"faults/no_entry.cpp", 2, "compile_failed",
                "it has no entry; it must define void run("},
        Offence{"faults/no_entry.cl", 2, "compile_failed", "it has no entry"},
        Offence{"faults/other_arguments.cpp", 2, "compile_failed", "other_arguments.cpp:1:"},
        Offence{"faults/endless_compile.cpp",
                2,
                "timed_out",
                "did not end within 3 s",
                {"--compile-limit", "3"}},
        Offence{"faults/crashes.cpp", 4, "crashed", "signal 11"},
        Offence{"faults/crashes_at_load.cpp", 4, "crashed", "signal 6"},
        Offence{"faults/leaves.cpp", 4, "worker_lost", ""},
        Offence{"faults/never_ends.cpp", 4, "timed_out", "", {"--phase-limit", "first=3"}},
        Offence{"faults/allocates.cpp", 4, "out_of_memory", "MiB of tensors, 256 MiB"},
        Offence{"faults/touches_six_gib.cpp", 4, "out_of_memory", "MiB of tensors, 256 MiB",
                no_baseline, "m=64,n=64,k=64"}),
    offence_name);

TEST_F(Judge, accepts_opencl_sources) {
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device here (pocl-opencl-icd)";
  for (const char* source : {"gemm_naive.cl", "gemm_tiled.cl"}) {
    const Outcome o = halmark(judge(source));
    EXPECT_THAT(o.exit_code, AnyOf(0, undecided)) << source << '\n' << o.out << o.err;
  }
}

TEST_F(Judge, keeps_the_plugin_where_that_is_asked_for) {
  const Outcome o =
      halmark(judge("gemm_naive.cpp", {"--keep", path("kept"), "--baseline", "none"}));
  EXPECT_THAT(o.exit_code, AnyOf(0, undecided)) << o.out << o.err;
  EXPECT_THAT(halmark({"bench", "--plugin", path("kept"), "--backend", "judged", "--op", "gemm",
                       "--params", problem, "--dtype", "f32", "--rounds", "1", "--seconds", "0.01"})
                  .exit_code,
              AnyOf(0, undecided));
}

TEST_F(Judge, refuses_what_is_no_source) {
  const Outcome ending = halmark({"judge", write("a.f90", "end\n"), "--op", "gemm"});
  EXPECT_EQ(ending.exit_code, 2);
  EXPECT_THAT(ending.err, HasSubstr("its ending says no language"));
  for (const Arguments& absent : {judge("absent.cpp"), Arguments{"judge", "absent.cpp"},
                                  Arguments{"judge", "absent.cpp", "--op", "gemm"}}) {
    const Outcome o = halmark(absent);
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_THAT(o.out + o.err, testing::AllOf(HasSubstr("absent.cpp"), HasSubstr("cannot be read")))
        << "the file is said before what else is missing";
  }
  const Outcome collective = halmark({"judge", std::string(sources) + "softmax.cpp", "--op",
                                      "all_reduce", "--params", "bytes=64,ranks=1"});
  EXPECT_EQ(collective.exit_code, 2) << collective.err;
}

TEST_F(Judge, bench_scores_rows_against_a_baseline) {
  const Json data = undisturbed_data_of({"bench", "--op", "gemm", "--params", "m=16,n=32,k=48",
                                         "--dtype", "f32", "--backend", "fake", "--baseline",
                                         "fake", "--rounds", "1", "--seconds", "0.01"});
  EXPECT_THAT(data["rows"][0]["baseline"].get<std::string>(), HasSubstr("fake"));
}

}  // namespace
}  // namespace halmark::integration
