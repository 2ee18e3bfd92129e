// An engine's own steps through the program: imported from its benchmark's output, and measured by
// starting it. llama.cpp is the one that HALMARK_LLAMA_CPP names, a folder with llama-server.
#include <cstdlib>
#include <filesystem>

#include "halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

// Fields of `vllm bench serve --save-result`, figures of the example in vLLM's
// docs/benchmarking/cli.md.
const char* const served =
    R"({"backend": "vllm", "model_id": "Qwen/Qwen3-30B-A3B", "num_prompts": 10,
 "max_concurrency": 64, "completed": 10, "total_input_tokens": 1369, "total_output_tokens": 2212,
 "mean_ttft_ms": 71.54, "std_ttft_ms": 5.5, "mean_tpot_ms": 7.91, "std_tpot_ms": 0.12})";

const char* const sweep = R"(name = "served"
model = "qwen3-30b-a3b"
device_file = "h200"
latency = ["roofline"]
shards = [4]
dtypes = ["bf16"]
objectives = ["ttft", "tpot"]
[request]
input_tokens = 137
output_tokens = 221
concurrency = [64]
token_budget = [2048]
)";

class EngineSteps : public HalmarkTest {
 protected:
  void measure() const {
    tiny_sweep("cpu", "shards = [1]");
    know_peaks();
    tune_tiny("x.db");
  }
};

TEST_F(EngineSteps, that_are_imported_stand_beside_the_forecast_of_a_point) {
  write("s.toml", sweep);
  write("r.json", served);
  ASSERT_EQ(halmark({"tune", "s.toml", "--db", "x.db"}).exit_code, 0);
  const Arguments exported = {"export",           "--db",   "x.db",    "--as", "vllm",
                              "--server-version", "0.20.1", "--point", "1"};
  EXPECT_THAT(halmark(exported).out, HasSubstr("# no forecast of vllm"));
  // A file says whose it is, and by a name of a hub of which model.
  const Json data = data_of(
      {"import", "r.json", "--engine-version", "0.20.1", "--device", "4 x H200", "--db", "x.db"});
  EXPECT_EQ(data["imports"][0]["steps"].size(), 2u);
  const std::string text = halmark(exported).out;
  EXPECT_THAT(text, Not(HasSubstr("no forecast of vllm")));
  EXPECT_THAT(text,
              HasSubstr("# vllm itself: decode, batch 64, 137 prompt + 221 generated: 7.91 ms"));
  EXPECT_THAT(text, HasSubstr("imported from vllm-bench, r.json"));
  // With a file the terminal says it too.
  Arguments to_file = exported;
  to_file.insert(to_file.end(), {"--out", "out/"});
  EXPECT_THAT(halmark(to_file).out, HasSubstr("vllm itself: decode"));
  const Json listed = data_of({"import", "--db", "x.db"});
  EXPECT_EQ(listed["imports"][0]["steps"], data["imports"][0]["steps"]);
}

TEST_F(EngineSteps, of_a_damaged_file_are_one_line_and_nothing_is_written) {
  write("s.toml", sweep);
  write("r.json", std::string(served).substr(0, 200));
  write("other.json", "[]");
  const std::vector<std::string> before = files();
  for (const Arguments& arguments :
       std::vector<Arguments>{{"import", "vllm-bench", "r.json"},
                              {"import", "vllm-bench", "absent.json"},
                              {"import", "vllm-bench"},
                              {"import", "other.json"},
                              {"import", "llama-bench", "other.json"},
                              {"import", "openvino-bench", "other.json"},
                              {"import", "vllm-bench", "r.json", "--model", "no-such-model"}}) {
    Arguments all = arguments;
    all.insert(all.end(), {"--db", "x.db"});
    const Outcome o = halmark(all);
    EXPECT_EQ(o.exit_code, 2) << o.out;
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
  }
  EXPECT_EQ(files(), before);
}

TEST_F(EngineSteps, without_an_engine_the_check_says_how_to_get_one) {
  const Outcome o = halmark({"deploy-check", "--db", "x.db"});
  EXPECT_EQ(o.exit_code, 5);
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, HasSubstr("llama-cpp-python"));
}

TEST_F(EngineSteps, an_engine_that_does_not_come_up_gives_its_reason_and_leaves_no_weights) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  measure();
  const std::string program = write("llama-server",
                                    "#!/bin/sh\necho 'error: no such model' >&2\n"
                                    "echo done\nexit 3\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::filesystem::create_directory(path("tmp"));
  Launch command = launch({"deploy-check", "--engine", path("."), "--db", "x.db", "--quiet"});
  command.environment["TMPDIR"] = path("tmp");
  const Outcome o = run(command);
  EXPECT_EQ(o.exit_code, 5) << o.out;
  EXPECT_TRUE(is_one_line(o.err)) << o.err;
  EXPECT_THAT(o.err, HasSubstr("error: no such model"));
  EXPECT_TRUE(std::filesystem::is_empty(path("tmp")));
  EXPECT_FALSE(std::filesystem::exists(path("x.db.engines")));
}

TEST_F(EngineSteps, of_llama_cpp_itself_stand_beside_the_prediction) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  const char* const engine = std::getenv("HALMARK_LLAMA_CPP");
  if (engine == nullptr) GTEST_SKIP() << "HALMARK_LLAMA_CPP names no folder with llama-server";
  measure();
  const Json data = data_of({"deploy-check", "--engine", engine, "--db", "x.db"});
  ASSERT_EQ(data["points"].size(), 1u);
  const Json& point = data["points"][0];
  const double measured = point["measured"]["step_ns"], predicted = point["predicted_ns"];
  EXPECT_EQ(point["phase"], "decode");
  EXPECT_EQ(point["measured"]["samples"], 8);  // a quarter of the context of 32
  EXPECT_GT(measured, 1e3);
  EXPECT_NEAR(point["measured_over_predicted"].get<double>(), measured / predicted, 1e-9);
  const Json exported = data_of(
      {"export", "--db", "x.db", "--as", "llamacpp", "--server-version", "b11434", "--point", "1"});
  ASSERT_EQ(exported["engine_steps"].size(), 1u);
  EXPECT_EQ(exported["engine_steps"][0]["step"], point["measured"]);
  // What was run is what is exported.
  EXPECT_EQ(exported["servers"][0], point["command"]);
}

}  // namespace
}  // namespace halmark::integration
