// What configs/nightly offers to schedulers is judged by the schedulers' own tools.
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

const std::string examples = test::in_source("/configs/nightly/");

std::string text_of(const std::string& name) {
  std::ifstream file(examples + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

class NightlyExamples : public HalmarkTest {
 protected:
  // Nothing where the program is not there.
  std::optional<Outcome> tool(Arguments arguments) const {
    Launch launch = base_;
    launch.arguments = {"/usr/bin/env"};
    launch.arguments.insert(launch.arguments.end(), arguments.begin(), arguments.end());
    Outcome out = run(launch);
    if (out.exit_code == 127) return std::nullopt;
    return out;
  }
  // Units as an installation elsewhere has them.
  std::string unit(const std::string& name) const {
    return write(name, std::regex_replace(text_of(name), std::regex("/usr/bin/halmark"),
                                          test::in_build("/bin/halmark")));
  }
};

TEST_F(NightlyExamples, systemd_accepts_the_units) {
  const std::string service = unit("halmark-nightly.service"),
                    timer = unit("halmark-nightly.timer");
  const auto verified = tool({"systemd-analyze", "verify", "--man=no", service, timer});
  if (!verified) GTEST_SKIP() << "there is no systemd-analyze";
  EXPECT_EQ(verified->exit_code, 0) << verified->err;
  EXPECT_EQ(verified->err.find("halmark"), std::string::npos) << verified->err;
  const auto calendar = tool({"systemd-analyze", "calendar", "*-*-* 02:30:00"});
  EXPECT_EQ(calendar->exit_code, 0);
}

TEST_F(NightlyExamples, the_crontab_has_five_times_and_a_command_of_the_shell) {
  std::istringstream lines(text_of("crontab"));
  const std::regex entry(R"(((\d+|\*)\s+){5}(.*))"), variable(R"([A-Z]+=.*)");
  int entries = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || std::regex_match(line, variable)) continue;
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(line, parts, entry)) << line;
    const std::string command = parts[3];
    EXPECT_EQ(command.find('%'), std::string::npos) << "cron ends a command at %";
    EXPECT_EQ(tool({"sh", "-n", "-c", command})->exit_code, 0) << command;
    ++entries;
  }
  EXPECT_EQ(entries, 1);
}

TEST_F(NightlyExamples, the_workflow_follows_its_schema) {
  const auto checked =
      tool({test::in_source("/build/venv/bin/check-jsonschema"), "--builtin-schema",
            "vendor.github-workflows", examples + "workflow.yml"});
  if (!checked) GTEST_SKIP() << "there is no check-jsonschema (scripts/test --optuna installs it)";
  EXPECT_EQ(checked->exit_code, 0) << checked->out << checked->err;
}

// What is printed is a workflow: the file that ships, and comments.
TEST_F(NightlyExamples, explain_prints_the_workflow_that_ships) {
  const Outcome o = halmark({"explain", "nightly"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const std::string workflow = text_of("workflow.yml");
  ASSERT_TRUE(o.out.starts_with(workflow)) << o.out;
  std::istringstream rest(o.out.substr(workflow.size()));
  for (std::string line; std::getline(rest, line);) {
    EXPECT_TRUE(line.empty() || line.starts_with("# ")) << line;
  }
  EXPECT_THAT(o.out, testing::HasSubstr("\n# nightly: A sweep that is run every night"));
  EXPECT_EQ(data_of({"explain", "nightly"})["workflow"], workflow);
}

// The commands of the steps of a workflow, in their order: `run: COMMAND`, or a block below it.
std::vector<std::string> steps_of(const std::string& workflow) {
  std::istringstream lines(workflow);
  const std::regex run(R"(( *)(- )?run: (.*))");
  std::vector<std::string> out;
  std::string line;
  bool has_line = static_cast<bool>(std::getline(lines, line));
  while (has_line) {
    std::smatch parts;
    const bool is_step = std::regex_match(line, parts, run);
    const std::string command = parts[3];
    const auto indent = static_cast<std::size_t>(parts.length(1));
    has_line = static_cast<bool>(std::getline(lines, line));
    if (!is_step) continue;
    const bool is_folded = command.starts_with(">");
    const bool is_block = is_folded || command.starts_with("|");
    out.push_back(is_block ? "" : command);
    while (is_block && has_line && line.find_first_not_of(' ') > indent + 1) {
      out.back() += line.substr(line.find_first_not_of(' ')) + (is_folded ? ' ' : '\n');
      has_line = static_cast<bool>(std::getline(lines, line));
    }
  }
  return out;
}

// Runs the steps as a runner does, which stops at the first that fails, with programs that end as
// halmark may: tune with `tune`, compare and history with 4 (undecided) where they are no gate.
class WorkflowSteps : public NightlyExamples {
 protected:
  WorkflowSteps() {
    write("git", "#!/bin/sh\n");
    write("cmake", "#!/bin/sh\n");
    write("halmark",
          "#!/bin/sh\necho \"$1\" >> ran\n"
          "case \"$*\" in tune*) exit $OF_TUNE;; *--gate*) exit $OF_GATE;; esac\nexit 4\n");
    for (const char* name : {"git", "cmake", "halmark"}) {
      std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
    }
    write("history.md", "");
  }
  // Exit code of the job; the steps that ran are in `ran`.
  int job(int of_tune, int of_gate) {
    write("ran", "");
    for (const std::string& step : steps_of(text_of("workflow.yml"))) {
      const Outcome o =
          *tool({"env", "PATH=" + path(".") + ":/usr/bin:/bin",
                 "OF_TUNE=" + std::to_string(of_tune), "OF_GATE=" + std::to_string(of_gate),
                 "GITHUB_BASE_REF=main", "GITHUB_STEP_SUMMARY=summary", "HOME=" + path("."), "bash",
                 "--noprofile", "--norc", "-eo", "pipefail", "-c", step});
      if (o.exit_code != 0) return o.exit_code;
    }
    return 0;
  }
};

TEST_F(WorkflowSteps, are_green_on_an_unchanged_tree_and_red_where_something_is_slower) {
  ASSERT_EQ(steps_of(text_of("workflow.yml")).size(), 5u);
  for (const int of_tune : {0, 4}) {
    EXPECT_EQ(job(of_tune, 0), 0) << of_tune;
    EXPECT_EQ(read("ran"), "tune\nhistory\ncompare\n") << "no step is skipped";
    EXPECT_EQ(job(of_tune, 3), 3) << of_tune;
    EXPECT_EQ(read("ran"), "tune\nhistory\n");
  }
  for (const int of_tune : {1, 2, 5, 130}) {
    EXPECT_NE(job(of_tune, 0), 0) << of_tune;
    EXPECT_EQ(read("ran"), "tune\n");
  }
}

// The same of a unit and a crontab: every history that decides something is a gate.
TEST_F(WorkflowSteps, and_every_other_example_ask_for_the_gate) {
  for (const char* name : {"halmark-nightly.service", "crontab", "workflow.yml"}) {
    const std::string text = text_of(name);
    const std::regex command(R"(halmark (history|compare) ([^\n|>]*))");
    int gates = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), command), end; it != end; ++it) {
      EXPECT_THAT((*it)[2].str(), HasSubstr("--gate")) << name;
      ++gates;
    }
    EXPECT_GT(gates, 0) << name;
  }
}

// The options that the examples name are options of the commands.
TEST_F(NightlyExamples, their_commands_are_known) {
  for (const char* name : {"halmark-nightly.service", "crontab", "workflow.yml"}) {
    const std::string text = text_of(name);
    const std::regex command(R"(halmark (tune|history|compare)\b([^\n;|>]*))");
    for (std::sregex_iterator it(text.begin(), text.end(), command), end; it != end; ++it) {
      const std::string help = halmark({"help", "--all"}).out + halmark({(*it)[1], "--help"}).out,
                        arguments = (*it)[2];
      const std::regex option("--[a-z]+");
      for (std::sregex_iterator o(arguments.begin(), arguments.end(), option); o != end; ++o) {
        EXPECT_THAT(help, HasSubstr(o->str())) << name << ": halmark " << (*it)[1];
      }
    }
  }
}

}  // namespace
}  // namespace halmark::integration
