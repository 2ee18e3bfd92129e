// `halmark study` as people and other programs use it: over a pipe, killed, in several processes,
// and hand in hand with Optuna itself.
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string scripts = test::in_source("/tests/integration/study/");

constexpr const char* space = R"(
[facts]
lines = 64
[[parameter]]
name = "tile"
kind = "ordinal"
values = [16, 32, 64]
[[parameter]]
name = "unroll"
kind = "int"
low = 1
high = 4
[[constraint]]
expression = "tile * unroll <= lines"
[[objective]]
name = "time"
)";

class Studies : public HalmarkTest {
 protected:
  // Requests on stdin, one a line.
  Outcome serve(const std::string& requests, const std::string& options) const {
    write("requests", requests);
    Launch out = base_;
    out.arguments = {
        "/bin/sh", "-c",
        "'" + test::in_build("/bin/halmark") + "' study serve " + options + " < requests"};
    return run(out);
  }

  Outcome script(const std::string& python, const std::string& name, Arguments more) const {
    Launch out = base_;
    out.arguments = {python, "-B", scripts + name, test::in_build("/bin/halmark"), base_.folder};
    out.arguments.insert(out.arguments.end(), more.begin(), more.end());
    out.limit_s = 280;
    return run(out);
  }
};

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(Json::parse(line));
  return out;
}

TEST_F(Studies, serve_answers_line_by_line_and_goes_on_after_an_error) {
  write("tiny.toml", space);
  const Outcome done = serve(
      "{\"ask\":2}\n{\"nonsense\":1}\n\n{\"tell\":[{\"trial\":0,\"values\":[3.5]}]}\n{\"ask\":100}",
      "tiny.toml --sampler grid --seed 3");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const std::vector<Json> answers = lines_of(done.out);
  ASSERT_EQ(answers.size(), 4u) << done.out;
  EXPECT_EQ(answers[0].at("trials").size(), 2u);
  EXPECT_TRUE(answers[1].contains("error"));
  EXPECT_EQ(answers[2], Json({{"ok", true}}));
  EXPECT_EQ(answers[3].at("trials").size(), 5u) << "7 of 12 are valid";
  EXPECT_EQ(answers[3].at("exhausted"), true);
  EXPECT_THAT(files(), testing::Not(testing::Contains(HasSubstr(".study"))));
  const Outcome again = serve("{\"ask\":2}\n", "tiny.toml --sampler grid --seed 3");
  EXPECT_EQ(lines_of(again.out)[0], answers[0]);
}

TEST_F(Studies, list_show_export_and_import_on_files_of_both_kinds) {
  write("tiny.toml", space);
  const std::string requests =
      "{\"ask\":3}\n{\"tell\":[{\"trial\":0,\"values\":[5]},{\"trial\":1,\"values\":[4]},"
      "{\"trial\":2,\"failed\":\"no registers\"}]}\n";
  ASSERT_EQ(serve(requests, "tiny.toml --study sqlite:a.study").exit_code, 0);
  const Json list = data_of({"study", "list", "--study", "sqlite:a.study"});
  EXPECT_EQ(list.at("studies")[0].at("name"), "tiny");
  EXPECT_EQ(list.at("studies")[0].at("states").at("COMPLETE"), 2);
  const Json shown = data_of({"study", "show", "--all", "--study", "sqlite:a.study"});
  EXPECT_EQ(shown.at("front").size(), 1u);
  EXPECT_EQ(shown.at("front")[0].at("values"), Json({4.0}));
  data_of({"study", "export", "--study", "sqlite:a.study", "--to", "journal:b.log"});
  data_of({"study", "import", "journal:b.log", "tiny", "--as", "again", "--study", "sqlite:c"});
  const Json copied = data_of({"study", "show", "again", "--all", "--study", "sqlite:c"});
  EXPECT_EQ(copied.at("trials_all"), shown.at("trials_all"));
  EXPECT_EQ(sql(path("c"), "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(sql(path("c"), "SELECT version_num FROM alembic_version"), "v3.2.0.a");
  const Outcome text = halmark({"study", "show", "--study", "journal:b.log"});
  EXPECT_THAT(text.out, HasSubstr("3 trials, 2 complete, 1 on the front"));
}

TEST_F(Studies, a_request_beyond_16_mib_is_an_error_and_the_session_goes_on) {
  write("tiny.toml", space);
  const std::string longer = "{\"ask\":1" + std::string(17u << 20, ' ') + "}\n";
  const Outcome done = serve(longer + "{\"ask\":1}\n", "tiny.toml --seed 3");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const std::vector<Json> answers = lines_of(done.out);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0], Json({{"error", "a request is longer than 16 MiB"}}));
  EXPECT_EQ(answers[1].at("trials").size(), 1u);
}

TEST_F(Studies, what_is_forbidden_or_enqueued_again_is_an_error_and_the_session_goes_on) {
  write("tiny.toml", space);
  const Outcome done = serve(
      "{\"enqueue\":[{\"tile\":64,\"unroll\":4}]}\n{\"enqueue\":[{\"tile\":16,\"unroll\":4}]}\n"
      "{\"enqueue\":[{\"tile\":16,\"unroll\":4}]}\n{\"ask\":1}\n",
      "tiny.toml --seed 3");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const std::vector<Json> answers = lines_of(done.out);
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_THAT(answers[0].value("error", ""), HasSubstr("breaks the constraint"));
  EXPECT_EQ(answers[1].at("trials"), Json({0}));
  EXPECT_THAT(answers[2].value("error", ""), HasSubstr("trial 0 already"));
  EXPECT_EQ(answers[3].at("trials")[0].at("params"), Json({{"tile", 16}, {"unroll", 4}}));
}

TEST_F(Studies, an_empty_space_is_exhausted_with_its_reason) {
  write("none.toml", std::string(space) + "[[constraint]]\nexpression = \"tile > 64\"\n");
  for (const char* sampler : {"auto", "gp", "random"}) {
    const Outcome done = serve("{\"ask\":3}\n", "none.toml --sampler " + std::string(sampler));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(lines_of(done.out).at(0),
              Json({{"trials", Json::array()},
                    {"exhausted", true},
                    {"reason", "the constraints leave no valid configuration"}}));
  }
}

TEST_F(Studies, a_space_without_objectives_is_refused_in_one_line) {
  const std::string text(space);
  write("bare.toml", text.substr(0, text.find("[[objective]]")));
  const Outcome done = halmark({"study", "serve", "bare.toml"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("no [[objective]]"));
}

struct Refusal {
  Arguments arguments;
  const char* expected;
};

TEST_F(Studies, what_cannot_be_is_refused_in_one_line) {
  write("tiny.toml", space);
  write("picture", "\xff\xd8\xff\xe0");
  write("broken.toml", std::string(space) + "[[parameter]]\nname = \"tile\"\nkind = \"int\"\n");
  const std::vector<Refusal> refusals = {
      {{"study", "list", "--study", "sqlite:absent"}, "there are no studies"},
      {{"study", "list", "--study", "sqlite:picture"}, "a JPEG image, not a database of studies"},
      {{"study", "list", "--study", "journal:picture"}, "a JPEG image, not an Optuna journal"},
      {{"study", "list", "--study", "oracle://x"}, "sqlite:PATH"},
      {{"study", "serve", "absent.toml"}, "cannot be read"},
      {{"study", "serve", "broken.toml"}, "broken.toml:"},
      {{"study", "serve", "tiny.toml", "--sampler", "gird"}, "grid"},
      {{"study", "serve", "tiny.toml", "--json"}, "--json"},
      {{"study"}, "subcommand"}};
  for (const Refusal& refusal : refusals) {
    const Outcome done = halmark(refusal.arguments);
    EXPECT_EQ(done.exit_code, 2) << refusal.expected << done.err;
    EXPECT_THAT(done.err + done.out, HasSubstr(refusal.expected));
    if (refusal.arguments.back() == "--json") continue;  // its error is in the envelope
    EXPECT_TRUE(is_one_line(done.err)) << done.err;
  }
}

class StudyFiles : public Studies, public testing::WithParamInterface<std::string> {};

TEST_P(StudyFiles, kills_lose_nothing_and_workers_never_propose_the_same) {
  const auto python = test::python_with("json");
  if (!python) GTEST_SKIP() << "there is no python3";
  const char* kills = std::getenv("HALMARK_KILLS");
  const Outcome done =
      script(*python, "kills.py", {GetParam(), "20261122", kills != nullptr ? kills : "12"});
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
}

INSTANTIATE_TEST_SUITE_P(BackEnds, StudyFiles, testing::Values("sqlite", "journal"),
                         [](const auto& info) { return info.param; });

class Optuna : public Studies, public testing::WithParamInterface<std::string> {};

TEST_P(Optuna, opens_and_continues_a_study_and_has_its_own_continued) {
  const auto python = test::python_with("optuna");
  if (!python) GTEST_SKIP() << "there is no Python with Optuna (pip install optuna)";
  Arguments more = {GetParam()};
  if (GetParam() == "postgresql") {
    if (!test::python_with("optuna, psycopg2")) GTEST_SKIP() << "psycopg2 is not installed";
    if (!std::filesystem::exists("/usr/lib/postgresql")) {
      GTEST_SKIP() << "there is no PostgreSQL server";
    }
    const Outcome refused = halmark({"study", "list", "--study", "postgresql:///x"});
    if (refused.exit_code == 5) GTEST_SKIP() << refused.err;
  }
  const Outcome done = script(*python, "round_trip.py", more);
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr(GetParam() + " ok"));
}

TEST_F(Studies, optuna_opens_what_tune_found) {
  const auto python = test::python_with("optuna");
  if (!python) GTEST_SKIP() << "there is no Python with Optuna (pip install optuna)";
  tiny_sweep("fake", "shards = [1]");
  tune_tiny("r.db");
  Launch launch;
  launch.arguments = {*python, std::string(scripts) + "deployments.py", path("r.db.study"), "2"};
  const Outcome done = run(launch);
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("deployments ok"));
}

INSTANTIATE_TEST_SUITE_P(BackEnds, Optuna, testing::Values("sqlite", "journal", "postgresql"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace halmark::integration
