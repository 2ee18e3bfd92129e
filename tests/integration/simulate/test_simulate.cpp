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
  const Outcome out = halmark({"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--shards", "4"});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_THAT(out.err,
              AllOf(HasSubstr("fabric 'lite'"), HasSubstr("2 devices"), HasSubstr("4 are wanted")));
  const Json data = data_of({"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--shards", "4",
                             "--fabric", "nvlink-node"});
  EXPECT_EQ(data["schedule"]["devices"], 4);
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
      data_of({"simulate", "qwen3-0.6b", "--device", "h100-sxm", "--shards", "2", "--one-time",
               "boot=1,compile=3", "--events", events, "--perfetto", trace});
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
