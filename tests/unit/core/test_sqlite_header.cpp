// The header of a database as the file format of SQLite describes it, written by hand.
#include "core/text/sqlite_header.hpp"

#include <gtest/gtest.h>

#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

std::string header() {
  std::string out("SQLite format 3\0", 16);
  out.resize(100, '\0');
  return out;
}

void put(std::string& bytes, std::size_t at, std::initializer_list<int> values) {
  for (const int value : values) bytes[at++] = static_cast<char>(value);
}

TEST(SqliteHeader, has_its_numbers_at_the_documented_places) {
  const test::ScratchFolder folder;
  std::string bytes = header();
  put(bytes, 16, {0x10, 0x00});              // pages of 4096 bytes
  put(bytes, 28, {0x00, 0x01, 0x02, 0x03});  // 66,051 of them
  put(bytes, 60, {0x11, 0x22, 0x33, 0x44});
  put(bytes, 68, {0xA1, 0xB2, 0xC3, 0xD4});
  test::write_file(folder / "a.db", bytes + "more");
  const auto found = read_sqlite_header(folder / "a.db");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file_bytes, 66'051u * 4096u);
  EXPECT_EQ(found->user_version, 0x11223344u);
  EXPECT_EQ(found->application_id, 0xA1B2C3D4u);
  put(bytes, 16, {0x00, 0x01});  // stands for 65,536
  test::write_file(folder / "a.db", bytes);
  EXPECT_EQ(read_sqlite_header(folder / "a.db")->file_bytes, 66'051ull * 65'536ull);
  put(bytes, 16, {0x02, 0x00});
  test::write_file(folder / "a.db", bytes);
  EXPECT_EQ(read_sqlite_header(folder / "a.db")->file_bytes, 66'051ull * 512ull);
}

TEST(SqliteHeader, of_another_or_a_shorter_file_is_none) {
  const test::ScratchFolder folder;
  std::string bytes = header();
  bytes[0] = 's';
  test::write_file(folder / "a.db", bytes);
  EXPECT_FALSE(read_sqlite_header(folder / "a.db"));
  test::write_file(folder / "a.db", header().substr(0, 99));
  EXPECT_FALSE(read_sqlite_header(folder / "a.db"));
  test::write_file(folder / "a.db", header());
  EXPECT_TRUE(read_sqlite_header(folder / "a.db"));
}

}  // namespace
}  // namespace halmark
