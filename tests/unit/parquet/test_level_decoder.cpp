// Bytes from the format's specification (apache/parquet-format, Encodings.md), and its edges.
#include "parquet/level_decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "parquet/value_decoder.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::parquet {
namespace {

const std::string where = "t.parquet, column 'x'";

std::vector<std::uint32_t> levels_of(std::string_view bytes, unsigned width, std::size_t count) {
  std::vector<std::uint32_t> out(count);
  LevelDecoder(bytes, width).read(out, where);
  return out;
}

// "the numbers 0 through 7 using bit width 3": 10001000 11000110 11111010.
TEST(LevelDecoder, unpacks_the_example_of_the_specification) {
  EXPECT_THAT(levels_of("\x03\x88\xc6\xfa", 3, 8), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(LevelDecoder, runs_and_groups_follow_each_other) {
  // 5 times 300 in two bytes, then one group of 8 numbers of 9 bits: 1, and 0 for the rest.
  const std::string bytes("\x0a\x2c\x01\x03\x01\0\0\0\0\0\0\0\0", 13);
  EXPECT_THAT(levels_of(bytes, 9, 8), testing::ElementsAre(300, 300, 300, 300, 300, 1, 0, 0));
}

TEST(LevelDecoder, numbers_of_no_bits_are_zeros) {
  EXPECT_THAT(levels_of("\x06", 0, 3), testing::ElementsAre(0, 0, 0));
}

TEST(LevelDecoder, what_ends_too_early_is_refused) {
  for (const std::string bytes : {"", "\x0a", "\x03", "\xff\xff\xff\xff\xff\xff"}) {
    EXPECT_THAT(test::error_of([&] { levels_of(bytes, 3, 8); }).line(),
                testing::HasSubstr("column 'x': is damaged Parquet"));
  }
}

// 1..5 have the differences 1 alone: block of 128, 4 miniblocks, 5 values, the first 1 (zigzag 2),
// least difference 1 (zigzag 2), no bits. And 7, 5, 3, 1, 2, 3, 4, 5: least -2, remainders of 2
// bits (0 0 0 3 3 3 3), the specification's second example.
TEST(DeltaDecoder, reads_the_examples_of_the_specification) {
  const Stored stored{Physical::int64, 0, true};
  ParquetValues values;
  const std::string rising("\x80\x01\x04\x05\x02\x02\0\0\0\0", 10);
  make_delta_decoder(stored, rising, where)->read(5, values);
  EXPECT_THAT(values.integers, testing::ElementsAre(1, 2, 3, 4, 5));
  values.integers.clear();
  const std::string mixed("\x80\x01\x04\x08\x0e\x03\x02\0\0\0\xc0\x3f\0\0\0\0\0\0", 18);
  const auto decoder = make_delta_decoder(stored, mixed, where);
  decoder->read(8, values);
  EXPECT_THAT(values.integers, testing::ElementsAre(7, 5, 3, 1, 2, 3, 4, 5));
  EXPECT_THAT(test::error_of([&] { decoder->read(1, values); }).line(),
              testing::HasSubstr("fewer values"));
}

TEST(DeltaDecoder, impossible_blocks_are_refused) {
  const Stored stored{Physical::int32, 0, true};
  for (const std::string& bytes :
       {std::string("\0\x04\x05\x02", 4), std::string("\x80\x01\0\x05\x02", 5),
        std::string("\x80\x01\x03\x05\x02", 5),
        std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x05\x02", 13)}) {
    EXPECT_THAT(test::error_of([&] { make_delta_decoder(stored, bytes, where); }).line(),
                testing::HasSubstr("is damaged Parquet"));
  }
}

}  // namespace
}  // namespace halmark::parquet
