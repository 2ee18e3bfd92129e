// Devices by name: two backends in one sweep of kernels and in one configuration.
#include <algorithm>

#include "shards_on_fixture.hpp"
#include "tests/checkout.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ShardsOn, one_tune_compares_two_backends_problem_by_problem) {
  const Json data =
      undisturbed_data_of({"tune", kernel_sweep("\"fake\", \"fake_two\""), "--db", "r.db"});
  ASSERT_EQ(data["problems"].size(), 2);
  for (const Json& problem : data["problems"]) {
    ASSERT_EQ(problem["times"].size(), 2) << problem;
    EXPECT_EQ(problem["times"][0]["backend"], "fake:0") << "1 ms beats 3 ms";
    EXPECT_EQ(problem["times"][0]["winner"], true);
    EXPECT_EQ(problem["times"][1]["tied"], false);
  }
  EXPECT_EQ(data["wins"]["fake:0"], 2);
  EXPECT_EQ(sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"), 8);
}

TEST_F(ShardsOn, bench_compares_several_backends) {
  const Arguments gemm = {"bench",   "--op", "gemm",     "--params",  "m=[1,8],n=16,k=16",
                          "--dtype", "f32",  "--rounds", "2",         "--seconds",
                          "0.02",    "--db", "r.db",     "--backend", "fake,fake_two"};
  const Json data = undisturbed_data_of(gemm);
  EXPECT_EQ(data["wins"], (Json{{"fake:0", 2}, {"fake_two:0", 0}}));
  EXPECT_FALSE(data.contains("what_if")) << "one backend wins everything";
  EXPECT_EQ(sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"), 8);
  Arguments narrowed = gemm;
  narrowed.insert(narrowed.end(), {"--kernel", "gemm"});
  const Outcome refusal = halmark(narrowed);
  EXPECT_EQ(refusal.exit_code, 2);
  EXPECT_THAT(refusal.err, HasSubstr("leave out the others"));
}

TEST_F(ShardsOn, backends_that_cannot_be_told_apart_are_tied) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=2000000;noise=0.3;seed=1";
  base_.environment["HALMARK_FAKE_TWO_SCRIPT"] = "latency_ns=2000000;noise=0.3;seed=2";
  const Json data = undisturbed_data_of({"tune", kernel_sweep("\"fake\", \"fake_two\"")});
  // How far both lie apart is this machine's affair; whether that is told from their intervals,
  // ours.
  int tied = 0;
  for (const Json& problem : data["problems"]) {
    const Json &best = problem["times"][0], &other = problem["times"][1];
    const bool overlaps = other["ci_low_ns"].get<double>() <= best["ci_high_ns"].get<double>();
    EXPECT_EQ(other["tied"], overlaps) << problem;
    EXPECT_EQ(best["winner"], true);
    tied += overlaps ? 1 : 0;
  }
  EXPECT_EQ(data["tied"], tied) << data;
  EXPECT_EQ(data["wins"]["fake:0"].get<int>() + data["wins"]["fake_two:0"].get<int>(), 2 - tied);
}

TEST_F(ShardsOn, a_backend_that_is_absent_or_refuses_is_a_row_and_the_sweep_goes_on) {
  base_.environment["HALMARK_FAKE_TWO_SCRIPT"] = "unsupported=gemm";
  const Outcome o =
      halmark({"tune", kernel_sweep("\"fake\", \"fake_two\", \"absent\", \"fake:7\""), "--json"});
  const Json data = envelope_of(o.out)["data"];
  std::map<std::string, Json> by_backend;
  for (const Json& t : data["problems"][0]["times"]) by_backend[t["backend"]] = t;
  EXPECT_EQ(by_backend["fake:0"]["winner"], true) << data;
  EXPECT_EQ(by_backend["fake_two:0"]["status"], "unsupported");
  EXPECT_EQ(by_backend["absent:0"]["status"], "refused");
  EXPECT_THAT(by_backend["absent:0"]["reason"].dump(), HasSubstr("no plugin for backend"));
  EXPECT_THAT(by_backend["fake:7"]["reason"].dump(), HasSubstr("has no device 7"));
}

TEST_F(ShardsOn, a_backend_without_a_driver_says_so_in_its_rows) {
  const std::string opencl = test::in_build("/lib/halmark/plugins/hm_opencl.so");
  if (!std::filesystem::exists(opencl)) GTEST_SKIP() << "the opencl plugin was not built";
  base_.environment["HALMARK_PLUGIN_PATH"] += ":" + opencl;
  base_.environment["OCL_ICD_VENDORS"] = path("nowhere");
  const Json data = undisturbed_data_of({"tune", kernel_sweep("\"fake\", \"opencl\"")});
  EXPECT_EQ(data["wins"]["fake:0"], 2) << data;
  const Json& absent = data["problems"][0]["times"][1];
  EXPECT_EQ(absent["status"], "refused") << absent;
  EXPECT_THAT(absent["reason"].dump(), AllOf(HasSubstr("no device 0"), HasSubstr("OpenCL")));
  for (const Json& d : data_of({"devices"})["devices"]) {
    if (d["backend"] != "opencl") continue;
    EXPECT_EQ(d["status"], "absent");
    EXPECT_THAT(d["reason"].dump(), HasSubstr("driver"));
  }
}

TEST_F(ShardsOn, a_dtype_that_a_backend_does_not_have_is_a_row) {
  const std::string opencl = test::in_build("/lib/halmark/plugins/hm_opencl.so");
  if (!std::filesystem::exists(opencl)) GTEST_SKIP() << "the opencl plugin was not built";
  base_.environment["HALMARK_PLUGIN_PATH"] += ":" + opencl;
  const Json before = data_of({"devices"});
  const bool has_device =
      std::ranges::any_of(before["devices"], [](const Json& d) { return d["id"] == "opencl:0"; });
  if (!has_device) GTEST_SKIP() << "no OpenCL device";
  kernel_sweep("\"fake\", \"opencl\"");
  std::string text = read("kernels.toml");
  text.replace(text.find("\"f32\""), 5, "\"f8_e4m3fn\"");
  text.replace(text.find("k=16"), 4, "k=16,dst_dtype=f32");
  const Outcome o = halmark({"tune", write("f8.toml", text), "--json"});
  const Json data = envelope_of(o.out)["data"];
  for (const Json& t : data["problems"][0]["times"]) {
    if (t["backend"] != "opencl:0") continue;
    EXPECT_EQ(t["status"], "unsupported") << t;
    EXPECT_THAT(t["reason"].dump(), HasSubstr("gemm of these dtypes"));
  }
}

TEST_F(ShardsOn, devices_say_what_each_offers_and_what_is_known_of_it) {
  for (const Json& d : data_of({"devices"})["devices"]) {
    if (d["backend"] != "fake") continue;
    EXPECT_EQ(d["peaks"]["of_the_cpu"], true) << "its time is the host's clock's";
    EXPECT_GT(d["ops"].size(), 5);
    EXPECT_TRUE(d["properties"].contains("memory_bytes"));
    EXPECT_TRUE(d["properties"].contains("driver"));
  }
}

TEST_F(ShardsOn, a_device_that_vanishes_or_has_no_memory_is_a_row_and_the_other_backend_goes_on) {
  base_.environment["HALMARK_FAKE_TWO_SCRIPT"] = "device_lost_at=3";
  const auto status_of_two = [&] {
    Json data;
    // It ends with 4 in any case; neighbours of this machine may spoil a row of the other too.
    for (int i = 0; i < 3 && (i == 0 || data["wins"]["fake:0"] != 2); ++i) {
      const Outcome o = halmark({"tune", kernel_sweep("\"fake\", \"fake_two\""), "--json"});
      EXPECT_EQ(o.exit_code, 4) << o.err;
      data = envelope_of(o.out)["data"];
    }
    EXPECT_EQ(data["wins"]["fake:0"], 2) << data;
    return data["problems"][0]["times"][1]["status"].get<std::string>();
  };
  EXPECT_EQ(status_of_two(), "device_lost");
  base_.environment["HALMARK_FAKE_TWO_SCRIPT"] = "oom=prepare";
  EXPECT_EQ(status_of_two(), "out_of_memory");
}

TEST_F(ShardsOn, a_sampler_chooses_among_backends_and_their_variants) {
  const std::string sweep = kernel_sweep("\"fake\", \"fake_two\"");
  write("kernels.toml",
        "variants = [\"all\"]\nsampler = \"random\"\ntrials = 4\n" + read("kernels.toml"));
  const Json data = undisturbed_data_of({"tune", sweep});
  for (const Json& problem : data["problems"]) EXPECT_EQ(problem["times"].size(), 4) << problem;
}

TEST_F(ShardsOn, a_configuration_over_two_backends_is_measured_and_run_whole) {
  const std::string sweep = placed_sweep("\"fake:0 + fake_two:0\"");
  const Json data = undisturbed_data_of({"tune", sweep, "--validate=all", "--db", "r.db"});
  const Json& c = data["evaluations"][0];
  EXPECT_EQ(c["deployment"]["places"], (Json{"fake:0", "fake_two:0"})) << c;
  const double step_ns = c["estimate"]["step_ns"], run_ns = c["measured_ns"];
  // Every kernel takes 3 ms on the slower backend, in the sum and in the run; a busy machine adds.
  double executions = 0;
  for (const Json& op : c["estimate"]["operators"]) executions += op["count"].get<double>();
  EXPECT_GE(step_ns, 2.9e6 * executions);
  EXPECT_GE(run_ns, 2.9e6 * executions);
  const std::string backends = sql(
      path("r.db"),
      "SELECT group_concat(DISTINCT json_extract(body, '$.case.backend')) FROM entry WHERE kind = "
      "'measurement'");
  EXPECT_THAT(backends, AllOf(HasSubstr("fake"), HasSubstr("fake_two")));
  EXPECT_THAT(sql(path("r.db"), "SELECT body FROM entry WHERE kind = 'machine'"),
              AllOf(HasSubstr("device fake:0"), HasSubstr("device fake_two:0")));
  EXPECT_EQ(halmark({"verify", "r.db"}).exit_code, 0);
}

// All ranks repeat their stacks together: each kernel is timed while the other backend works.
TEST_F(ShardsOn, kernels_in_a_stack_are_measured_beside_those_of_the_other_backend) {
  placed_sweep("\"fake:0 + fake_two:0\"");
  const std::string sweep = write("in_stack.toml", read("placed.toml") + "in_stack = true\n");
  const Json data = undisturbed_data_of({"tune", sweep});
  const Json& estimate = data["evaluations"][0]["estimate"];
  ASSERT_TRUE(estimate.is_object()) << data["evaluations"][0];
  EXPECT_GT(estimate["in_stack_share"].get<double>(), 0.5);
  for (const Json& op : estimate["operators"]) {
    EXPECT_GE(op["ns"].get<double>(), 2.9e6 * op["count"].get<double>()) << op["name"];
  }
}

TEST_F(ShardsOn, sets_of_devices_are_a_parameter_of_the_search) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=1000000;devices=2";
  const std::string sweep = placed_sweep("\"fake:0 + fake:1\", \"fake:0 + fake_two:0\"");
  const Outcome plan = halmark({"tune", sweep, "--plan", "--json"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("shards_on"), HasSubstr("fake:0 + fake_two:0")));
  const Json data = undisturbed_data_of({"tune", sweep});
  std::map<std::string, double> step_ns;
  for (const Json& e : data["evaluations"]) {
    if (e["status"] == "refused") continue;
    step_ns[e["deployment"]["places"][1]] = e["estimate"]["step_ns"];
  }
  ASSERT_TRUE(step_ns.contains("fake:1") && step_ns.contains("fake_two:0")) << data;
  EXPECT_GT(step_ns["fake_two:0"], 2 * step_ns["fake:1"]);
}

TEST_F(ShardsOn, tensor_parallelism_over_two_backends_is_refused_as_not_executable) {
  const Outcome o =
      halmark({"run", tiny_model(), "--phase", "decode", "--batch", "2", "--context", "32",
               "--dtype", "f32", "--tp", "2", "--shards-on", "fake:0 + fake_two:0"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, HasSubstr("not executable here"));
}

TEST_F(ShardsOn, run_executes_replicas_on_the_devices_that_are_named) {
  const Json data =
      undisturbed_data_of({"run", tiny_model(), "--phase", "decode", "--batch", "2", "--context",
                           "32", "--dtype", "f32", "--shards-on", "fake:0 + fake_two:0", "--rounds",
                           "1", "--seconds", "1", "--no-store"});
  EXPECT_EQ(data["deployment"]["parallel"]["dp"], 2);
  EXPECT_GT(data["run"]["measured_ns"].get<double>(), 0);
}

TEST_F(ShardsOn, bench_measures_on_each_device_that_is_named) {
  const Json data =
      undisturbed_data_of({"bench", "--op", "gemm", "--params", "m=8,n=16,k=16", "--dtype", "f32",
                           "--rounds", "1", "--shards-on", "fake:0 + fake_two:0", "--no-store"});
  ASSERT_EQ(data["rows"].size(), 2);
  EXPECT_NE(data["rows"][0]["backend"], data["rows"][1]["backend"]);
}

TEST_F(ShardsOn, what_names_no_device_is_refused_in_a_line) {
  const auto said = [&](const std::string& places) {
    const Outcome o = halmark({"bench", "--op", "gemm", "--params", "m=8,n=16,k=16", "--dtype",
                               "f32", "--shards-on", places});
    EXPECT_NE(o.exit_code, 0);
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
    return o.err;
  };
  EXPECT_THAT(said("fake"), HasSubstr("is no place of a shard"));
  EXPECT_THAT(said("fake:0 + fake:0"), HasSubstr("two shards lie on fake:0"));
  EXPECT_THAT(said("fake:9"), HasSubstr("has no device '9'"));
  EXPECT_THAT(said("nobody:0"), HasSubstr("no plugin for backend 'nobody'"));
}

TEST_F(ShardsOn, a_sweep_of_kernels_is_refused_in_a_line_before_anything_is_written) {
  kernel_sweep("\"fake\"");
  const auto said = [&](const std::string& more, const std::string& flag) {
    std::vector<std::string> words{"tune", write("bad.toml", more + read("kernels.toml")), "--db",
                                   "bad.db"};
    if (!flag.empty()) words.push_back(flag);
    const Outcome o = halmark(words);
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
    EXPECT_FALSE(std::filesystem::exists(path("bad.db")));
    return o.err;
  };
  EXPECT_THAT(said("sampler = \"grids\"\n", ""),
              AllOf(HasSubstr("bad.toml:1:"), HasSubstr("grid")));
  EXPECT_THAT(said("colour = 1\n", ""), HasSubstr("bad.toml:1:"));
  EXPECT_THAT(said("", "--plan"), HasSubstr("neither plan nor front"));
}

}  // namespace
}  // namespace halmark::integration
