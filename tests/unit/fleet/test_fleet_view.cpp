// What people read of a fleet.
#include "fleet/fleet_view.hpp"

#include <gmock/gmock.h>

namespace halmark::fleet {
namespace {

using testing::HasSubstr;

Agent idle_agent() {
  return {.id = 3,
          .node = "n1",
          .pid = 77,
          .offer = {{"cpu-1a", "device-2b"}, {{"cpu", "h1"}}, "1"},
          .state = "idle",
          .doing = "a case",
          .measured = 12,
          .failed = 2,
          .lost = 1,
          .since_s = 100,
          .silent_s = 5,
          .lease_s = 10};
}

RunProgress waiting_run() {
  return {.run = 7,
          .command = "halmark tune s.toml",
          .fingerprint = "cpu-1a@fleet",
          .units = {.ready = 4, .leased = 0, .done = 5, .failed = 6},
          .per_minute = 8,
          .need = {{"cpu-1a"}, {{"cpu", "h1"}}, "1"}};
}

TEST(FleetView, of_nobody_says_how_to_begin) {
  const report::View view = fleet_view({}, {});
  EXPECT_EQ(view.text, "no agent was here within a day: halmark agent URL starts one\n");
  EXPECT_TRUE(view.data["agents"].empty());
  EXPECT_TRUE(view.data["runs"].empty());
}

TEST(FleetView, has_a_row_for_each_agent) {
  const Agent agent = idle_agent();
  const report::View view = fleet_view(std::span(&agent, 1), {});
  EXPECT_EQ(view.text,
            "agent  node  state  rows  failed  lost  class               doing\n"
            "    3  n1    idle     12       2     1  cpu-1a + device-2b  a case\n");
  const Json told = view.data["agents"].at(0);
  EXPECT_EQ(told["id"], 3);
  EXPECT_EQ(told["pid"], 77);
  EXPECT_EQ(told["classes"], Json({"cpu-1a", "device-2b"}));
  EXPECT_EQ(told["plugins"]["cpu"], "h1");
  EXPECT_EQ(told["tool"], "1");
  EXPECT_EQ(told["state"], "idle");
  EXPECT_EQ(told["measured"], 12);
  EXPECT_EQ(told["failed"], 2);
  EXPECT_EQ(told["lost"], 1);
  EXPECT_EQ(told["since_s"], 100);
  EXPECT_EQ(told["silent_s"], 5);
}

// Three leases of ten seconds without a word.
TEST(FleetView, says_who_is_silent_and_for_how_long) {
  const auto state = [](const char* said, double silent_s) {
    Agent agent = idle_agent();
    agent.state = said;
    agent.silent_s = silent_s;
    const report::View view = fleet_view(std::span(&agent, 1), {});
    return std::pair(view.data["agents"].at(0)["state"].get<std::string>(), view.text);
  };
  EXPECT_EQ(state("idle", 29).first, "idle");
  EXPECT_EQ(state("idle", 30).first, "silent");
  EXPECT_THAT(state("idle", 30).second, HasSubstr("silent for 30.0 s"));
  EXPECT_EQ(state("left", 99).first, "left");
  EXPECT_THAT(state("left", 99).second, HasSubstr("  left  "));
  EXPECT_EQ(state("refused", 99).first, "refused");
  EXPECT_THAT(state("refused", 99).second, HasSubstr("  refused  "));
}

TEST(FleetView, has_a_row_for_each_run_and_why_nobody_takes_it) {
  const RunProgress run = waiting_run();
  const report::View view = fleet_view({}, std::span(&run, 1));
  EXPECT_THAT(view.text,
              HasSubstr("\n\nrun  done  leased  waiting  failed  a minute  command\n"
                        "  7     5       0        4       6         8  halmark tune s.toml\n"
                        "run 7 waits: no agent is there: start 'halmark agent URL' on a machine of "
                        "class cpu-1a\n"));
  const Json told = view.data["runs"].at(0);
  EXPECT_EQ(told["run"], 7);
  EXPECT_EQ(told["command"], "halmark tune s.toml");
  EXPECT_EQ(told["fingerprint"], "cpu-1a@fleet");
  EXPECT_EQ(told["waiting"], 4);
  EXPECT_EQ(told["leased"], 0);
  EXPECT_EQ(told["done"], 5);
  EXPECT_EQ(told["failed"], 6);
  EXPECT_EQ(told["per_minute"], 8);
  EXPECT_THAT(told["waits_for"].get<std::string>(), HasSubstr("no agent is there"));
}

TEST(FleetView, gives_no_reason_where_somebody_works_or_nothing_waits) {
  RunProgress run = waiting_run();
  run.units.leased = 1;
  EXPECT_EQ(fleet_view({}, std::span(&run, 1)).data["runs"].at(0)["waits_for"], "");
  run.units = {.ready = 0, .leased = 0, .done = 9};
  EXPECT_EQ(fleet_view({}, std::span(&run, 1)).data["runs"].at(0)["waits_for"], "");
  run.units.ready = 1;
  const Agent agent = idle_agent();
  EXPECT_EQ(fleet_view(std::span(&agent, 1), std::span(&run, 1)).data["runs"].at(0)["waits_for"],
            "")
      << "it will";
}

}  // namespace
}  // namespace halmark::fleet
