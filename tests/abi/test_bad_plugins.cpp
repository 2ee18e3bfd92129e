// Each bad plugin in a child process of its own: what the loader and the checked calls say of it.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "bad/expected.hpp"
#include "host/plugin/loader.hpp"
#include "host/plugin/plugin.hpp"
#include "tests/checkout.hpp"

namespace halmark::abi_test {

// Names in the listing of the parameterised tests, instead of a dump of bytes.
void PrintTo(const BadPlugin& plugin, std::ostream* out) { *out << plugin.file; }

namespace {

const std::string bad_folder = test::in_build("/tests/plugins/bad");

std::string path_of(std::string_view file) {
  return bad_folder + "/bad_" + std::string(file) + ".so";
}

std::string failed(const PluginError& error) { return "failed " + error.message; }

// The way of a worker through a plugin, up to an enqueue: ends at the first error.
std::string drive(const std::string& path) {
  const LoadedPlugin plugin = load_plugin(path);
  auto instance = PluginInstance::create(plugin, "");
  if (!instance) return failed(instance.failure);
  auto description = (*instance)->describe();
  if (!description) return failed(description.failure);
  auto device = (*instance)->open(0, Params());
  if (!device) return failed(device.failure);
  auto stream = device->create_stream();
  if (!stream) return failed(stream.failure);
  const Problem problem{"copy", Params{{"bytes", 64}}};
  if (const auto error = device->supports(0, problem, nullptr); !error.ok()) return failed(error);
  auto domains = device->domains(0, problem);
  if (!domains) return failed(domains.failure);
  auto prepared = device->prepare(0, problem, nullptr);
  if (!prepared) return failed(prepared.failure);
  auto info = prepared->info();
  if (!info) return failed(info.failure);
  for (std::uint32_t i = 0; i < info->operand_count; ++i) {
    auto operand = prepared->operand(i);
    if (!operand) return failed(operand.failure);
  }
  return "accepted device " + description->devices.at(0).id + " " +
         description->devices.at(0).name +
         " probe=" + (description->has_probe ? "there" : "absent") +
         " comm=" + (description->has_comm ? "there" : "absent") +
         " fill=" + (stream->can_fill() ? "there" : "absent");
}

std::string drive_and_say(const std::string& path) {
  try {
    return drive(path);
  } catch (const PluginRefused& refused) {
    return "refused " + refused.reason();
  } catch (const std::exception& error) {
    return std::string("escaped ") + error.what();
  }
}

struct Observed {
  Ending ending = Ending::exited;
  std::string text;
  int signal = 0;
};

// The child's answer, or nothing when it gave none before it ended or the limit passed.
std::string read_answer(int descriptor, int limit_ms, bool& timed_out) {
  std::string answer;
  char block[4096];
  for (;;) {
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = poll(&waiting, 1, limit_ms);
    if (ready < 0 && errno == EINTR) continue;
    timed_out = ready == 0;
    if (ready <= 0) return answer;
    const ssize_t got = read(descriptor, block, sizeof block);
    if (got <= 0) return answer;
    answer.append(block, static_cast<std::size_t>(got));
  }
}

Observed judge(const std::string& answer, int status, bool timed_out) {
  if (timed_out) return {Ending::timed_out, answer, 0};
  if (answer.starts_with("refused ")) return {Ending::refused, answer.substr(8), 0};
  if (answer.starts_with("failed ")) return {Ending::failed, answer.substr(7), 0};
  if (answer.starts_with("accepted ")) return {Ending::accepted, answer.substr(9), 0};
  if (WIFSIGNALED(status)) return {Ending::crashed, answer, WTERMSIG(status)};
  return {Ending::exited, answer, 0};
}

Observed observe(const std::string& path, int limit_ms) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  fflush(nullptr);  // what is still to be written is of this process alone
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    close(ends[0]);
    if (freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
    const std::string answer = drive_and_say(path);
    if (write(ends[1], answer.data(), answer.size()) < 0) _exit(4);
    close(ends[1]);
    exit(0);  // runs the plugin's destructors
  }
  close(ends[1]);
  bool timed_out = false;
  const std::string answer = read_answer(ends[0], limit_ms, timed_out);
  close(ends[0]);
  if (timed_out) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return judge(answer, status, timed_out);
}

// The columns of the table that the suite prints: plugin, expected, found.
const char* name_of(Ending ending) {
  constexpr const char* names[] = {"refused",   "failed", "crashed",
                                   "timed_out", "exited", "accepted"};
  return names[static_cast<int>(ending)];
}

class BadPluginTest : public testing::TestWithParam<BadPlugin> {};

TEST_P(BadPluginTest, has_its_one_expected_outcome) {
  const BadPlugin& plugin = GetParam();
  // A plugin that hangs is known to; everybody else gets more than a loaded machine needs.
  const int limit_ms = plugin.ending == Ending::timed_out ? 500 : 60'000;
  const Observed observed = observe(path_of(plugin.file), limit_ms);
  std::printf("%-26s %-10s %-10s %s\n", std::string(plugin.file).c_str(), name_of(plugin.ending),
              name_of(observed.ending), observed.text.substr(0, 100).c_str());
  EXPECT_EQ(observed.ending, plugin.ending) << observed.text << " signal " << observed.signal;
  EXPECT_NE(observed.text.find(plugin.text), std::string::npos)
      << "expected '" << plugin.text << "' in: " << observed.text;
  EXPECT_EQ(observed.signal, plugin.signal);
}

INSTANTIATE_TEST_SUITE_P(Abi, BadPluginTest, testing::ValuesIn(bad_plugins),
                         [](const auto& info) { return std::string(info.param.file); });

TEST(BadPlugins, every_file_built_has_an_expected_outcome) {
  std::set<std::string> expected;
  for (const BadPlugin& plugin : bad_plugins) expected.insert(path_of(plugin.file));
  std::set<std::string> built;
  for (const auto& entry : std::filesystem::directory_iterator(bad_folder)) {
    built.insert(entry.path().string());
  }
  EXPECT_EQ(built, expected);
}

TEST(BadPlugins, the_plugin_they_are_made_from_is_good) {
  const Observed observed = observe(test::in_build("/tests/plugins/hm_c.so"), 60'000);
  EXPECT_EQ(observed.ending, Ending::accepted) << observed.text;
}

}  // namespace
}  // namespace halmark::abi_test
