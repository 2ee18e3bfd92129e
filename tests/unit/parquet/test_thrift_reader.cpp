#include "parquet/thrift_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parquet/thrift_writer.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

const std::string name = "t.parquet";

std::string refusal(const std::string& bytes) {
  const Error error = test::error_of([&] {
    ThriftReader(bytes, name).structure([](const ThriftReader::Field&) { return false; });
  });
  return error.line();
}

TEST(ThriftReader, reads_what_was_written_and_skips_what_is_unknown) {
  ThriftWriter out;
  out.integer(1, -7);
  out.structure(2, [&] { out.binary(1, "skipped"); });
  out.wide(3, std::int64_t{-1} << 62);
  out.boolean(4, true);
  out.list_of_integers(5, 20);
  for (int i = 0; i < 20; ++i) out.element(i);
  out.binary(6, "text");
  const std::string bytes = out.finish();
  ThriftReader from(bytes, name);
  std::int64_t one = 0, three = 0;
  bool four = false;
  std::string_view six;
  from.structure([&](const ThriftReader::Field& field) {
    if (field.id == 1) one = from.integer(field);
    if (field.id == 3) three = from.integer(field);
    if (field.id == 4) four = from.boolean(field);
    if (field.id == 6) six = from.binary(field);
    return field.id != 2 && field.id != 5;
  });
  EXPECT_EQ(one, -7);
  EXPECT_EQ(three, std::int64_t{-1} << 62);
  EXPECT_TRUE(four);
  EXPECT_EQ(six, "text");
  EXPECT_EQ(from.position(), bytes.size());
}

TEST(ThriftReader, hostile_bytes_cost_no_more_than_they_are) {
  EXPECT_THAT(refusal(""), testing::HasSubstr("ends too early"));
  EXPECT_THAT(refusal(std::string(1000, '\x1c')), testing::HasSubstr("nests too deep"));
  EXPECT_THAT(refusal(std::string(1000, '\x19')), testing::HasSubstr("too deep"));
  // A list of 2^35 integers, a text of as many bytes, a map of as many pairs.
  EXPECT_THAT(refusal("\x19\xf5\xff\xff\xff\xff\x7f"), testing::HasSubstr("longer than"));
  EXPECT_THAT(refusal("\x18\xff\xff\xff\xff\x7f"), testing::HasSubstr("ends too early"));
  EXPECT_THAT(refusal("\x1b\xff\xff\xff\xff\x7f\x55"), testing::HasSubstr("longer than"));
  EXPECT_THAT(refusal("\x16" + std::string(11, '\xff')), testing::HasSubstr("too many bytes"));
  EXPECT_THAT(refusal("\x1d"), testing::HasSubstr("a type that Thrift has not"));
}

}  // namespace
}  // namespace halmark
