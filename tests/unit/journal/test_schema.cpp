#include "journal/sqlite/schema.hpp"

#include <gtest/gtest.h>

#include <set>

namespace halmark::journal {
namespace {

TEST(Encoder, writes_tag_length_and_bytes) {
  EXPECT_EQ(Encoder().text("ab").bytes(), std::string("t\2\0\0\0\0\0\0\0ab", 11));
  EXPECT_EQ(Encoder().null().bytes(), std::string("n\0\0\0\0\0\0\0\0", 9));
  EXPECT_EQ(Encoder().integer(-2).bytes(),
            std::string("i\10\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 17));
}

TEST(Encode, no_two_rows_share_an_encoding) {
  std::set<std::string> seen;
  const auto add = [&](const EntryColumns& columns) {
    EXPECT_TRUE(seen.insert(encode(columns)).second);
  };
  add({1, "measurement", "k", "b", "s", true});
  add({2, "measurement", "k", "b", "s", true});
  add({1, "evaluation", "k", "b", "s", true});
  add({1, "measurement", "kb", "", "s", true});  // text that moved between two columns
  add({1, "measurement", "", "kb", "s", true});
  add({1, "measurement", "k", "b", "", true});
  add({1, "measurement", "k", "b", "", false});  // an empty blob is not an absent one
}

// A length of more than one byte, as all numbers with the least byte first: 515 = 2 * 256 + 3.
TEST(Encoder, writes_lengths_and_numbers_byte_by_byte) {
  EXPECT_EQ(Encoder().text(std::string(515, 'x')).bytes().substr(0, 9),
            std::string("t\3\2\0\0\0\0\0\0", 9));
  EXPECT_EQ(Encoder().integer(0x0102030405060708).bytes(),
            std::string("i\10\0\0\0\0\0\0\0\10\7\6\5\4\3\2\1", 17));
  EXPECT_EQ(Encoder().blob("x").null().bytes(),
            std::string("b\1\0\0\0\0\0\0\0xn\0\0\0\0\0\0\0\0", 19));
}

TEST(Encode, is_run_kind_key_body_and_samples) {
  EXPECT_EQ(encode({1, "a", "b", "c", "d", true}),
            Encoder().integer(1).text("a").text("b").text("c").blob("d").bytes());
  EXPECT_EQ(encode({1, "a", "b", "c", "d", false}),
            Encoder().integer(1).text("a").text("b").text("c").null().bytes());
}

// Checksums of runs and blocks of samples came with version 3, the list of kinds went with 2.
TEST(Tables, of_earlier_versions_are_as_they_were) {
  const auto has = [](int version, const char* text) {
    return tables_of(version).find(text) != std::string::npos;
  };
  for (int version = 1; version <= 3; ++version) {
    EXPECT_EQ(has(version, "CHECK (kind IN"), version == 1) << version;
    EXPECT_EQ(has(version, "CREATE TABLE sample_block"), version == 3) << version;
    EXPECT_EQ(run_table(version).find("checksum") != std::string::npos, version == 3) << version;
  }
}

}  // namespace
}  // namespace halmark::journal
