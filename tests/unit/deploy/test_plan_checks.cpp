#include <gmock/gmock.h>

#include "deploy/deploy_check.hpp"
#include "deploy/engine_store.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/export/small_deployment.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::deploy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Deployment step(Phase phase, std::int64_t batch, const Parallel& parallel = {}) {
  Deployment out = test::small_deployment(parallel);
  Configuration& c = out.point.configuration;
  c.served.reset();
  c.workload = {.phase = phase, .batch = batch, .new_tokens = 1, .context = 512};
  if (phase == Phase::prefill) c.workload.new_tokens = 512;
  out.point.estimate = Estimate{.step_ns = 2e7};
  out.point.served.reset();
  out.device.clear();
  return out;
}

std::vector<PlannedCheck> planned(const std::vector<Deployment>& deployments,
                                  std::optional<std::int64_t> point = {}) {
  SearchedFront front{.origin = "run 1", .title = "t", .model = "small"};
  for (const Deployment& d : deployments) front.points.push_back(d.point);
  return plan_checks(front, point,
                     exports::read_engine_table("llamacpp", "b11434", test::engine_folders()),
                     [&](std::size_t i) { return deployments[i]; });
}

TEST(PlanChecks, takes_the_first_of_each_kind_of_step_that_one_server_can_run) {
  const auto out =
      planned({step(Phase::decode, 4, {.tp = 2}), step(Phase::decode, 4, {.dp = 2}),
               step(Phase::decode, 2), step(Phase::decode, 1), step(Phase::prefill, 1)});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].deployment.configuration().workload.batch, 2);
  EXPECT_EQ(out[1].deployment.configuration().workload.phase, Phase::prefill);
  EXPECT_EQ(test::value_of(out[1].launch, "--ctx-size"), "513");
  EXPECT_EQ(test::value_of(out[0].launch, "--ctx-size"), "1024");
  EXPECT_EQ(test::value_of(planned({step(Phase::decode, 1)})[0].launch, "--batch-size"), "2");
}

TEST(PlanChecks, a_point_that_was_named_is_taken_or_refused) {
  const std::vector<Deployment> all = {step(Phase::decode, 2), step(Phase::decode, 1),
                                       step(Phase::decode, 1, {.tp = 2})};
  ASSERT_EQ(planned(all, 2).size(), 1u);
  EXPECT_EQ(planned(all, 2)[0].deployment.configuration().workload.batch, 1);
  EXPECT_THAT(test::error_of([&] { planned(all, 3); }).line(), HasSubstr("tp2: its threads share"));
  EXPECT_THAT(test::error_of([&] { planned(all, 7); }).line(), HasSubstr("it has no such point"));
}

TEST(PlanChecks, what_this_machine_cannot_be_asked_is_refused_with_its_reason) {
  Deployment other = step(Phase::decode, 1);
  other.device = "h200";
  EXPECT_THAT(test::error_of([&] { planned({other}); }).line(), HasSubstr("device h200"));
  Deployment cached = step(Phase::prefill, 1);
  cached.point.configuration.workload.context = 1024;
  EXPECT_THAT(test::error_of([&] { planned({cached}); }).line(), HasSubstr("cached"));
  Deployment tiny = step(Phase::decode, 1);
  tiny.point.configuration.workload.context = 4;
  EXPECT_THAT(test::error_of([&] { planned({tiny}); }).line(), HasSubstr("too short to be timed"));
  EXPECT_THAT(test::error_of([&] { planned({test::small_deployment({})}); }).line(),
              HasSubstr("no point can be run with llamacpp b11434 here"));
}

TEST(ServerProgram, that_is_absent_says_how_to_get_it) {
  const test::ScratchFolder folder;
  for (const std::string& named : {std::string(), folder.path().string()}) {
    const Error e = test::error_of([&] { server_program(named); });
    EXPECT_EQ(e.exit_code(), ExitCode::unfit);
    EXPECT_THAT(e.line(), HasSubstr("cmake --build B --target llama-server"));
  }
  test::write_file(folder / "llama-server", "not executable");
  EXPECT_THAT(test::error_of([&] { server_program(folder.path().string()); }).line(),
              HasSubstr("there is no program llama-server"));
}

CheckedPoint checked_point() {
  CheckedPoint out{.planned = planned({step(Phase::decode, 1)}).at(0),
                   .added = {},
                   .predicted_ns = 1e6,
                   .low_ns = 1e6,
                   .high_ns = 2e6,
                   .measured = {}};
  out.measured.phase = "decode";
  out.measured.step_ns = 2e6;
  out.measured.samples = 7;
  return out;
}

TEST(CheckView, has_its_figures_on_the_right) {
  const std::string text = check_view({checked_point()}).text;
  const std::string head = text.substr(0, text.find('\n')),
                    row = text.substr(head.size() + 1, text.find('\n', head.size() + 1));
  for (const auto& [title, cell] : {std::pair<std::string, std::string>{"predicted", " 1.00 ms"},
                                    {"engine measured", " 2.00 ms"},
                                    {"deviation", " 0 ns"},
                                    {"of", " 7"},
                                    {"engine / predicted", " 2.00"}}) {
    const std::size_t end = head.find("  " + title) + 2 + title.size();
    EXPECT_EQ(row.substr(end - cell.size(), cell.size()), cell) << title << '\n' << text;
  }
  EXPECT_THAT(head, testing::StartsWith("step    configuration  "));
}

// A step of eight tokens of context is the least that can be timed.
TEST(PlanChecks, eight_tokens_of_context_are_enough) {
  Deployment short_one = step(Phase::decode, 1), shorter = short_one;
  short_one.point.configuration.workload.context = 8;
  shorter.point.configuration.workload.context = 7;
  EXPECT_EQ(planned({short_one}).size(), 1u);
  EXPECT_THAT(test::error_of([&] { planned({shorter}); }).line(),
              HasSubstr("a context of 7 tokens is too short to be timed"));
  EXPECT_THAT(test::error_of([&] { planned({}); }).line(), HasSubstr("it has no point"));
  Deployment no_time = step(Phase::decode, 1);
  no_time.point.estimate.reset();
  EXPECT_THAT(test::error_of([&] { planned({no_time}); }).line(),
              HasSubstr("it is no step with a time"));
  EXPECT_THAT(test::error_of([&] { planned({step(Phase::decode, 4, {.dp = 2})}); }).line(),
              HasSubstr("2 servers would share this machine"));
}

EngineImport imported(const std::string& file, double step_ns, const std::string& utc) {
  return {.tool = "llama-bench",
          .file = file,
          .file_sha256 = std::string(64, 'a'),
          .imported_utc = utc,
          .steps = {{.engine = "llamacpp",
                     .engine_version = "b1",
                     .model = "m.gguf",
                     .model_id = "m",
                     .phase = "decode",
                     .batch = 1,
                     .output_tokens = 128,
                     .step_ns = step_ns,
                     .deviation_ns = 0.1,
                     .samples = 5,
                     .how = "mean"}}};
}

TEST(EngineStore, gives_back_what_was_kept_oldest_first) {
  const test::ScratchFolder folder;
  const std::string database = folder / "x.db";
  EXPECT_TRUE(stored_imports(database).empty());
  const EngineImport late = imported("late.json", 1.0 / 3, "2026-02-01T00:00:00Z");
  const EngineImport early = imported("early.json", 2, "2026-01-01T00:00:00Z");
  keep_import(database, late);
  keep_import(database, early);
  EXPECT_THAT(stored_imports(database), ElementsAre(early, late));
}

TEST(EngineStore, keeps_the_same_file_once) {
  const test::ScratchFolder folder;
  const std::string database = folder / "x.db";
  const std::string first = keep_import(database, imported("a", 1, "2026-01-01T00:00:00Z"));
  EXPECT_EQ(keep_import(database, imported("a", 1, "2026-01-02T00:00:00Z")), first);
  EXPECT_EQ(stored_imports(database).front().imported_utc, "2026-01-01T00:00:00Z");
  EXPECT_NE(keep_import(database, imported("a", 2, "2026-01-02T00:00:00Z")), first);
}

TEST(EngineStore, writes_files_that_people_can_read) {
  const test::ScratchFolder folder;
  const std::string path = keep_import(folder / "x.db", imported("a", 1, "2026-01-01T00:00:00Z"));
  EXPECT_THAT(path, testing::ContainsRegex("/x.db.engines/llama-bench-[0-9a-f]{12}.json$"));
  EXPECT_THAT(test::file_bytes(path), HasSubstr("\n \"import\": {\n  "));
}

TEST(EngineStore, a_figure_that_was_changed_by_hand_is_refused) {
  const test::ScratchFolder folder;
  const std::string database = folder / "x.db";
  const std::string path = keep_import(database, imported("a", 12345, "2026-01-01T00:00:00Z"));
  std::string text = test::file_bytes(path);
  text.replace(text.find("12345"), 5, "12344");
  test::write_file(path, text);
  EXPECT_THAT(test::error_of([&] { stored_imports(database); }).line(),
              HasSubstr("its steps are not those that were stored"));
  test::write_file(path, "{\"schema\": \"halmark.engine_steps\", \"version\": 1}");
  EXPECT_THAT(test::error_of([&] { stored_imports(database); }).line(),
              HasSubstr("cannot be read"));
  test::write_file(path, "{\"schema\": \"other\", \"version\": 1}");
  EXPECT_THAT(test::error_of([&] { stored_imports(database); }).line(),
              HasSubstr("move it out of the folder"));
}

}  // namespace
}  // namespace halmark::deploy
