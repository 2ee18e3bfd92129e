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

// The options that the examples name are options of the commands.
TEST_F(NightlyExamples, their_commands_are_known) {
  for (const char* name : {"halmark-nightly.service", "crontab", "workflow.yml"}) {
    const std::string text = text_of(name);
    const std::regex command(R"(halmark (tune|history|compare)\b([^\n;|>]*))");
    for (std::sregex_iterator it(text.begin(), text.end(), command), end; it != end; ++it) {
      const std::string help = halmark({"--help"}).out + halmark({(*it)[1], "--help"}).out,
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
