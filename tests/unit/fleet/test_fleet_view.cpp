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

void expect_told(const Json& told, const char* wanted) {
  const Json all = Json::parse(wanted);
  for (const auto& [key, value] : all.items()) EXPECT_EQ(told.at(key), value) << key;
}

TEST(FleetView, of_nobody_says_how_to_begin) {
  const report::View view = fleet_view({}, {});
  EXPECT_EQ(view.text, "no agent was here within a day: halmark agent URL starts one\n");
  expect_told(view.data, R"({"agents": [], "runs": []})");
}

TEST(FleetView, has_a_row_for_each_agent) {
  const Agent agent = idle_agent();
  const report::View view = fleet_view(std::span(&agent, 1), {});
  EXPECT_EQ(view.text,
            "agent  node  state  rows  failed  lost  class               doing\n"
            "    3  n1    idle     12       2     1  cpu-1a + device-2b  a case\n");
  expect_told(view.data["agents"].at(0),
              R"({"id": 3, "pid": 77, "classes": ["cpu-1a", "device-2b"], "plugins": {"cpu": "h1"},
                  "tool": "1", "state": "idle", "measured": 12, "failed": 2, "lost": 1,
                  "since_s": 100, "silent_s": 5})");
}

// Three leases of ten seconds without a word.
TEST(FleetView, says_who_is_silent_and_for_how_long) {
  struct Row {
    const char* said;
    double silent_s;
    const char *state, *text;
  };
  for (const auto& [said, silent_s, state, text] : {Row{"idle", 29, "idle", "  idle  "},
                                                    {"idle", 30, "silent", "silent for 30.0 s"},
                                                    {"left", 99, "left", "  left  "},
                                                    {"refused", 99, "refused", "  refused  "}}) {
    Agent agent = idle_agent();
    agent.state = said;
    agent.silent_s = silent_s;
    const report::View view = fleet_view(std::span(&agent, 1), {});
    EXPECT_EQ(view.data["agents"].at(0)["state"], state);
    EXPECT_THAT(view.text, HasSubstr(text));
  }
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
  expect_told(told, R"({"run": 7, "command": "halmark tune s.toml", "fingerprint": "cpu-1a@fleet",
                        "waiting": 4, "leased": 0, "done": 5, "failed": 6, "per_minute": 8})");
  EXPECT_THAT(told["waits_for"].get<std::string>(), HasSubstr("no agent is there"));
}

TEST(FleetView, gives_no_reason_where_somebody_works_or_nothing_waits) {
  const auto waits_for = [](const UnitCounts& units, std::span<const Agent> agents = {}) {
    RunProgress run = waiting_run();
    run.units = units;
    return fleet_view(agents, std::span(&run, 1)).data["runs"].at(0)["waits_for"];
  };
  EXPECT_EQ(waits_for({.ready = 4, .leased = 1, .done = 5, .failed = 6}), "");
  EXPECT_EQ(waits_for({.ready = 0, .leased = 0, .done = 9}), "");
  const Agent agent = idle_agent();
  EXPECT_EQ(waits_for({.ready = 1, .leased = 0, .done = 9}, std::span(&agent, 1)), "") << "it will";
}

}  // namespace
}  // namespace halmark::fleet
