// Files from outside are opened in one place, core/input, which refuses what blocks, never ends or
// is too large. What else opens something reads the kernel's own files, writes, or keeps a file
// open to write to it; each is listed with its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "tree.hpp"

namespace halmark::architecture {
namespace {

const std::map<std::string, std::string, std::less<>> openers = {
    {"framework/core/input/input_file.cpp", "the one place"},
    {"framework/host/machine.cpp", "/proc and /sys"},
    {"framework/host/plugin/kept_builds.cpp", "/proc; writes"},
    {"framework/host/plugin/new_project.cpp", "writes"},
    {"framework/host/process/run_memory.cpp", "/proc/meminfo"},
    {"framework/host/process/cgroup.cpp", "/proc and the control groups"},
    {"framework/host/process/contained_process.cpp", "/proc, /dev/null, a file of its own"},
    {"framework/host/process/descendants.cpp", "/proc"},
    {"framework/deploy/engine/gguf.cpp", "writes"},
    {"framework/export/ir/decoder_layer.cpp", "writes"},
    {"framework/judge/build.cpp", "writes"},
    {"framework/measure/sampling/interference.cpp", "/proc"},
    {"framework/measure/sampling/package_energy.cpp", "the power zones of /sys"},
    {"framework/measure/sampling/process_counters.cpp", "/proc"},
    {"framework/measure/sampling/run_delay.cpp", "/proc"},
    {"framework/study/worker.cpp", "/proc"},
    {"framework/worker/machine_probes.cpp", "/proc"},
    {"framework/worker/set_size.cpp", "/proc"},
    {"framework/worker/data_limit.cpp", "/proc"},
    {"framework/host/process/cgroup_limits.cpp", "the control groups"},
    {"framework/host/process/guard_main.cpp", "/proc"},
    {"framework/host/process/launch.cpp", "/dev/null, a file of its own"},
    {"framework/host/process/leftovers.cpp", "/proc"},
    {"framework/host/process/out_of_memory.cpp", "/proc"},
    {"framework/journal/file/log_check.cpp", "the log beside a database that is open"},
    {"framework/journal/file/new_file.cpp", "synchronises a folder"},
    {"framework/journal/sqlite/writer_lock.cpp", "a lock of its own"},
    {"framework/study/storage/sqlite_file.cpp", "synchronises a folder"},
    {"framework/study/storage/journal_file.cpp", "appends; checks the file by itself"},
    {"framework/pages/serve/sweep/sweep_process.cpp", "/dev/null of its child"},
    {"framework/report/write.cpp", "writes"},
};

// Names of the standard library and the system that open a file. Members called `open` of ours
// (devices, workers) are no such calls: these have flags.
const std::regex& opening() {
  static const std::regex names(
      R"(std::(basic_)?(i|o)?fstream|std::(basic_)?filebuf|\bfopen\s*\(|\bfreopen\s*\(|\bgz(d?open)\s*\()"
      R"(|\bopenat2?\s*\(|\bO_(RDONLY|RDWR|WRONLY)\b)");
  return names;
}

bool is_program(const SourceFile& file) {
  const bool is_ours = file.path.starts_with("framework/") || file.path.starts_with("search/") ||
                       file.path.starts_with("kernels/");
  return is_ours && is_cpp(file.path) && !file.path.starts_with("framework/abi/");
}

TEST(Inputs, are_opened_in_one_place) {
  for (const SourceFile& file : tracked_files()) {
    if (!is_program(file) || openers.contains(file.path)) continue;
    const std::string code = code_only(file.text);
    std::smatch found;
    EXPECT_FALSE(std::regex_search(code, found, opening()))
        << file.path << " has " << found.str() << ": read through core/input/input_file.hpp";
  }
}

TEST(Inputs, no_exception_outlives_its_reason) {
  for (const auto& [path, reason] : openers) {
    const auto& files = tracked_files();
    const auto file = std::ranges::find(files, path, &SourceFile::path);
    ASSERT_NE(file, files.end()) << path;
    EXPECT_TRUE(std::regex_search(code_only(file->text), opening())) << path << ": " << reason;
  }
}

TEST(Inputs, the_lint_sees_each_way_to_open) {
  for (const char* line : {"std::ifstream file(path);", "std::fstream f;", "FILE* f = fopen(p, m);",
                           "int fd = ::open(p, O_RDONLY);", "gzFile f = gzopen(p, m);",
                           "gzdopen(fd, m);", "int fd = openat(dir, p, 0);"}) {
    EXPECT_TRUE(std::regex_search(std::string(line), opening())) << line;
  }
  for (const char* line : {"worker->open(*index, options);", "std::ostringstream out;",
                           "api->device->open(handle, index, view, &out);"}) {
    EXPECT_FALSE(std::regex_search(std::string(line), opening())) << line;
  }
}

}  // namespace
}  // namespace halmark::architecture
