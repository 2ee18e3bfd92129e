#include "measure/probe/peaks.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

constexpr std::int64_t mib = 1 << 20;

TEST(Caches, are_read_from_the_kernels_words) {
  const std::vector<std::string> texts{"L1 data 48K", "L1 instruction 32K", "L2 unified 2048K",
                                       "L3 unified 480M", "nonsense"};
  const auto caches = parse_caches(texts);
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[0].level, 1);
  EXPECT_EQ(caches[0].bytes, 48 * 1024);
  EXPECT_EQ(caches[1].bytes, 2 * mib);
  EXPECT_EQ(caches[2].bytes, 480 * mib);
}

// A machine whose rate falls by half with each doubling until `flat_from`.
ProbeFunction falling_until(std::int64_t flat_from, std::vector<std::int64_t>& asked) {
  return [flat_from, &asked](const protocol::ProbeRequest& request) {
    asked.push_back(request.working_set_bytes);
    const double size = static_cast<double>(std::min(request.working_set_bytes, flat_from));
    return protocol::ProbeAnswer{.paths = {}, .rates = {0.9e18 / size, 1e18 / size}, .reason = {}};
  };
}

TEST(RingPlateau, is_a_quarter_above_the_first_size_beyond_which_nothing_changes) {
  std::vector<std::int64_t> asked;
  EXPECT_EQ(find_ring_plateau(falling_until(256 * mib, asked), 2, 4096 * mib), 320 * mib);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{64 * mib, 128 * mib, 256 * mib, 512 * mib}));
}

TEST(RingPlateau, ends_at_1024_mib_and_at_the_memory_there_is) {
  std::vector<std::int64_t> asked;
  EXPECT_EQ(find_ring_plateau(falling_until(1 << 30, asked), 1, std::int64_t{64} << 30),
            1280 * mib);
  EXPECT_EQ(find_ring_plateau(falling_until(1 << 30, asked), 1, 200 * mib), 160 * mib);
}

TEST(RingPlateau, is_absent_without_rates) {
  const auto plateau = find_ring_plateau(
      [](const protocol::ProbeRequest&) { return protocol::ProbeAnswer{}; }, 1, 1024 * mib);
  EXPECT_FALSE(plateau);
}

}  // namespace
}  // namespace halmark
