#include "fleet/launch/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::fleet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

LaunchRequest request() {
  LaunchRequest out;
  out.url = "postgresql://halmark@db/it's here";
  out.program = "/opt/halmark/bin/halmark";
  out.nodes = 4;
  return out;
}

bool is_shell(const std::string& text) {
  const test::ScratchFolder folder;
  const std::string path = folder / "launch.sh";
  std::ofstream(path) << text;
  return std::system(("sh -n '" + path + "'").c_str()) == 0;
}

// What a shell makes of the words behind `command`.
std::string words_of(const std::string& command) {
  const test::ScratchFolder folder;
  const std::string path = folder / "launch-words.sh";
  std::ofstream(path) << "set -- " << command << "\nprintf '%s|' \"$@\"\n";
  std::string out;
  FILE* pipe = ::popen(("sh '" + path + "'").c_str(), "r");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  ::pclose(pipe);
  return out;
}

TEST(Launch, slurm_gets_an_array_of_exclusive_nodes) {
  LaunchRequest asked = request();
  asked.constraint = "h100";
  asked.time_limit = "2:00:00";
  const std::string script = slurm_script(asked);
  EXPECT_TRUE(is_shell(script));
  EXPECT_THAT(script, AllOf(HasSubstr("#SBATCH --array=0-3\n"), HasSubstr("#SBATCH --exclusive\n"),
                            HasSubstr("#SBATCH --constraint=h100\n"),
                            HasSubstr("#SBATCH --time=2:00:00\n"), Not(HasSubstr("--gres"))));
}

TEST(Launch, words_are_quoted_for_the_shell_of_the_node) {
  const std::string script = slurm_script(request());
  const std::string command = script.substr(script.find("exec ") + 5);
  EXPECT_EQ(words_of(command),
            "/opt/halmark/bin/halmark|agent|postgresql://halmark@db/it's "
            "here|--idle|600|--lease|60|");
}

TEST(Launch, ssh_leaves_the_agent_behind) {
  const std::string line = ssh_line(request());
  EXPECT_TRUE(is_shell(line));
  EXPECT_THAT(line, testing::StartsWith("nohup /opt/halmark/bin/halmark agent "));
  EXPECT_THAT(line, HasSubstr("</dev/null & echo $!"));
}

TEST(Launch, a_password_is_refused_where_everybody_would_read_it) {
  for (const char* url : {"postgresql://u:secret@db/x", "postgresql://db/x?password=secret"}) {
    const Error error = test::error_of([&] { check_url(url); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), AllOf(Not(HasSubstr("secret")), HasSubstr(".pgpass")));
  }
  check_url("postgresql://u@db:5432/x");
}

TEST(Launch, kubernetes_gets_one_pod_per_node) {
  LaunchRequest asked = request();
  asked.image = "registry.example/halmark:1";
  for (const char* line :
       {"completionMode: Indexed", "parallelism: 4", "kubernetes.io/hostname", "secretKeyRef"}) {
    EXPECT_THAT(kubernetes_manifest(asked), HasSubstr(line));
  }
}

TEST(Launch, a_host_that_is_an_option_is_refused) {
  LaunchRequest asked = request();
  asked.hosts = {"-oProxyCommand=x"};
  EXPECT_THROW(start_by_ssh(asked), Error);
}

}  // namespace
}  // namespace halmark::fleet
