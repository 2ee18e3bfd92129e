// halmark simulate: whole commands on rooflines of known devices.
#include <fstream>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Simulate : public HalmarkTest {};

TEST_F(Simulate, a_step_has_work_over_time_and_a_path_that_sums_to_it) {
  const Json data = data_of({"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--shards", "2"});
  const Json& rate = data["throughput"];
  EXPECT_DOUBLE_EQ(rate["flops"].get<double>() / rate["step_us"].get<double>() * 1e6,
                   rate["flops_per_s"].get<double>());
  const Json& path = data["critical_path"];
  EXPECT_NEAR(path["compute_us"].get<double>() + path["communication_us"].get<double>(),
              path["makespan_us"].get<double>(), 1e-6);
  EXPECT_EQ(path["gap_us"], 0);
  EXPECT_EQ(data["latency"]["n"], 100);
  EXPECT_EQ(data["schedule"]["devices"], 2);
  for (const Json& link : data["links"]) EXPECT_LE(link["utilisation"].get<double>(), 1);
}

TEST_F(Simulate, the_profile_lite_has_two_shards_and_says_so) {
  const Outcome out = halmark(
      {"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--shards", "4", "--fabric", "lite"});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_THAT(out.err,
              AllOf(HasSubstr("fabric 'lite'"), HasSubstr("2 devices"), HasSubstr("4 are wanted")));
  const Json data = data_of({"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--shards", "4",
                             "--fabric", "nvlink-node"});
  EXPECT_EQ(data["schedule"]["devices"], 4);
}

TEST_F(Simulate, without_a_fabric_devices_meet_by_their_own_link_as_in_model) {
  struct Case {
    const char *model, *device, *tp;
  };
  for (const Case& c : {Case{"qwen3-0.6b", "h100-sxm", "1"}, Case{"llama-3.1-8b", "h200", "2"},
                        Case{"llama-3.1-70b", "h200", "8"}, Case{"llama-3.1-8b", "rtx-4090", "2"},
                        Case{"llama-3.1-70b", "mi300x", "4"}}) {
    SCOPED_TRACE(std::string(c.model) + " on " + c.tp + " of " + c.device);
    const Arguments asked = {c.model,     "--phase",  "decode", "--batch", "16",
                             "--context", "4096",     "--tp",   c.tp,      "--dtype",
                             "bf16",      "--device", c.device};
    Arguments model = asked, simulate = asked;
    model.insert(model.begin(), "model");
    simulate.insert(simulate.begin(), "simulate");
    simulate.insert(simulate.end(), {"--runs", "0"});
    const double ms = data_of(model)["answer"]["time_ms"].get<double>();
    EXPECT_NEAR(data_of(simulate)["throughput"]["step_us"].get<double>() / 1e3, ms,
                ms * 1e-7);  // events are of whole picoseconds
  }
}

TEST_F(Simulate, devices_that_their_link_does_not_join_need_a_fabric) {
  const auto error = [&](const char* device, const char* shards) {
    const Outcome out =
        halmark({"simulate", "llama-3.1-8b", "--device", device, "--shards", shards});
    EXPECT_EQ(out.exit_code, 2);
    EXPECT_THAT(out.err, HasSubstr("--fabric NAME"));
    return out.err;
  };
  EXPECT_THAT(error("h100-sxm", "16"), HasSubstr("joins 8 of h100-sxm, and 16 are wanted"));
  EXPECT_THAT(error("epyc-9654", "2"), HasSubstr("states no link"));
}

TEST_F(Simulate, training_goes_by_the_schedule_that_is_named) {
  const auto step_us = [&](const std::string& schedule) {
    return data_of({"simulate", "training", "qwen3-0.6b", "--device", "h100-sxm", "--fabric",
                    "nvlink-node", "--pp", "4", "--batch", "8", "--micro-batch", "1",
                    "--new-tokens", "4096", "--schedule", schedule, "--runs",
                    "0"})["throughput"]["step_us"]
        .get<double>();
  };
  EXPECT_LT(step_us("zero-bubble"), step_us("1f1b"));
}

TEST_F(Simulate, files_hold_every_event) {
  const std::string events = path("events.jsonl"), trace = path("trace.json");
  const Json data =
      data_of({"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--fabric", "lite", "--shards",
               "2", "--one-time", "boot=1,compile=3", "--events", events, "--perfetto", trace});
  std::ifstream lines(events);
  std::string line;
  std::size_t count = 0, once = 0;
  while (std::getline(lines, line)) {
    const Json event = parse_json(line, events);
    ++(event["phase"] == "one_time" ? once : count);
  }
  EXPECT_EQ(count, data["schedule"]["events"].get<std::size_t>());
  EXPECT_EQ(once, 2u * 3) << "boot, compile, and place from the host's memory, on both devices";
  EXPECT_FALSE(read_json_file(trace)["traceEvents"].empty());
}

TEST_F(Simulate, what_cannot_be_is_one_line) {
  const auto error = [&](Arguments arguments) {
    arguments.insert(arguments.begin(), "simulate");
    const Outcome out = halmark(arguments);
    EXPECT_EQ(out.exit_code, 2);
    EXPECT_EQ(std::ranges::count(out.err, '\n'), 1) << out.err;
    return out.err;
  };
  EXPECT_THAT(error({"qwen3-0.6b"}), HasSubstr("--device"));
  EXPECT_THAT(error({"qwen3-0.6b", "--device", "h100-sxm", "--events-max", "100"}),
              HasSubstr("events, and its limit is 100"));
  EXPECT_THAT(error({"qwen3-0.6b", "--device", "h100-sxm", "--one-time", "launch=3"}),
              HasSubstr("unknown one-time phase 'launch'"));
  EXPECT_THAT(error({"qwen3-0.6b", "--device", "h100-sxm", "--shards", "2", "--tp", "2", "--dp",
                     "2", "--fabric", "nvlink-node"}),
              HasSubstr("device_count_mismatch"));
}

}  // namespace
}  // namespace halmark::integration
