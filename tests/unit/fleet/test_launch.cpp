#include "fleet/launch/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "core/text/error.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::fleet {
namespace {

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
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=0-3\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --exclusive\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --constraint=h100\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --time=2:00:00\n"));
  EXPECT_THAT(script, Not(HasSubstr("--gres")));
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
    try {
      check_url(url);
      ADD_FAILURE() << url;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), ExitCode::refused);
      EXPECT_THAT(e.line(), Not(HasSubstr("secret")));
      EXPECT_THAT(e.line(), HasSubstr(".pgpass"));
    }
  }
  check_url("postgresql://u@db:5432/x");
}

TEST(Launch, kubernetes_gets_one_pod_per_node) {
  LaunchRequest asked = request();
  asked.image = "registry.example/halmark:1";
  const std::string manifest = kubernetes_manifest(asked);
  EXPECT_THAT(manifest, HasSubstr("completionMode: Indexed"));
  EXPECT_THAT(manifest, HasSubstr("parallelism: 4"));
  EXPECT_THAT(manifest, HasSubstr("kubernetes.io/hostname"));
  EXPECT_THAT(manifest, HasSubstr("secretKeyRef"));
}

TEST(Launch, a_host_that_is_an_option_is_refused) {
  LaunchRequest asked = request();
  asked.hosts = {"-oProxyCommand=x"};
  EXPECT_THROW(start_by_ssh(asked), Error);
}

}  // namespace
}  // namespace halmark::fleet
