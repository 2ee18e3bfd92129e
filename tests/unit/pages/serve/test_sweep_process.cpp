// A child that talks like `halmark tune --progress json`, by a shell that the test names.
#include "pages/serve/sweep/sweep_process.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::pages {
namespace {

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

bool ended_within(SweepProcess& process, int limit_ms) {
  for (int i = 0; i < limit_ms / 5 && process.is_running(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return !process.is_running();
}

TEST(SweepProcesses, tell_how_far_they_are_and_how_they_ended) {
  SweepProcess process("tiny", shell(R"(echo 'halmark: begins' >&2
echo '{"event":"trial","done":3,"failed":1,"total":7,"eta_s":2.5,"subject":"gemm"}' >&2
echo '{"broken' >&2)"));
  ASSERT_TRUE(ended_within(process, 10'000));
  const Json said = process.progress();
  EXPECT_THAT(said, test::HasValues(R"({"/done": 3, "/failed": 1, "/total": 7, "/left_s": 2.5,
      "/subject": "gemm", "/lines": ["halmark: begins", "{\"broken"], "/outcome": "complete",
      "/can_resume": false})"));
}

TEST(SweepProcesses, are_stopped_as_from_a_terminal_and_can_be_resumed) {
  SweepProcess process("tiny",
                       shell("trap 'exit 130' INT; echo ready >&2; while :; do sleep 0.01; done"));
  for (int i = 0; i < 2000 && process.progress()["lines"].empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.stop();
  ASSERT_TRUE(ended_within(process, 10'000));
  EXPECT_THAT(process.progress()["outcome"].get<std::string>(), testing::StartsWith("stopped"));
  EXPECT_TRUE(process.progress()["can_resume"].get<bool>());
}

TEST(SweepProcesses, that_fail_say_their_exit_code) {
  SweepProcess process("tiny", shell("exit 5"));
  ASSERT_TRUE(ended_within(process, 10'000));
  EXPECT_EQ(process.progress()["outcome"], "exit code 5");
}

TEST(SweepProcesses, cannot_be_started_without_a_program) {
  EXPECT_THROW(SweepProcess("tiny", {"/no/such/program"}), Error);
}

}  // namespace
}  // namespace halmark::pages
