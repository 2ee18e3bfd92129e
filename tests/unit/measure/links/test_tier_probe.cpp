#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/text/error.hpp"
#include "measure/links/tier_probe.hpp"

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

TEST(TierProbe, storage_is_read_and_written_past_the_page_cache_and_nothing_stays) {
  const std::filesystem::path folder =
      std::filesystem::path(HALMARK_BINARY_DIR) / "tests" / "tier_probe";
  std::filesystem::create_directories(folder);
  try {
    const TierProbe seen = probe_storage(folder.string(), 32 << 20);
    EXPECT_GT(seen.read_bytes_per_s, 1e6);
    EXPECT_GT(seen.write_bytes_per_s, 1e6);
    EXPECT_GT(seen.latency_p50_s, 1e-7);
    EXPECT_GT(seen.bytes, 32 << 20);
  } catch (const Error& e) {
    if (std::string(e.what()).find("past the page cache") == std::string::npos) throw;
    GTEST_SKIP() << e.what();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
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

}  // namespace
}  // namespace halmark::links
