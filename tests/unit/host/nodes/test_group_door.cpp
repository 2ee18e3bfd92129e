// Who is taken for a rank of a group, by a launcher that starts nobody: the test calls itself. And
// what nodes say of themselves to a launcher that only prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "host/group.hpp"
#include "host/machine.hpp"
#include "host/nodes/node_report.hpp"
#include "tests/scoped_environment.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using namespace protocol;

namespace fs = std::filesystem;
using testing::HasSubstr;

class Launcher : public testing::Test {
 protected:
  void launcher_does(const std::string& script) const {
    test::write_file(folder_ / "mpirun", "#!/bin/sh\n" + script + '\n');
    fs::permissions(folder_ / "mpirun", fs::perms::owner_all);
  }

  const test::ScratchFolder folder_;
  const test::ScopedVariable path_{"PATH", folder_.path().string() + ":" + std::getenv("PATH")};
};

// A caller at the listener, with the words of a rank or with others.
Channel caller(const std::string& path) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return Channel(std::move(socket));
}

bool is_closed(Channel& channel) {
  return channel.receive(deadline_after(20)).status == ReceiveStatus::closed;
}

TEST_F(Launcher, each_rank_comes_once_with_the_token_and_a_number_that_there_is) {
  launcher_does("echo \"$@\" > " + (folder_ / "new") + "; mv " + (folder_ / "new") + " " +
                (folder_ / "given") + "; exec sleep 100");
  WorkerOptions options;
  options.program = "/the/program";
  options.limits.hello_s = 60;
  const std::vector<WorkerOptions> both(2, options);
  auto group = Outcome<std::vector<std::unique_ptr<Worker>>>(WorkerFailure{});
  std::jthread starts([&] { group = start_group(both); });
  for (int i = 0; i < 6000 && !fs::exists(folder_ / "given"); ++i) ::usleep(10'000);
  std::istringstream words(test::file_bytes(folder_ / "given"));
  std::string word, path, token;
  for (; words >> word;) {
    if (word == "--connect") words >> path;
    if (word == "--token") words >> token;
  }
  ASSERT_FALSE(path.empty());
  EXPECT_GE(token.size(), 32u);
  const auto says = [&](int rank, const std::string& with, Type type) {
    Channel channel = caller(path);
    Hello hello;
    hello.rank = rank;
    hello.token = with;
    hello.pid = 100 + rank;
    EXPECT_TRUE(channel.send_message(type, 0, hello));
    return channel;
  };

  Channel first = says(0, token, Type::hello);
  for (const int rank : {0, 2, -1}) {
    Channel again = says(rank, token, Type::hello);
    EXPECT_TRUE(is_closed(again)) << "no place for " << rank;
  }
  Channel guess = says(1, token + "0", Type::hello);
  EXPECT_TRUE(is_closed(guess));
  Channel other = says(1, token, Type::load);
  EXPECT_TRUE(is_closed(other));
  Channel broken = caller(path);
  ASSERT_TRUE(broken.send(Type::hello, 0, 0, "{"));
  EXPECT_TRUE(is_closed(broken));
  Channel second = says(1, token, Type::hello);
  for (Channel* rank : {&first, &second}) {
    const auto asked = rank->receive(deadline_after(20));
    ASSERT_TRUE(asked) << asked.reason;
    auto answer = decode<Hello>(asked.frame.payload);
    EXPECT_EQ(answer.rank, rank == &first ? 0 : 1);
    EXPECT_GT(answer.memory_limit_bytes, 0);
    answer.pid = 100 + answer.rank;
    EXPECT_TRUE(rank->send_message(Type::hello, asked.frame.header.request, answer));
  }
  starts.join();
  ASSERT_TRUE(group) << group.failure.reason;
  ASSERT_EQ(group->size(), 2u);
  EXPECT_EQ((*group)[1]->hello().pid, 101);
  EXPECT_THAT(test::file_bytes(folder_ / "given"), HasSubstr(" /the/program --connect "));
  EXPECT_FALSE(fs::exists(path)) << "the door is gone when all are in";
}

const std::vector<NodeRanks> three_ranks{{"n1", 2}, {"n2", 1}};

std::string line_of(int rank, const char* host) {
  return report_line({rank, host, "aa", "bb", "cpu-01", "Some CPU"});
}

TEST_F(Launcher, reports_of_nodes_come_in_order_of_ranks) {
  launcher_does("echo \"$@\" > " + (folder_ / "given") + "\ncat <<'END'\nsome warning\n" +
                line_of(2, "b") + '\n' + line_of(0, "a") + '\n' + line_of(3, "x") + '\n' +
                line_of(1, "a") + "\nEND\nexit 0");
  const auto told = ask_nodes(three_ranks, "/the/plugin.so", 60);
  ASSERT_TRUE(told) << told.failure;
  ASSERT_EQ(told->size(), 3u);
  EXPECT_EQ((*told)[0].host, "a");
  EXPECT_EQ((*told)[2].host, "b");
  EXPECT_THAT(test::file_bytes(folder_ / "given"),
              testing::AllOf(testing::StartsWith("--host n1:2,n2:1 --map-by slot -n 3 "),
                             testing::EndsWith("halmark-worker --node-report /the/plugin.so\n")));
}

TEST_F(Launcher, nodes_that_say_nothing_are_named_once_with_what_the_launcher_said) {
  const std::string all = "no report from n1, n2: ", ended = "mpirun ended with exit code ";
  const std::tuple<std::string, int, std::string> launchers[] = {
      {"echo '----'; echo no such host; echo; echo '- -'; echo at all; exit 4", 60,
       all + ended + "4: no such host at all"},
      {"cat <<'END'\n" + line_of(0, "a") + '\n' + line_of(1, "a") + "\nEND\nexit 0", 60,
       "no report from n2: " + ended + "0"},
      {"printf '%0400d\\n' 0; exit 1", 60, all + ended + "1: " + std::string(297, '0') + "..."},
      {"exec sleep 100", 1, all + "no answer within 1 s"}};
  for (const auto& [script, seconds, failure] : launchers) {
    launcher_does(script);
    EXPECT_EQ(ask_nodes(three_ranks, "p", seconds).failure, failure);
  }
  const test::ScopedVariable nowhere("PATH", "/nonexistent");
  EXPECT_EQ(ask_nodes(three_ranks, "p", 1).failure, "mpirun is not installed; install openmpi-bin");
}

TEST(ThisNode, says_its_name_its_build_and_its_class) {
  const test::ScratchFolder folder;
  test::write_file(folder / "plugin.so", "abc");
  const NodeReport report = this_node_report(5, folder / "plugin.so");
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(report.rank, 5);
  EXPECT_EQ(report.host, name);
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(report.plugin_hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(report.worker_hash.size(), 64u);
  EXPECT_EQ(report.hardware_class, this_machine().hardware_class());
  EXPECT_EQ(report.processor, this_machine().cpu_model);
  EXPECT_EQ(this_node_report(0, folder / "absent.so").plugin_hash, "");
}

}  // namespace
}  // namespace halmark
