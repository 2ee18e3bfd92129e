// How the CUDA backend lays rows over blocks: every row and vector has a thread, within the limits
// of a grid, for sizes from one to beyond what a grid counts.
#include <gtest/gtest.h>

#include "plugins/cuda/row_geometry.hpp"

namespace {

using namespace hm_cuda;

constexpr std::int64_t sizes[] = {1, 2, 31, 33, 127, 1024, 4099, 70'000, std::int64_t{1} << 31};
constexpr std::int64_t processors = 132;

TEST(CudaRowGeometry, a_reduced_row_has_whole_warps_to_itself_or_shares_one) {
  for (const std::int64_t rows : sizes) {
    for (std::int64_t threads = 8; threads <= 1024; threads *= 2) {
      Launch launch;
      reduced_rows(launch, rows, threads);
      EXPECT_EQ(launch.block.x, threads);
      EXPECT_EQ(launch.block.x * launch.block.y % 32, 0u);
      EXPECT_TRUE(launch.block.x <= 32 || launch.block.y == 1);
      EXPECT_LE(launch.grid.x, 0x7fffffffu);
      const std::int64_t covered = std::int64_t{launch.grid.x} * launch.block.y;
      EXPECT_TRUE(covered >= rows || launch.grid.x == 0x7fffffffu);
    }
  }
}

TEST(CudaRowGeometry, the_threads_of_a_row_are_a_power_of_two_in_range) {
  for (const std::int64_t rows : sizes) {
    for (const std::int64_t vectors : sizes) {
      const std::int64_t threads = reducing_threads(rows, vectors, processors);
      EXPECT_EQ(threads & (threads - 1), 0);
      EXPECT_GE(threads, 8);
      EXPECT_LE(threads, 1024);
      const std::int64_t spread = spread_threads(vectors);
      EXPECT_EQ(spread & (spread - 1), 0);
      EXPECT_GE(spread, 32);
      EXPECT_LE(spread, 256);
    }
  }
}

TEST(CudaRowGeometry, columns_are_dealt_out_only_where_rows_are_few) {
  for (const std::int64_t rows : sizes) {
    for (const std::int64_t vectors : sizes) {
      Launch launch;
      spread_rows(launch, rows, vectors, 128, processors);
      EXPECT_GE(launch.grid.x, 1u);
      EXPECT_GE(launch.grid.y, 1u);
      EXPECT_LE(launch.grid.y, 65535u);
      EXPECT_LE(std::int64_t{launch.grid.y}, blocks_of(vectors, 128));
      if (rows > 16 * processors) {
        EXPECT_EQ(launch.grid.y, 1u);
      }
    }
  }
  Launch decode;
  spread_rows(decode, 1, 1792, 128, processors);
  EXPECT_EQ(decode.grid.y, 14u);
}

TEST(CudaRowGeometry, quotients_are_rounded_up_without_overflow) {
  EXPECT_EQ(blocks_of(1, 128), 1);
  EXPECT_EQ(blocks_of(128, 128), 1);
  EXPECT_EQ(blocks_of(129, 128), 2);
  EXPECT_EQ(blocks_of(INT64_MAX, 2), INT64_MAX / 2 + 1);
  EXPECT_EQ(power_of_two_from(1), 1);
  EXPECT_EQ(power_of_two_from(5), 8);
  EXPECT_EQ(power_of_two_from(1024), 1024);
}

}  // namespace
