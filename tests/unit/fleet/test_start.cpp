// Agents started by programs that are scripts: what these get, and what is made of their answers.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "fleet/fleet.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark::fleet {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

class Start : public testing::Test {
 protected:
  Start() {
    order_.url = "postgresql://u@db/x";
    order_.program = "/bin/halmark";
  }
  void program_does(const std::string& name, const std::string& script) const {
    test::write_file(folder_ / name,
                     "#!/bin/sh\necho \"$@\" >> " + (folder_ / "given") + '\n' + script + '\n');
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  std::string given() const { return test::file_bytes(folder_ / "given"); }

  const test::ScratchFolder folder_;
  const test::ScopedVariable path_{"PATH", folder_.path().string() + ":" + std::getenv("PATH")};
  LaunchOrder order_;
};

TEST_F(Start, slurm_gets_the_script_and_gives_a_job) {
  program_does("sbatch", "cat > " + (folder_ / "script") + "; echo 17; echo; echo");
  order_.slurm = 3;
  const Launched out = launch(order_, "/here/halmark");
  EXPECT_TRUE(out.are_all_started);
  EXPECT_EQ(out.view.text, "job 17: queued\n");
  EXPECT_EQ(out.view.data["started"].at(0)["place"], "job 17");
  EXPECT_EQ(out.view.data["started"].at(0)["detail"], "queued");
  EXPECT_EQ(out.view.data["started"].at(0)["ok"], true);
  EXPECT_EQ(given(), "--parsable\n");
  LaunchRequest same = order_;
  same.nodes = 3;
  EXPECT_EQ(test::file_bytes(folder_ / "script"), slurm_script(same));
}

TEST_F(Start, what_slurm_refuses_is_said_in_its_words) {
  program_does("sbatch", "echo no partition >&2; exit 1");
  order_.program = std::string(1 << 20, 'x');  // never read, and more than a pipe holds
  order_.slurm = 1;
  const Launched out = launch(order_, "");
  EXPECT_FALSE(out.are_all_started);
  EXPECT_EQ(out.view.text, "slurm: failed: no partition\n");
  EXPECT_EQ(out.view.data["started"].at(0)["ok"], false);
}

// What was started goes on until the file is gone, which nobody removes before the launch is over.
TEST_F(Start, waits_for_the_program_and_not_for_what_that_left_behind) {
  test::write_file(folder_ / "busy", "");
  program_does("sbatch",
               "while [ -e '" + (folder_ / "busy") + "' ]; do sleep 0.01; done & echo 17");
  order_.slurm = 1;
  EXPECT_EQ(launch(order_, "").view.text, "job 17: queued\n");
  fs::remove(folder_ / "busy");
}

TEST_F(Start, ssh_starts_one_on_each_host_without_asking_for_a_password) {
  program_does("ssh", "case $3 in bad) echo refused; exit 255;; esac; echo 4711");
  order_.hosts = {"a", "bad", "b"};
  const Launched out = launch(order_, "");
  EXPECT_FALSE(out.are_all_started);
  EXPECT_EQ(out.view.text, "a: pid 4711\nbad: failed: refused\nb: pid 4711\n");
  EXPECT_THAT(given(), StartsWith("-o BatchMode=yes a nohup /bin/halmark agent "));
  order_.hosts = {"a"};
  EXPECT_TRUE(launch(order_, "").are_all_started);
}

TEST_F(Start, a_program_that_dies_has_not_started_anybody) {
  program_does("ssh", "kill -KILL $$");
  order_.hosts = {"a"};
  const Launched out = launch(order_, "");
  EXPECT_FALSE(out.are_all_started);
}

TEST_F(Start, without_the_program_says_what_to_install) {
  const test::ScopedVariable alone("PATH", folder_.path().string());
  order_.slurm = 1;
  const Error error = test::error_of([&] { (void)launch(order_, ""); });
  EXPECT_EQ(error.exit_code(), ExitCode::unfit);
  EXPECT_THAT(error.line(), HasSubstr("'sbatch' cannot be started"));
}

TEST_F(Start, is_by_one_launcher) {
  EXPECT_EQ(test::error_of([&] { (void)launch(order_, ""); }).exit_code(), ExitCode::refused);
  order_.slurm = 1;
  order_.hosts = {"a"};
  EXPECT_EQ(test::error_of([&] { (void)launch(order_, ""); }).exit_code(), ExitCode::refused);
  order_.hosts.clear();
  order_.kubernetes = 1;
  EXPECT_THAT(test::error_of([&] { (void)launch(order_, ""); }).line(),
              HasSubstr("one of --slurm, --ssh and --kubernetes"));
  order_.url = "postgresql://u:secret@db/x";
  order_.kubernetes = 0;
  EXPECT_THAT(test::error_of([&] { (void)launch(order_, ""); }).line(), HasSubstr("password"));
}

TEST_F(Start, can_be_shown_in_the_place_of_being_done) {
  order_.prints = true;
  order_.slurm = 2;
  order_.program.clear();
  const Launched script = launch(order_, "/here/halmark");
  EXPECT_THAT(script.view.text, HasSubstr("#SBATCH --array=0-1\n"));
  EXPECT_THAT(script.view.text, HasSubstr("exec /here/halmark agent "));
  EXPECT_EQ(script.view.data["text"], script.view.text);
  order_.slurm = 0;
  order_.hosts = {"a"};
  const std::string line = launch(order_, "/here/halmark").view.text;
  EXPECT_THAT(line, StartsWith("nohup /here/halmark agent "));
  EXPECT_THAT(line, testing::EndsWith("& echo $!\n"));
  order_.hosts.clear();
  order_.kubernetes = 5;
  order_.image = "i:1";
  EXPECT_THAT(launch(order_, "/here/halmark").view.text, HasSubstr("parallelism: 5"));
  order_.image.clear();
  EXPECT_THAT(test::error_of([&] { (void)launch(order_, ""); }).line(), HasSubstr("need an image"));
}

TEST_F(Start, a_script_has_the_options_of_slurm_that_are_given) {
  LaunchRequest asked = order_;
  asked.nodes = 1;
  asked.partition = "p1";
  asked.gres = "gpu:1";
  asked.more = {"--plugin", "/a b"};
  asked.idle_s = 5;
  asked.lease_s = 7.5;
  EXPECT_EQ(slurm_script(asked),
            "#!/bin/sh\n"
            "# One agent per node: units of work are in the database, none of them in Slurm.\n"
            "#SBATCH --job-name=halmark-agent\n"
            "#SBATCH --array=0-0\n"
            "#SBATCH --nodes=1\n"
            "#SBATCH --exclusive\n"
            "#SBATCH --signal=B:TERM@60\n"
            "#SBATCH --output=halmark-agent-%A_%a.log\n"
            "#SBATCH --partition=p1\n"
            "#SBATCH --gres=gpu:1\n"
            "exec /bin/halmark agent postgresql://u@db/x --idle 5 --lease 7.5 --plugin '/a b'\n");
}

TEST(NodeName, is_as_it_is_named_by_the_variable_or_the_host_s) {
  EXPECT_EQ(node_name("mine"), "mine");
  const test::ScopedVariable told("HALMARK_NODE", "told");
  EXPECT_EQ(node_name(""), "told");
  EXPECT_EQ(node_name("mine"), "mine");
  const test::ScopedVariable empty("HALMARK_NODE", "");
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(node_name(""), name);
  const test::ScopedVariable absent("HALMARK_NODE");
  EXPECT_EQ(node_name(""), name);
}

TEST(SharedDatabase, is_named_by_a_url_and_nothing_else) {
  require_shared("postgresql://u@db/x");
  const Error error = test::error_of([] { require_shared("results.db"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), "results.db");
  EXPECT_THAT(test::error_of([] { require_shared("mysql://u:secret@h/d"); }).line(),
              testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace halmark::fleet
