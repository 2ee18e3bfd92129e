// Limits of workers as users write them; both sides of each.
#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "plan/sweep.hpp"
#include "plan/worker_limits.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

TEST(WorkerMemoryText, is_a_size_or_none) {
  const auto bytes = [](const char* text) { return parse_worker_memory(text, "here"); };
  EXPECT_EQ(bytes("8GiB"), std::int64_t{8} << 30);
  EXPECT_EQ(bytes("1.5 GB"), 1'500'000'000);
  EXPECT_EQ(bytes("67108864"), 67'108'864);
  EXPECT_EQ(bytes("none"), 0);
  for (const char* bad : {"", "8", "67108863", "8Gib", "-1GiB", "nan", "1e30", "8 GiB more"}) {
    EXPECT_THROW(bytes(bad), Error) << bad;
  }
}

TEST(PhaseLimitText, names_a_phase_and_seconds) {
  const auto [phase, seconds] = parse_phase_limit("create=0.1", "here");
  EXPECT_STREQ(phase->name, "create");
  EXPECT_EQ(seconds, 0.1);
  EXPECT_EQ(parse_phase_limit("first=86400", "here").second, 86'400);
  for (const char* bad : {"create", "create=", "create=0.09", "create=86401", "create=1s",
                          "creat=1", "=1", "create=nan"}) {
    EXPECT_THROW(parse_phase_limit(bad, "here"), Error) << bad;
  }
  try {
    parse_phase_limit("creat=1", "--phase-limit");
  } catch (const Error& error) {
    EXPECT_THAT(error.line(), HasSubstr("create"));
  }
}

constexpr const char* sweep = R"(
name = "a"
model = "m"
dtypes = ["f32"]
[[workload]]
phase = "decode"
batch = [1]
context = 8
)";

TEST(Containment, of_a_sweep_gives_way_to_the_command_line) {
  const Sweep read = parse_sweep(
      std::string(sweep) + "[containment]\nworker_memory = \"1GiB\"\ncreate_s = 5\nfirst_s = 6\n",
      "a.toml");
  const WorkerLimits of_sweep = worker_limits(read.containment, {});
  EXPECT_EQ(of_sweep.memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(of_sweep.create_s, 5);
  EXPECT_EQ(of_sweep.first_s, 6);
  EXPECT_EQ(of_sweep.open_s, WorkerLimits{}.open_s);
  StatedLimits command;
  command.phases.push_back(parse_phase_limit("create=7", "here"));
  const WorkerLimits both = worker_limits(read.containment, command);
  EXPECT_EQ(both.create_s, 7);
  EXPECT_EQ(both.first_s, 6);
  EXPECT_FALSE(worker_limits({}, {}).memory_bytes) << "then the machine says";
  EXPECT_THROW(parse_sweep(std::string(sweep) + "[containment]\ncreat_s = 5\n", "a.toml"), Error);
  EXPECT_THROW(parse_sweep(std::string(sweep) + "[containment]\ncreate_s = 0\n", "a.toml"), Error);
}

}  // namespace
}  // namespace halmark
