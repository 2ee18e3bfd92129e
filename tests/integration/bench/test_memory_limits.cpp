// The program in a control group of its own with little memory, where one may be made: nothing is
// killed, and what cannot fit says so.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Below the group of this process; v1 or v2, wherever a limit can be written.
class LimitedGroup {
 public:
  explicit LimitedGroup(std::int64_t bytes) {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line; folder_.empty() && std::getline(mounts, line);) {
      std::istringstream words(line);
      std::string source, point, type, options;
      words >> source >> point >> type >> options;
      const bool is_v1 = type == "cgroup" && options.find("memory") != std::string::npos;
      if (!is_v1 && type != "cgroup2") continue;
      make(point + own_path(is_v1), is_v1 ? "memory.limit_in_bytes" : "memory.max", bytes);
      events_ = is_v1 ? "memory.oom_control" : "memory.events";
    }
  }
  ~LimitedGroup() {
    for (int i = 0; !folder_.empty() && i < 100 && ::rmdir(folder_.c_str()) != 0; ++i) {
      ::usleep(10'000);
    }
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  bool is_made() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }
  // Below it too.
  std::int64_t kills() const {
    std::int64_t out = 0;
    std::ifstream file(folder_ + '/' + events_);
    for (std::string key, value; file >> key >> value;) {
      if (key == "oom_kill") out += std::stoll(value);
    }
    return out;
  }
  Launch inside(Launch launch) const {
    Arguments arguments = {"/bin/sh", "-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"",
                           folder_};
    arguments.insert(arguments.end(), launch.arguments.begin(), launch.arguments.end());
    launch.arguments = std::move(arguments);
    return launch;
  }

 private:
  static std::string own_path(bool is_v1) {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
      const auto found = line.find(is_v1 ? ":memory:" : "0::");
      if (found == std::string::npos) continue;
      const std::string path = line.substr(line.rfind(':') + 1);
      return path == "/" ? "" : path;
    }
    return {};
  }
  void make(const std::string& parent, const std::string& limit, std::int64_t bytes) {
    const std::string folder = parent + "/halmark-test-" + std::to_string(::getpid());
    if (::mkdir(folder.c_str(), 0700) != 0) return;
    if (fs::exists(folder + '/' + limit) &&
        (std::ofstream(folder + '/' + limit) << bytes).flush()) {
      folder_ = folder;
    } else {
      ::rmdir(folder.c_str());
    }
  }
  std::string folder_, events_;
};

class MemoryLimit : public HalmarkTest {
 protected:
  Outcome inside(const LimitedGroup& group, Arguments arguments) const {
    Launch limited = group.inside(launch(std::move(arguments)));
    limited.limit_s = 120;
    return run(limited);
  }
};

constexpr std::int64_t mib = 1 << 20;
constexpr const char* no_group = "no control group with a limit of memory can be made here";

// The machine has forty times as much, and arenas were cut from that.
TEST_F(MemoryLimit, of_512_mib_is_enough_for_a_tiny_sweep_and_nothing_is_killed) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  const LimitedGroup group(512 * mib);
  if (!group.is_made()) GTEST_SKIP() << no_group;
  know_peaks(
      "[[bandwidth]]\nlevel = \"memory\"\nthreads = 1\nbytes_per_s = 1e13\nsource = \"a test\"\n");
  const std::string sweep = tiny_sweep("cpu");
  const Outcome planned = inside(group, {"tune", sweep, "--plan"});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("of 512 MiB (limit of " + group.folder()));
  const Outcome o = inside(group, {"tune", sweep, "--quiet", "--db", "tiny.db"});
  EXPECT_EQ(group.kills(), 0);
  EXPECT_TRUE(o.exit_code == 0 || o.exit_code == 4) << o.exit_code << o.out << o.err;
  EXPECT_EQ(
      sql_count(path("tiny.db"), "SELECT count(*) FROM entry WHERE body LIKE '%out_of_memory%'"),
      0);
}

// Whoever takes all that there is, the kernel kills a worker for it: a row, and the rest goes on.
TEST_F(MemoryLimit, that_a_worker_without_one_exceeds_costs_that_worker_alone) {
  const LimitedGroup group(384 * mib);
  if (!group.is_made()) GTEST_SKIP() << no_group;
  know_peaks();
  base_.environment["HALMARK_FAKE_SCRIPT"] = "devour=prepare;devour_bytes=3000000000";
  const Outcome o = inside(group, {"bench", "--backend", "fake", "--op", "gemm", "--params",
                                   "m=8,n=256,k=256", "--dtype", "f32", "--sets", "1", "--rounds",
                                   "1", "--no-store", "--json", "--worker-memory", "none"});
  EXPECT_GT(group.kills(), 0);
  EXPECT_EQ(o.signal, 0) << "halmark itself";
  const Json row = envelope_of(o.out)["data"]["rows"][0];
  EXPECT_EQ(row["status"], "out_of_memory") << row;
}

// A table and a head of 768 MiB each.
TEST_F(MemoryLimit, that_a_model_exceeds_is_told_with_what_it_needs) {
  const LimitedGroup group(512 * mib);
  if (!group.is_made()) GTEST_SKIP() << no_group;
  know_peaks();
  Json config = parse_json(read(fs::path(tiny_model()).filename().string()), "tiny_model");
  config["vocab_size"] = 196'608;
  config["hidden_size"] = 1024;
  const std::string wide = write("wide.json", config.dump());
  const Outcome o = inside(group, {"run", wide, "--phase", "decode", "--batch", "1", "--context",
                                   "16", "--dtype", "f32", "--backend", "fake", "--no-store"});
  EXPECT_EQ(group.kills(), 0);
  EXPECT_THAT(o.out + o.err, HasSubstr("464 MiB")) << "what the run may use, less its reserve";
  EXPECT_NE(o.exit_code, 0);
}

}  // namespace
}  // namespace halmark::integration
