#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>

#include "core/text/error.hpp"
#include "measure/links/tier_probe.hpp"
#include "tests/checkout.hpp"

namespace halmark::links {
namespace {

using testing::HasSubstr;

// L1 takes about 1 ns and memory about 100; a busy guest some more.
TEST(TierProbe, a_chase_beyond_caches_takes_longer_than_one_within) {
  const TierProbe near = probe_memory(16 << 10), far = probe_memory(std::int64_t{128} << 20);
  EXPECT_GT(near.latency_p50_s, 0.2e-9);
  EXPECT_LT(near.latency_p50_s, 20e-9);
  EXPECT_GT(far.latency_p50_s, 3 * near.latency_p50_s);
  EXPECT_LT(far.latency_p50_s, 5e-6);
  EXPECT_GE(far.latency_p99_s, far.latency_p50_s);
  EXPECT_THAT(far.how, HasSubstr("128 MiB"));
}

// Whether this disk has files past the page cache at all.
bool has_direct_files(const std::filesystem::path& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string path = (folder / "direct-XXXXXX").string();
  const int descriptor = ::mkostemp(path.data(), O_DIRECT | O_CLOEXEC);
  if (descriptor < 0) return false;
  ::close(descriptor);
  std::filesystem::remove(path);
  return true;
}

TEST(TierProbe, storage_is_read_and_written_past_the_page_cache_and_nothing_stays) {
  const std::filesystem::path folder = std::filesystem::path(test::in_build()) / "tests" /
                                       ("tier_probe_" + std::to_string(::getpid()));
  if (!has_direct_files(folder)) GTEST_SKIP() << "no files past the page cache on this disk";
  const TierProbe seen = probe_storage(folder.string(), 32 << 20);
  EXPECT_GT(seen.read_bytes_per_s, 1e6);
  EXPECT_GT(seen.write_bytes_per_s, 1e6);
  EXPECT_GT(seen.latency_p50_s, 1e-7);
  EXPECT_GT(seen.bytes, 32 << 20);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST(TierProbe, a_folder_that_is_not_there_is_named) {
  try {
    probe_storage("/nowhere/at/all");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::unfit);
    EXPECT_THAT(e.what(), HasSubstr("/nowhere/at/all"));
  }
}

double seconds_of(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// At least half of the 256 batches of 4096 loads take the median, and three copies of half the
// memory the best of them: all within the time that the probe took.
TEST(TierProbe, figures_of_the_memory_fit_into_the_time_that_was_taken) {
  constexpr std::int64_t bytes = std::int64_t{32} << 20;
  TierProbe seen;
  const double took_s = seconds_of([&] { seen = probe_memory(bytes); });
  EXPECT_EQ(seen.bytes, bytes);
  EXPECT_EQ(seen.how, "pointer chase over 32 MiB");
  EXPECT_LE(seen.latency_p50_s * 128 * 4096, took_s);
  EXPECT_EQ(seen.read_bytes_per_s, seen.write_bytes_per_s);
  EXPECT_GE(seen.read_bytes_per_s, 3 * (bytes / 2) / took_s);
  EXPECT_LT(seen.read_bytes_per_s, 1e12);
}

class StorageProbe : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_direct_files(folder_)) GTEST_SKIP() << "no files past the page cache on this disk";
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TierProbe probed(std::int64_t bytes, const std::function<bool()>& should_stop) {
    return probe_storage(folder_.string(), bytes, should_stop);
  }
  std::filesystem::path folder_ = std::filesystem::path(test::in_build()) / "tests" /
                                  ("storage_probe_" + std::to_string(::getpid()));
};

// Two blocks of 8 MiB are written and read, then 2000 pages; each asks once whether to stop.
TEST_F(StorageProbe, writes_and_reads_blocks_and_then_pages) {
  int asked = 0;
  TierProbe seen;
  const double took_s = seconds_of([&] {
    seen = probed(16 << 20, [&] {
      ++asked;
      return false;
    });
  });
  EXPECT_EQ(asked, 2 + 2 + 2000);
  EXPECT_GE(seen.write_bytes_per_s, (16 << 20) / took_s);
  EXPECT_GE(seen.read_bytes_per_s, (16 << 20) / took_s);
  EXPECT_LE(seen.latency_p50_s * 1000, took_s);
  EXPECT_GE(seen.latency_p99_s, seen.latency_p50_s);
  EXPECT_EQ(seen.how, "file of 16 MiB past the page cache");
  struct statvfs space {};
  ASSERT_EQ(::statvfs(folder_.c_str(), &space), 0);
  EXPECT_EQ(seen.bytes, static_cast<std::int64_t>(space.f_blocks * space.f_frsize));
}

TEST_F(StorageProbe, stops_where_it_is_told) {
  int asked = 0;
  const auto after = [&](int calls) {
    asked = 0;
    return probed(16 << 20, [&asked, calls] { return ++asked > calls; });
  };
  const auto early = after(0);
  EXPECT_EQ(asked, 3) << "each of the three parts asks once";
  EXPECT_EQ(early.latency_p50_s, 0) << "no page was read";
  EXPECT_EQ(early.how, "");
  const auto late = after(2 + 2 + 5);
  EXPECT_EQ(asked, 2 + 2 + 6);
  EXPECT_GT(late.latency_p50_s, 0);
}

TEST_F(StorageProbe, wants_twice_the_file_to_be_free) {
  struct statvfs space {};
  ASSERT_EQ(::statvfs(folder_.c_str(), &space), 0);
  const auto free = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
  try {
    probe_storage(folder_.string(), free * 6 / 10);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("cannot find room in " + folder_.string() + ": No space left"));
    EXPECT_THAT(e.remedy(), HasSubstr("name a folder on the disk that is meant"));
  }
}

}  // namespace
}  // namespace halmark::links
