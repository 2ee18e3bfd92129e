// Cases that end in every way that tests/run_cases.py tells apart. HALMARK_SPECIMEN names a folder
// that remembers tries.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

// Whether this is the first time that the case runs in the folder.
bool is_first(const char* name) {
  const auto file = std::filesystem::path(std::getenv("HALMARK_SPECIMEN")) / name;
  const bool is_new = !std::filesystem::exists(file);
  std::ofstream{file};
  return is_new;
}

TEST(Good, passes) {}
TEST(Good, is_skipped) { GTEST_SKIP() << "no such device here"; }
TEST(Bad, fails) { FAIL() << "a figure that is wrong"; }
TEST(Bad, crashes) { std::abort(); }
TEST(Bad, hangs) { pause(); }
TEST(Bad, leaves_by_exit) { std::_Exit(0); }
TEST(Busy, passes_the_second_time) { EXPECT_FALSE(is_first("busy")); }
TEST(Late, stands_behind_all_of_them) {}

}  // namespace
