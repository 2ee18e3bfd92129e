// A decoder that nobody here wrote, with random weights: its step predicted from its trace by
// kernels that are measured here, against the step as torch runs it without a profiler. In bf16,
// where torch multiplies with the library of our kernels; in f32 it has another one, which took 1.4
// times as long in prefill and twice as long in decode (MKL 2024.2 on an EPYC).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/numeric/statistics.hpp"
#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

const std::string script = test::in_source("/tests/integration/bench/transformers_step.py");

constexpr const char* dense = R"({"model_type": "qwen3", "hidden_size": 1024,
  "intermediate_size": 3072, "num_hidden_layers": 8, "num_attention_heads": 16,
  "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 32000, "max_position_embeddings": 4096,
  "tie_word_embeddings": false})";
constexpr const char* mixture = R"({"model_type": "qwen3_moe", "hidden_size": 1024,
  "intermediate_size": 3072, "moe_intermediate_size": 768, "num_experts": 16,
  "num_experts_per_tok": 4, "num_hidden_layers": 6, "num_attention_heads": 16,
  "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 32000, "max_position_embeddings": 4096,
  "tie_word_embeddings": false})";

struct Case {
  const char* name;
  const char* config;
  const char* phase;
  int tokens;
};
constexpr Case cases[] = {
    {"dense prefill 128", dense, "prefill", 128},     {"dense prefill 512", dense, "prefill", 512},
    {"dense decode 1", dense, "decode", 1},           {"dense decode 4", dense, "decode", 4},
    {"mixture prefill 128", mixture, "prefill", 128}, {"mixture decode 1", mixture, "decode", 1}};

class Transformers : public HalmarkTest {
 protected:
  // Milliseconds of each step; the trace is written too.
  std::vector<double> run_of(const std::string& python, const Case& c, const std::string& trace) {
    Launch of_torch = base_;
    of_torch.arguments = {
        python,     script, write("config.json", c.config), c.phase, std::to_string(c.tokens),
        path(trace)};
    of_torch.limit_s = 600;
    const Outcome o = run(of_torch);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return o.exit_code == 0 ? Json::parse(o.out)["step_ms"].get<std::vector<double>>()
                            : std::vector<double>{};
  }
};

// The run of torch stands on both sides of the measurement, so that a machine that drifts is seen
// by both.
TEST_F(Transformers, steps_follow_from_their_traces_within_ten_percent) {
  const auto python = test::python_with("torch, transformers");
  if (!python) {
    GTEST_SKIP() << "no Python with torch and transformers: python3 -m pip install torch "
                    "transformers, or name one in HALMARK_PEER_PYTHON";
  }
  std::vector<double> errors;
  for (const Case& c : cases) {
    std::vector<double> step_ms = run_of(*python, c, "trace.json.gz");
    Launch of_us = launch({"trace", path("trace.json.gz"), "--predict", "--json"});
    of_us.limit_s = 600;
    const Outcome o = run(of_us);
    ASSERT_EQ(o.exit_code, 0) << o.err;
    const Json predicted = envelope_of(o.out)["data"]["predictions"];
    ASSERT_EQ(predicted.size(), 1u) << "five passes of one step";
    EXPECT_GT(predicted[0]["measured_executions"], 0);
    std::ranges::copy(run_of(*python, c, "again.json.gz"), std::back_inserter(step_ms));
    ASSERT_GE(step_ms.size(), 2u);
    const double run_ms = median(step_ms);
    const double ms = predicted[0]["step_ns"].get<double>() / 1e6;
    errors.push_back(ms / run_ms - 1);
    std::printf(
        "%s: predicted %.2f ms (%.2f measured here, %.2f of the trace), run %.2f ms: %+.1f %%\n",
        c.name, ms, predicted[0]["measured_ns"].get<double>() / 1e6,
        predicted[0]["traced_ns"].get<double>() / 1e6, run_ms, 100 * errors.back());
  }
  for (double& error : errors) error = std::fabs(error);
  EXPECT_LE(median(errors), 0.10);
}

}  // namespace
}  // namespace halmark::integration
