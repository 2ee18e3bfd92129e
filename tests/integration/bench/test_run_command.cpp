// `halmark run` over every kind of split, on the cpu plugin and under mpirun where it needs them.
#include <algorithm>
#include <thread>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class RunCommand : public HalmarkTest {
 protected:
  // Experts in every layer, so small that a whole stack takes no time.
  std::string tiny_experts() const {
    return write("tiny_experts.json",
                 R"({"model_type": "qwen3_moe", "num_hidden_layers": 4, "hidden_size": 64,
                     "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
                     "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                     "norm_topk_prob": true, "vocab_size": 128, "tie_word_embeddings": false,
                     "max_position_embeddings": 128})");
  }
};

TEST_F(RunCommand, executes_two_shards_with_real_collectives) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  if (!found_program("mpirun")) GTEST_SKIP() << "mpirun is not installed";
  if (!has_two_cores()) GTEST_SKIP() << "one core cannot be cut in two";
  const Outcome o =
      undisturbed({"run", tiny_model(), "--phase", "decode", "--batch", "2", "--context", "32",
                   "--tp", "2", "--dtype", "f32", "--rounds", "1", "--seconds", "0.2", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  const Json data = envelope_of(o.out)["data"];
  EXPECT_EQ(data["deployment"]["parallel"]["tp"], 2);
  EXPECT_GT(data["run"]["predicted_ns"].get<double>(), 0);
  EXPECT_TRUE(is_figure_or_has_reason(data["run"], "measured_ns"));
  std::vector<std::string> operators;
  double sum_ns = 0;
  for (const Json& op : data["run"]["operators"]) {
    operators.push_back(op["name"]);
    sum_ns += op["measured_ns"].get<double>();
  }
  EXPECT_THAT(operators, Contains(HasSubstr("all_reduce")));
  EXPECT_GT(sum_ns, 0);
}

class Oversubscribed : public RunCommand {
 protected:
  // Of a run with more ranks than cores: outputs, and no figure anywhere.
  void expect_no_figure(std::vector<std::string> arguments) {
    const Outcome text = halmark(arguments);
    EXPECT_EQ(text.exit_code, 0) << text.out << text.err;
    EXPECT_THAT(text.out, HasSubstr("oversubscribed: "));
    EXPECT_THAT(text.out, Not(HasSubstr("error")));
    arguments.insert(arguments.end(), {"--json", "--db", path("results.db")});
    const Outcome o = halmark(arguments);
    ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
    const Json data = envelope_of(o.out)["data"];
    EXPECT_EQ(data["run"]["oversubscribed"], true);
    EXPECT_EQ(data["run"]["status"], "ok");
    EXPECT_TRUE(data["estimate"].is_null());
    for (const char* figure :
         {"measured_ns", "predicted_ns", "prediction_error", "composition_error", "composition"}) {
      EXPECT_TRUE(data["run"][figure].is_null()) << figure;
    }
    const std::vector<std::string> report_of{"report", "--run", "1", "--db", path("results.db")};
    EXPECT_THAT(halmark(report_of).out, HasSubstr("oversubscribed"));
    for (const char* file : {"r.json", "r.csv", "r.html", "r.md"}) {
      std::vector<std::string> written = report_of;
      written.insert(written.end(), {"--out", path(file)});
      halmark(written);
      EXPECT_THAT(read(file), HasSubstr("oversubscribed: ")) << file;
    }
    const Json report = data_of(report_of);
    EXPECT_THAT(report["front"], testing::IsEmpty());
  }
};

TEST_F(Oversubscribed, more_replicas_than_cores_are_a_functional_test) {
  const auto ranks = std::to_string(2 * std::thread::hardware_concurrency());
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=1000";
  expect_no_figure({"run", tiny_model(), "--phase", "decode", "--batch", ranks, "--context", "32",
                    "--dp", ranks, "--dtype", "f32", "--backend", "fake"});
  base_.environment["HALMARK_FAKE_SCRIPT"] = "wrong=last_element";
  const Outcome wrong =
      halmark({"run", tiny_model(), "--phase", "decode", "--batch", ranks, "--context", "32",
               "--dp", ranks, "--dtype", "f32", "--backend", "fake", "--no-store"});
  EXPECT_EQ(wrong.exit_code, 6) << wrong.out << wrong.err;
}

// Every group of ranks meets with real collectives, whatever the number of cores.
TEST_F(Oversubscribed, products_of_strategies_run_with_collectives_of_some_ranks) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  if (!found_program("mpirun")) GTEST_SKIP() << "mpirun is not installed";
  if (std::thread::hardware_concurrency() >= 4) GTEST_SKIP() << "there are four cores";
  expect_no_figure({"run", tiny_model(), "--phase", "decode", "--batch", "2", "--context", "32",
                    "--tp", "2", "--pp", "2", "--dtype", "f32"});
  expect_no_figure({"run", tiny_experts(), "--phase", "decode", "--batch", "4", "--context", "32",
                    "--dp", "4", "--ep", "4", "--dtype", "f32"});
  expect_no_figure({"run", tiny_experts(), "--phase", "decode", "--batch", "4", "--context", "32",
                    "--dp", "2", "--pp", "2", "--ep", "2", "--dtype", "f32"});
}

TEST_F(RunCommand, executes_experts_on_two_ranks) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  if (!found_program("mpirun")) GTEST_SKIP() << "mpirun is not installed";
  if (!has_two_cores()) GTEST_SKIP() << "one core cannot be cut in two";
  for (const char* axis : {"dp", "tp"}) {
    const Outcome o =
        undisturbed({"run", tiny_experts(), "--phase", "decode", "--batch", "4", "--context", "32",
                     std::string("--") + axis, "2", "--ep", "2", "--dtype", "f32", "--rounds", "1",
                     "--seconds", "0.2", "--json"});
    ASSERT_EQ(o.exit_code, 0) << axis << o.out << o.err;
    const Json data = envelope_of(o.out)["data"];
    EXPECT_EQ(data["deployment"]["parallel"]["ep"], 2);
    EXPECT_FALSE(data["run"].contains("oversubscribed"));
    EXPECT_TRUE(is_figure_or_has_reason(data["run"], "measured_ns"));
    std::vector<std::string> operators;
    for (const Json& op : data["run"]["operators"]) operators.push_back(op["name"]);
    EXPECT_THAT(operators, Contains("expert_gate_up"));
    // Replicas exchange rows; ranks of a tensor group see the same tokens and add up.
    EXPECT_THAT(operators, Contains(std::string_view(axis) == "dp" ? HasSubstr("all_to_all")
                                                                   : HasSubstr("all_reduce")));
  }
}

TEST_F(RunCommand, executes_two_stages_and_two_replicas) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  if (!found_program("mpirun")) GTEST_SKIP() << "mpirun is not installed";
  if (!has_two_cores()) GTEST_SKIP() << "one core cannot be cut in two";
  for (const char* axis : {"pp", "dp"}) {
    const Outcome o = undisturbed({"run", tiny_model(), "--phase", "decode", "--batch", "2",
                                   "--context", "32", std::string("--") + axis, "2", "--dtype",
                                   "f32", "--rounds", "1", "--seconds", "0.2", "--json"});
    ASSERT_EQ(o.exit_code, 0) << axis << o.out << o.err;
    const Json data = envelope_of(o.out)["data"];
    EXPECT_EQ(data["deployment"]["parallel"][axis], 2);
    EXPECT_TRUE(is_figure_or_has_reason(data["run"], "measured_ns"));
    const auto sends = std::ranges::count_if(data["run"]["operators"], [](const Json& op) {
      return op["name"].get<std::string>().find("send_recv") != std::string::npos;
    });
    const bool is_pipeline = std::string_view(axis) == "pp";
    EXPECT_EQ(sends, is_pipeline ? 1 : 0) << data["run"]["operators"].dump();
    EXPECT_EQ(data["run"].contains("bubble_share"), is_pipeline);
    EXPECT_EQ(data["estimate"].contains("alone"), is_pipeline);
    if (!is_pipeline) continue;
    const double bubbles = data["run"]["bubble_share"];
    EXPECT_GT(bubbles, 0.1) << "a rank of two waits in two of six slots, more where stages differ";
    EXPECT_LT(bubbles, 1);
    EXPECT_EQ(data["run"]["predicted_ns"], data["estimate"]["alone"]["step_ns"]);
  }
}

}  // namespace
}  // namespace halmark::integration
