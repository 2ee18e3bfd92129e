// A server that answers as llama-server does is started, asked and timed.
#include "deploy/engine/llama_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/json/json.hpp"
#include "deploy/deploy_check.hpp"
#include "deploy/engine/gguf.hpp"
#include "small_model.hpp"
#include "tests/checkout.hpp"
#include "tests/python_with.hpp"
#include "tests/scoped_environment.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::deploy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LlamaServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::python_with("http.server")) GTEST_SKIP() << "no Python is installed";
    std::filesystem::copy(test::in_source("/tests/unit/deploy/fake_llama_server.py"), program());
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }
  std::string program() const { return folder_ / "llama-server"; }
  void play(const std::string& scenario) const { test::write_file(folder_ / "scenario", scenario); }
  LlamaServer server() const { return {{program(), {"--model", "m"}}, {}}; }
  // What the server was started with, then what it was asked.
  std::vector<Json> asked() const {
    std::vector<Json> out;
    std::ifstream file(folder_ / "asked");
    for (std::string line; std::getline(file, line);) out.push_back(Json::parse(line));
    return out;
  }
  test::ScratchFolder folder_;
};

TEST_F(LlamaServerTest, is_started_on_this_machine_alone_and_waited_for) {
  const test::ScopedVariable secret("HALMARK_SECRET", "token");
  LlamaServer s = server();
  EXPECT_EQ(s.build(), "b7-fake");
  const Json started = asked().at(0);
  EXPECT_EQ(started["arguments"][0], "--model");
  EXPECT_EQ(started["arguments"][2], "--host");
  EXPECT_EQ(started["arguments"][3], "127.0.0.1");
  EXPECT_EQ(started["arguments"][4], "--port");
  for (const Json& name : started["environment"]) {
    EXPECT_NE(name, "HALMARK_SECRET");
    EXPECT_NE(name, "OMP_WAIT_POLICY") << "the engine measures as users start it";
  }
}

// Token k ends k (k + 1) / 2 ms after the first began; a prompt takes 7 ms a token.
TEST_F(LlamaServerTest, tells_the_time_of_every_token) {
  LlamaServer s = server();
  const auto all = s.complete({{300, 301, 302}, {299}}, 4);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_DOUBLE_EQ(all[0].prompt_ns, 21e6);
  EXPECT_DOUBLE_EQ(all[1].prompt_ns, 7e6);
  EXPECT_THAT(all[0].token_ns, ElementsAre(1e6, 3e6, 6e6, 10e6));
  ASSERT_EQ(all[0].arrival_ns.size(), 4u);
  EXPECT_LE(all[0].sent_ns, all[0].arrival_ns.front());
  EXPECT_TRUE(std::ranges::is_sorted(all[0].arrival_ns));
  const auto requests = asked();
  ASSERT_EQ(requests.size(), 3u);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(requests[i]["n_predict"], 4);
    EXPECT_EQ(requests[i]["temperature"], 0);
    EXPECT_EQ(requests[i]["ignore_eos"], true);
    EXPECT_EQ(requests[i]["cache_prompt"], false);
    EXPECT_EQ(requests[i]["stream"], true);
    EXPECT_EQ(requests[i]["timings_per_token"], true);
  }
}

// Four tokens by 10 ms are 2.5 ms each, two more until 21 ms are 5.5.
TEST_F(LlamaServerTest, tokens_that_come_together_share_their_time) {
  play("whole");
  LlamaServer s = server();
  const auto all = s.complete({{300}}, 6);
  EXPECT_THAT(all[0].token_ns, ElementsAre(2.5e6, 5e6, 7.5e6, 10e6, 15.5e6, 21e6));
}

TEST_F(LlamaServerTest, that_ends_gives_the_line_of_its_log_that_says_why) {
  play("ends");
  const Error loading = test::error_of([&] { server(); });
  EXPECT_EQ(loading.exit_code(), ExitCode::unfit);
  EXPECT_EQ(loading.line(), "llama-server ended while it loaded: error: cannot open the model");
  play("dies");
  LlamaServer dying = server();
  EXPECT_EQ(test::error_of([&] { dying.complete({{300}}, 4); }).line(),
            "llama-server ended: ggml failed: out of memory");
}

TEST_F(LlamaServerTest, that_refuses_is_quoted) {
  play("refuses");
  LlamaServer s = server();
  const Error error = test::error_of([&] { s.complete({{300}}, 4); });
  EXPECT_EQ(error.exit_code(), ExitCode::unfit);
  EXPECT_EQ(error.line(), "llama-server refused a request (status 400): no such slot");
}

TEST_F(LlamaServerTest, is_not_waited_for_when_the_user_leaves) {
  std::stop_source user;
  user.request_stop();
  const Error error = test::error_of([&] {
    LlamaServer s({program(), {"--model", "m"}}, user.get_token());
  });
  EXPECT_EQ(error.exit_code(), ExitCode::interrupted);
}

PlannedCheck planned(Phase phase, std::int64_t batch, std::int64_t context) {
  Deployment d = test::small_deployment({});
  Configuration& c = d.point.configuration;
  c.served.reset();
  c.workload = {.phase = phase, .batch = batch, .new_tokens = 1, .context = context};
  if (phase == Phase::prefill) c.workload.new_tokens = context;
  d.point.estimate = Estimate{.step_ns = 2e7, .low_ns = 1.5e7, .high_ns = 2.5e7};
  d.point.served.reset();
  d.device.clear();
  return {d, test::launch(d, "llamacpp", "b11434")};
}

class CheckPoints : public LlamaServerTest {
 protected:
  std::vector<CheckedPoint> checked(const std::vector<PlannedCheck>& points) {
    std::filesystem::create_directory(folder_.path() / "tmp");
    const test::ScopedVariable inside("TMPDIR", folder_ / "tmp");
    const auto out = check_points(test::small_model(), points,
                                  {.program = program(),
                                   .device = "this machine",
                                   .stop = {},
                                   .progress = [&](const std::string& s) { said_.push_back(s); }});
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "tmp")) << "weights are removed";
    return out;
  }
  std::vector<std::string> said_;
};

// From one token to a context of 16: 15 are generated, of which the last 4 are looked at. They
// take 15, 14, 13 and 12 ms: 13.5 on average, with a deviation of sqrt(1.25).
TEST_F(CheckPoints, a_decode_step_is_the_mean_of_the_last_tokens) {
  const auto out = checked({planned(Phase::decode, 1, 16)});
  ASSERT_EQ(out.size(), 1u);
  const EngineStep& step = out[0].measured;
  EXPECT_NEAR(step.step_ns, 13.5e6, 1);
  EXPECT_NEAR(*step.deviation_ns, 1.1180339887e6, 1);
  EXPECT_EQ(step.samples, 4);
  EXPECT_EQ(step.output_tokens, 4);
  EXPECT_EQ(step.cached_tokens, 16 - 1 - 4);
  EXPECT_EQ(step.phase, "decode");
  EXPECT_EQ(step.engine, "llamacpp");
  EXPECT_EQ(step.engine_version, "b7-fake");
  EXPECT_EQ(step.precision, "BF16");
  EXPECT_EQ(step.device, "this machine");
  EXPECT_EQ(step.batch, 1);
  EXPECT_EQ(step.model_id, "small");
  EXPECT_EQ(step.how, "tokens at contexts up to 15, by the server's clock");
  EXPECT_EQ(out[0].predicted_ns, 2e7);
  EXPECT_EQ(out[0].low_ns, 1.5e7);
  EXPECT_EQ(out[0].high_ns, 2.5e7);
  EXPECT_THAT(said_, ElementsAre("decode: random weights, BF16", "decode: the server loads them",
                                 "decode: the server computes"));
  const auto requests = asked();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[1]["n_predict"], 15);
  ASSERT_EQ(requests[1]["prompt"].size(), 1u);
  EXPECT_GE(requests[1]["prompt"][0], 259) << "a word of the vocabulary";
  EXPECT_LT(requests[1]["prompt"][0], 300);
  EXPECT_THAT(requests[0]["arguments"][1].get<std::string>(), HasSubstr("-BF16.gguf"));
}

TEST_F(CheckPoints, long_contexts_are_timed_over_64_tokens) {
  const auto out = checked({planned(Phase::decode, 1, 300)});
  EXPECT_EQ(out.at(0).measured.samples, 64);
  EXPECT_EQ(out.at(0).measured.output_tokens, 64);
  // Tokens 299 down to 236.
  EXPECT_NEAR(out.at(0).measured.step_ns, 267.5e6, 1);
}

// One run warms up; five prompts follow, each another one.
TEST_F(CheckPoints, a_prefill_is_the_time_of_whole_prompts) {
  const auto out = checked({planned(Phase::prefill, 1, 20)});
  const EngineStep& step = out.at(0).measured;
  EXPECT_NEAR(step.step_ns, 140e6, 1);
  EXPECT_EQ(step.samples, 5);
  EXPECT_EQ(step.input_tokens, 20);
  EXPECT_EQ(step.how, "whole prompts, by the server's clock");
  std::set<Json> prompts;
  for (const Json& request : asked()) {
    if (!request.contains("prompt")) continue;
    EXPECT_EQ(request["n_predict"], 1);
    EXPECT_EQ(request["prompt"].size(), 20u);
    prompts.insert(request["prompt"]);
  }
  EXPECT_EQ(prompts.size(), 6u);
}

TEST_F(CheckPoints, prompts_of_a_batch_are_timed_from_the_first_to_the_last) {
  const auto out = checked({planned(Phase::prefill, 2, 20)});
  const EngineStep& step = out.at(0).measured;
  EXPECT_GT(step.step_ns, 0);
  EXPECT_LT(step.step_ns, 60e9);
  EXPECT_NE(step.step_ns, 140e6);
  EXPECT_EQ(step.batch, 2);
  EXPECT_EQ(step.how, "from the first request to the first token of the last");
  EXPECT_EQ(asked().size(), 1u + 2 * 6);
}

TEST_F(CheckPoints, the_view_has_each_point_beside_its_prediction) {
  const auto out = checked({planned(Phase::decode, 1, 16)});
  const report::View view = check_view(out);
  const Json& point = view.data["points"][0];
  EXPECT_EQ(point["point"], "point 1 of 1");
  EXPECT_EQ(point["phase"], "decode");
  EXPECT_EQ(point["predicted_ns"], 2e7);
  EXPECT_EQ(point["predicted_low_ns"], 1.5e7);
  EXPECT_EQ(point["predicted_high_ns"], 2.5e7);
  EXPECT_EQ(point["predicted_from"], "roofline");
  EXPECT_NEAR(point["measured_over_predicted"].get<double>(), 13.5 / 20, 1e-9);
  EXPECT_EQ(point["command"][0], "llama-server");
  EXPECT_EQ(point["changed"], Json::array({"--model: a file of random weights",
                                           "--host 127.0.0.1 --port: a free one"}));
  EXPECT_THAT(view.text, HasSubstr("20.0 ms  15.0..25.0 ms"));
  EXPECT_THAT(view.text, HasSubstr("13.5 ms"));
  EXPECT_THAT(view.text, HasSubstr("1.12 ms"));
  EXPECT_THAT(view.text, HasSubstr("0.675"));
  EXPECT_THAT(view.text, HasSubstr("decode: point 1 of 1; tokens at contexts up to 15, by the "
                                   "server's clock; batch 1\n  llama-server --model "));
  EXPECT_THAT(view.text, HasSubstr("llamacpp b7-fake on this machine, "));
  EXPECT_THAT(view.text, HasSubstr("\n  set for the check: --model: a file of random weights\n"));
  EXPECT_TRUE(check_view({}).data["points"].empty());

  std::vector<CheckedPoint> two = {out[0], out[0]};
  two[1].planned.deployment.point_name = "point 2 of 2";
  const EngineImport imported = import_of(two, "2026-01-01T00:00:00Z");
  EXPECT_EQ(imported.tool, "deploy-check");
  EXPECT_EQ(imported.file, "point 1 of 1; point 2 of 2");
  EXPECT_EQ(imported.imported_utc, "2026-01-01T00:00:00Z");
  EXPECT_EQ(imported.steps.size(), 2u);
  EXPECT_EQ(imported.file_sha256.size(), 64u);
  EXPECT_NE(imported.file_sha256, import_of(out, "").file_sha256) << "of the commands";
}

TEST(ServerProgram, is_the_executable_of_the_folder) {
  const test::ScratchFolder folder;
  test::write_program(folder / "llama-server", "#!/bin/sh\n");
  EXPECT_EQ(server_program(folder.path().string()), folder / "llama-server");
}

}  // namespace
}  // namespace halmark::deploy
