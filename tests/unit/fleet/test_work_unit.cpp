// Units carry everything that an agent needs, and say which cases are measured together.
// What people read of a fleet.
#include <gmock/gmock.h>

#include "../error_of.hpp"
#include "fleet/fleet.hpp"
#include "fleet/fleet_measurer.hpp"
#include "fleet/fleet_view.hpp"
#include "fleet/work_unit.hpp"

namespace halmark::fleet {
namespace {

using testing::HasSubstr;

KernelCase case_of(int m, CacheMode mode = CacheMode::rotate_const) {
  KernelCase out{.problem = {.op = "gemm"}, .backend = "fake"};
  out.problem.params.set("m", m);
  out.mode = mode;
  if (mode == CacheMode::in_stack) out.neighbours = "9f3a2b1c00d4";
  return out;
}

Stack stack_of(std::vector<KernelCase> kernels) {
  Stack out{.kernels = std::move(kernels), .instances = {3, 2}, .steps = {}};
  out.steps = {{.kernel = 0, .instance = 0, .operator_name = "q_proj", .layer_type = "decoder"},
               {.kernel = 1, .instance = 1, .operator_name = "head", .layer_type = "head"}};
  out.members[1] = {0, 2};
  out.place = ShardPlace{.backend = "cpu", .device = "0", .parts = 2, .part = 1};
  return out;
}

TEST(WorkUnit, each_case_and_round_is_one_and_what_is_stored_is_none) {
  const std::vector<KernelCase> cases = {case_of(1), case_of(2), case_of(3)};
  CampaignOptions options{.rounds = 2, .first_round = 1};
  options.lookup = [&](const KernelCase& k, int round) {
    return k == cases[1] && round == 2 ? std::optional(Measurement{}) : std::nullopt;
  };
  const auto units = units_of(7, cases, options);
  ASSERT_EQ(units.size(), 5u);
  for (const WorkUnit& unit : units) {
    EXPECT_EQ(unit.run, 7);
    ASSERT_EQ(unit.cases.size(), 1u);
    EXPECT_EQ(unit.name, unit.cases[0].key());
    EXPECT_FALSE(unit.round == 2 && unit.cases[0] == cases[1]);
  }
}

TEST(WorkUnit, cases_of_the_same_stacks_are_one_unit) {
  const std::vector<KernelCase> cases = {case_of(1, CacheMode::in_stack), case_of(9),
                                         case_of(2, CacheMode::in_stack)};
  const std::vector<Stack> stacks = {stack_of({cases[0], cases[2]})};
  CampaignOptions options{.rounds = 1};
  options.stacks_of = [&](const KernelCase&) { return std::span(stacks); };
  const auto units = units_of(7, cases, options);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[1].cases, (std::vector<KernelCase>{cases[0], cases[2]}));
  EXPECT_EQ(units[1].stacks.size(), 1u);
  EXPECT_THAT(units[1].name, testing::MatchesRegex("stacks [0-9a-f]{16}"));
  EXPECT_EQ(units[1].batch, units[1].name);
  EXPECT_EQ(units[1].run, 7);
  EXPECT_EQ(units[0].batch, "fake:0/1x1");
}

TEST(WorkUnit, shards_that_run_at_once_share_no_batch_with_others) {
  std::vector<KernelCase> cases = {case_of(1), case_of(2), case_of(1)};
  cases[2].parts = cases[2].shards_at_once = 2;
  const auto units = units_of(7, cases, {.rounds = 1});
  ASSERT_EQ(units.size(), 3u);
  EXPECT_EQ(units[0].batch, units[1].batch);
  EXPECT_NE(units[1].batch, units[2].batch);
  EXPECT_EQ(units[2].batch, "fake:0/2x2");
}

TEST(WorkUnit, what_travels_is_what_arrives) {
  WorkUnit sent{.id = 4, .cases = {case_of(1, CacheMode::in_stack)}};
  sent.stacks = {stack_of({case_of(1, CacheMode::in_stack), case_of(5)})};
  UnitSettings settings{.seed = 0xfedcba9876543210u};
  settings.measure.samples_min = 17;
  settings.measure.sample_budget_s = 0.125;
  settings.measure.wall_cap_s = 3.5;
  settings.measure.warmup_cap_s = 0.75;
  settings.measure.limits.disturbed_share = 0.25;
  WorkUnit got{.id = 4};
  const UnitSettings read = read_payload(payload_of(sent, settings), got);
  EXPECT_EQ(got.cases, sent.cases);
  ASSERT_EQ(got.stacks.size(), 1u);
  EXPECT_EQ(got.stacks[0].kernels, sent.stacks[0].kernels);
  EXPECT_EQ(got.stacks[0].instances, sent.stacks[0].instances);
  EXPECT_EQ(got.stacks[0].members, sent.stacks[0].members);
  EXPECT_EQ(got.stacks[0].place, sent.stacks[0].place);
  ASSERT_EQ(got.stacks[0].steps.size(), 2u);
  EXPECT_EQ(got.stacks[0].steps[1].operator_name, "head");
  EXPECT_EQ(got.stacks[0].steps[1].instance, 1);
  EXPECT_EQ(read.seed, settings.seed);
  const MeasureSettings& m = read.measure;
  EXPECT_EQ(m.samples_min, 17);
  EXPECT_EQ((std::vector{m.sample_budget_s, m.wall_cap_s, m.warmup_cap_s}),
            (std::vector{0.125, 3.5, 0.75}));
  EXPECT_EQ(read.measure.limits, settings.measure.limits);
}

TEST(WorkUnit, a_text_that_is_none_is_refused_with_the_unit) {
  for (const char* text : {"", "{}", "[1]", R"({"cases": [], "stacks": []})", "{\"cases\": 1}"}) {
    WorkUnit unit{.id = 12};
    const Error error = test::error_of([&] { read_payload(text, unit); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), testing::HasSubstr("unit 12")) << text;
  }
}

TEST(Fleet, classes_are_fingerprints_without_hosts) {
  EXPECT_EQ(classes_of("cpu-1a@11223344"), std::vector<std::string>{"cpu-1a"});
  EXPECT_EQ(classes_of("cpu-1a@1+device-2b@1+cpu-1a@1"),
            (std::vector<std::string>{"cpu-1a", "device-2b"}));
}

TEST(Fleet, says_why_nobody_takes_what_waits) {
  const Fitness need{.classes = {"cpu-1a"}, .plugins = {{"cpu", "h1"}}, .tool = "1"};
  const char* nobody = "no agent is there";
  EXPECT_THAT(pending_reason(need, {}), testing::HasSubstr(nobody));
  struct Row {
    Fitness offer;
    const char* why;
    double silent_s = 0;
    const char* state = "idle";
  };
  const Row rows[] = {{{{"cpu-2b"}, need.plugins, "1"}, "cpu-2b"},
                      {{{"cpu-1a"}, {{"cpu", "h2"}}, "1"}, "another build"},
                      {{{"cpu-1a"}, {}, "1"}, "no plugin"},
                      {{{"cpu-1a"}, need.plugins, "2"}, "runs halmark 2"},
                      {{{"cpu-1a", "device-3c"}, {{"cpu", "h1"}, {"cuda", "h3"}}, "1"}, ""},
                      {need, "", 29},
                      {need, nobody, 31},
                      {need, nobody, 0, "left"}};
  for (const Row& row : rows) {
    Agent agent{.node = "n1", .offer = row.offer, .state = row.state};
    agent.lease_s = 10;
    agent.silent_s = row.silent_s;
    const std::string why = pending_reason(need, std::span(&agent, 1));
    EXPECT_THAT(why, testing::HasSubstr(row.why));
    EXPECT_EQ(why.empty(), row.why == std::string()) << why;
  }
}

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
