// halmark simulate serving: whole commands on the roofline of a known device.
#include <cmath>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SimulateServing : public HalmarkTest {
 protected:
  static Arguments command(Arguments more) {
    Arguments out = {"simulate", "serving",   "llama-3.1-8b", "--device",
                     "h100-sxm", "--latency", "roofline"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  Json served(Arguments more) const { return data_of(command(std::move(more))); }
  std::string refusal(Arguments more) const {
    const Outcome o = halmark(command(std::move(more)));
    EXPECT_EQ(o.exit_code, 2) << o.out << o.err;
    EXPECT_TRUE(is_one_line(o.err));
    return o.err;
  }
};

// What servers logged at --gpu-memory-utilization 0.9: vLLM 0.11 on H100
// (llm-d-incubation/llm-d-planner@e50305af90f0, Apache-2.0), 0.19 on an RTX 4090
// (casys-kaist/LLMServingSim serve-01, MIT).
TEST_F(SimulateServing, a_cache_has_what_the_engine_left_to_it) {
  struct Log {
    const char *model, *dtype, *tp, *device;
    double kv_cache_gib;  // 0: it did not start, no room for a cache
  };
  for (const Log& log : {Log{"llama-3.1-8b", "bf16", "1", "h100-sxm", 51.38},
                         Log{"qwen3-0.6b", "bf16", "1", "h100-sxm", 64.45},
                         Log{"qwen3-32b", "bf16", "2", "h100-sxm", 34.49},
                         Log{"llama-3.3-70b", "fp8", "2", "h100-sxm", 32.00},
                         Log{"llama-3.1-8b", "bf16", "1", "rtx-4090", 2588 * 2.0 / 1024},
                         Log{"llama-3.3-70b", "fp8", "1", "h100-sxm", 0}}) {
    SCOPED_TRACE(std::string(log.model) + " on " + log.tp + " of " + log.device);
    const Outcome o = halmark({"simulate", "serving", log.model, "--dtype", log.dtype, "--tp",
                               log.tp, "--devices", log.tp, "--device", log.device, "--rate", "1",
                               "--requests", "1", "--engine", "vllm", "--json"});
    if (log.kv_cache_gib == 0) {
      EXPECT_EQ(o.exit_code, 2);
      EXPECT_THAT(o.out, HasSubstr("no KV block"));
      continue;
    }
    const Json data = envelope_of(o.out)["data"];
    const Json& kv = data["engines"][0]["kv"];
    const double of_rank = kv["blocks"].get<double>() * kv["block_bytes"].get<double>() /
                           std::stod(log.tp) / 1024 / 1024 / 1024;
    EXPECT_NEAR(of_rank / log.kv_cache_gib, 1, 0.03);
  }
}

TEST_F(SimulateServing, a_closed_loop_stands_beside_its_closed_form) {
  const Json data = served({"--concurrency", "8", "--input", "512", "--output", "64", "--requests",
                            "160", "--ttft", "1s", "--tpot", "1s"});
  EXPECT_EQ(data["goodput_share"], 1.0);
  EXPECT_EQ(data["generated_tokens"], 160 * 64);
  EXPECT_NEAR(data["tokens_per_s"].get<double>() * data["makespan_s"].get<double>(), 160 * 64,
              1e-3);
  EXPECT_NEAR(data["tpot"]["mean_ms"].get<double>() / data["closed_form"]["tpot_ms"].get<double>(),
              1, 0.05);
  const Json& kv = data["engines"][0]["kv"];
  // 2 x 32 layers x 8 heads x 128 x 2 bytes of a token.
  EXPECT_NEAR(kv["block_bytes"].get<double>(), 16.0 * 131'072, 1);
  EXPECT_EQ(kv["allocated"], kv["freed"]) << "all are given back in the end";
}

TEST_F(SimulateServing, the_same_seed_gives_the_same_events_and_the_engine_adds_its_terms) {
  const Arguments load = {"--rate", "30", "--burst", "2", "--requests", "60", "--output", "20"};
  const auto events = [&](const char* name, Arguments more) {
    Arguments all = load;
    all.insert(all.end(), {"--events", path(name)});
    all.insert(all.end(), more.begin(), more.end());
    served(all);
    return read(name);
  };
  const std::string first = events("a.jsonl", {});
  EXPECT_EQ(first, events("b.jsonl", {}));
  EXPECT_NE(first, events("c.jsonl", {"--seed", "2"}));
  double critical_us = 0, end_us = 0;
  std::istringstream lines(first);
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    const double length = event["end_us"].get<double>() - event["start_us"].get<double>();
    if (event["is_critical"].get<bool>()) critical_us += length;
    end_us = std::max(end_us, event["end_us"].get<double>());
  }
  EXPECT_NEAR(critical_us, end_us, 1e-3 * end_us);
  const double bare = served(load)["tpot"]["mean_ms"].get<double>();
  Arguments with = load;
  with.insert(with.end(), {"--engine", "trtllm"});
  with.insert(with.end(), {"--tpot", "1s"});
  const Json termed = served(with);
  EXPECT_NE(termed["tpot"]["mean_ms"].get<double>(), bare);
  EXPECT_TRUE(termed["keeps_tpot_probability"].is_null()) << "of a roofline nothing is known";
}

TEST_F(SimulateServing, prefixes_traces_pools_and_cold_starts) {
  const Json prefixes = served({"--requests", "20", "--input", "1024", "--output", "4",
                                "--prefix-tokens", "512", "--prefix-share", "1"});
  EXPECT_EQ(prefixes["engines"][0]["kv"]["reused"], 19 * 512 / 16);
  write("t.csv", "arrival_s,input_tokens,output_tokens\n0,100,5\n0.5,300,7\n");
  const Json trace = served({"--arrivals", path("t.csv"), "--cold-start", "disk:8"});
  EXPECT_EQ(trace["requests"], 2);
  EXPECT_EQ(trace["generated_tokens"], 12);
  // 8.03 billion parameters of two bytes at 8 GB/s.
  EXPECT_NEAR(trace["cold_start_s"].get<double>(), 2.0, 0.1);
  const Json pools = served({"--mode", "disaggregated", "--prefill-workers", "2", "--requests",
                             "10", "--input", "1000", "--output", "8"});
  EXPECT_NEAR(pools["handed_over_bytes"].get<double>(), 10 * 1000 * 131'072.0, 1e7);
  const Json shared = served({"--mode", "shared", "--requests", "10"});
  EXPECT_EQ(shared["engines"].size(), 2u);
}

TEST_F(SimulateServing, what_is_impossible_is_refused_in_one_line) {
  write("t.csv", "arrival_s,input_tokens,output_tokens\n1,100,5\n0.5,300,7\n");
  EXPECT_THAT(refusal({"--arrivals", path("t.csv")}), HasSubstr("t.csv:3: time runs backwards"));
  write("long.csv", "arrival_s,input_tokens,output_tokens\n0,100,5\n0.5,131000,100\n");
  EXPECT_THAT(refusal({"--arrivals", path("long.csv")}),
              AllOf(HasSubstr("long.csv, request 2"), HasSubstr("131100 exceeds"),
                    HasSubstr("max_position_embeddings 131072")));
  EXPECT_THAT(refusal({"--kv-blocks", "10"}),
              HasSubstr("needs 72 KV blocks, and an engine has 10"));
  EXPECT_THAT(refusal({"--kv-blocks", "10000000"}), HasSubstr("fit into"));
  EXPECT_THAT(refusal({"--requests", "1000000000", "--output", "100"}),
              HasSubstr("nothing was simulated"));
  EXPECT_THAT(refusal({"--mode", "together"}), HasSubstr("--mode"));
  EXPECT_THAT(refusal({"--engine", "vlm"}), AllOf(HasSubstr("--engine"), HasSubstr("vllm")));
  EXPECT_THAT(refusal({"--cold-start", "tape:1"}), HasSubstr("disk:GB/s"));
  EXPECT_THAT(refusal({"--rate", "0"}), HasSubstr("0 per second"));
}

}  // namespace
}  // namespace halmark::integration
