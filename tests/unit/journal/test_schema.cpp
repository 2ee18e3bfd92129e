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

}  // namespace
}  // namespace halmark::journal
