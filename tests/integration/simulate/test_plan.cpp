// halmark simulate plan: whole commands on figures of known devices.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class SimulatePlan : public HalmarkTest {};

TEST_F(SimulatePlan, says_which_shard_holds_what_and_the_sums_agree) {
  const Json data = data_of({"simulate", "plan", "qwen3-32b", "--device", "h100-sxm", "--fabric",
                             "nvlink-node", "--shards", "8", "--batch", "16"});
  double held = 0, messages = 0;
  for (const Json& bytes : data["table"]["hand_over_bytes_per_step"]) {
    messages += bytes.get<double>();
  }
  for (const Json& row : data["table"]["rows"]) {
    held += row["owner_count"].get<double>() * row["bytes_per_shard"].get<double>();
    messages += row["collective_bytes_per_step"].get<double>();
  }
  EXPECT_EQ(held, data["table"]["held_bytes"].get<double>());
  EXPECT_EQ(messages, data["table"]["collective_bytes_per_step"].get<double>());
  const Json& p = data["configuration"]["parallel"];
  EXPECT_EQ(p["dp"].get<int>() * p["tp"].get<int>() * p["pp"].get<int>(), 8);
  // The chosen layout is the fastest of those that fit.
  for (const Json& layout : data["layouts"]) {
    if (!layout["fits"].get<bool>()) continue;
    EXPECT_GE(layout["step_ns"].get<double>(), data["step_ns"].get<double>());
  }
  // Throughput is work over time.
  EXPECT_NEAR(data["tokens_per_s"].get<double>(), 16 / (data["step_ns"].get<double>() * 1e-9),
              1e-6);
  EXPECT_EQ(data["placement"]["shards"].size(), 8u);
}

TEST_F(SimulatePlan, one_shard_moves_nothing) {
  const Json data =
      data_of({"simulate", "plan", "qwen3-0.6b", "--device", "h100-sxm", "--shards", "1"});
  EXPECT_EQ(data["table"]["collective_bytes_per_step"].get<double>(), 0);
  EXPECT_EQ(data["layouts"].size(), 1u);
  for (const Json& row : data["table"]["rows"]) EXPECT_EQ(row["strategy"], "replicate");
}

TEST_F(SimulatePlan, the_profile_lite_takes_two_shards_and_no_more) {
  const Outcome two = halmark({"simulate", "plan", "qwen3-0.6b", "--device", "l4", "--fabric",
                               "lite", "--shards", "2", "--batch", "2"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  const Outcome three = halmark(
      {"simulate", "plan", "qwen3-0.6b", "--device", "l4", "--fabric", "lite", "--shards", "3"});
  EXPECT_EQ(three.exit_code, 2);
  EXPECT_THAT(three.err, HasSubstr("profile lite allows at most 2 shards, and 3 are asked for"));
}

TEST_F(SimulatePlan, tensors_that_do_not_fit_move_to_a_slower_memory) {
  const Arguments asked = {"simulate", "plan", "llama-3.1-70b", "--device", "h100-sxm",
                           "--shards", "1",    "--fabric"};
  Arguments with_host = asked;
  with_host.push_back("fabric.toml");
  write("fabric.toml", R"(id = "one"
name = "one device beside host memory"
profile = "full"
[node]
devices = 1
[node.host]
transport = "pcie"
latency_us = 0.4
bandwidth_gbs = 63
source = "test"
[[tier]]
name = "host"
scope = "node"
bytes = 549755813888
read_gbs = 63
latency_us = 1
source = "test"
)");
  const Json data = data_of(with_host);
  ASSERT_TRUE(data["offload"].is_object());
  EXPECT_EQ(data["offload"]["tier"], "host");
  EXPECT_FALSE(data["executable"].get<bool>());
  double bytes = 0;
  for (const Json& item : data["offload"]["items"]) bytes += item["bytes"].get<double>();
  EXPECT_EQ(bytes, data["offload"]["bytes"].get<double>());
  const Json& layout = data["layouts"][0];
  EXPECT_GE(bytes, layout["bytes_per_shard"].get<double>() - 85.03e9);
  const Outcome without =
      halmark({"simulate", "plan", "llama-3.1-70b", "--device", "h100-sxm", "--shards", "1"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("no slower memory is known"));
}

TEST_F(SimulatePlan, what_is_impossible_is_said_in_one_line) {
  const auto refused_with = [&](const Arguments& more, const std::string& text) {
    Arguments all = {"simulate", "plan", "qwen3-0.6b", "--device", "h100-sxm"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = halmark(all);
    EXPECT_EQ(o.exit_code, 2) << text;
    EXPECT_THAT(o.err, HasSubstr(text));
  };
  refused_with({"--shards", "2", "--strategy", "tensr"}, "unknown strategy 'tensr'");
  refused_with({"--shards", "2", "--dp", "0"}, "a degree of 0 is below 1");
  refused_with({"--shards", "0"}, "--shards");
  refused_with({"--shards", "4", "--tp", "3"}, "the stated degrees do not multiply to them");
  refused_with({"--shards", "2", "--stages", "10,17", "--batch", "2"},
               "stages of 27 layers in all");
  refused_with({"--shards", "2", "--zero", "1"}, "--zero and --sequence-parallel are of training");
}

TEST_F(SimulatePlan, what_run_cannot_execute_is_said_beside_the_fastest_that_it_can) {
  const Json data = data_of({"simulate", "plan", "llama-3.1-8b", "--device", "h100-sxm", "--fabric",
                             "nvlink-node", "--shards", "8", "--phase", "prefill", "--new-tokens",
                             "32768", "--batch", "1", "--latency", "roofline"});
  EXPECT_GT(data["configuration"]["parallel"]["cp"].get<int>(), 1);
  EXPECT_FALSE(data["executable"].get<bool>());
  EXPECT_THAT(data["not_executable"].get<std::string>(), HasSubstr("not executable here"));
  const auto command = data["command"].get<std::string>();
  EXPECT_THAT(command, HasSubstr("halmark run llama-3.1-8b --phase prefill --new-tokens 32768"));
  EXPECT_THAT(command, testing::Not(HasSubstr("--cp")));
}

TEST_F(SimulatePlan, a_training_step_shares_states_out_over_replicas) {
  const auto plan = [&](const char* zero) {
    return data_of({"simulate", "plan", "qwen3-0.6b", "--device", "h100-sxm", "--fabric",
                    "nvlink-node", "--shards", "4", "--strategy", "data", "--phase", "training",
                    "--new-tokens", "512", "--batch", "4", "--zero", zero});
  };
  const Json copied = plan("0"), shared = plan("3");
  EXPECT_FALSE(shared["executable"].get<bool>());
  // Weights and gradients in bf16, master copy and two moments in f32: 16 bytes a parameter, here
  // a quarter of them.
  const double states = copied["layouts"][0]["weight_bytes"].get<double>();
  EXPECT_NEAR(states, 16.0 * 596049920, 16.0 * 596049920 * 0.01);
  EXPECT_NEAR(shared["layouts"][0]["weight_bytes"].get<double>(), states / 4, states * 0.001);
  EXPECT_NEAR(copied["table"]["replication"].get<double>(), 4, 1e-9);
  EXPECT_NEAR(shared["table"]["replication"].get<double>(), 1, 1e-3);
  EXPECT_EQ(shared["table"]["rows"][1]["strategy"], "zero3");
}

TEST_F(SimulatePlan, stages_are_stated_in_model_as_in_plan) {
  const Json data = data_of({"model", "qwen3-0.6b", "--stages", "10,18", "--batch", "2"});
  EXPECT_EQ(data["parallel"]["stages"].dump(), "[10,18]");
  EXPECT_EQ(data["parallel"]["pp"].get<int>(), 2);
}

}  // namespace
}  // namespace halmark::integration
