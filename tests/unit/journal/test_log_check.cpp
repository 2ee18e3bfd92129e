// The log beside a database, as SQLite writes it, byte by byte: what was cut short is no fault,
// what rotted before later commits is.
#include "journal/file/log_check.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/case_name.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::journal {
namespace {

constexpr const char* head_fault = "the head of its -wal is damaged";

class LogCheck : public testing::Test {
 protected:
  // A table (two pages, so frames 1 and 2) and four rows (frames 3 to 6), a commit each.
  void make_log(int page) {
    page_ = static_cast<std::size_t>(page);
    ASSERT_EQ(sqlite3_open((folder_ / "a.db").c_str(), &db_), SQLITE_OK);
    sql("PRAGMA page_size = " + std::to_string(page));
    sql("PRAGMA journal_mode = WAL");
    sql("PRAGMA wal_autocheckpoint = 0");
    sql("CREATE TABLE t(x)");
    for (int i = 0; i < 4; ++i) sql("INSERT INTO t VALUES (7)");
    read_log();
    ASSERT_EQ(log_.size(), at_frame(7));
  }
  ~LogCheck() override { sqlite3_close(db_); }
  void sql(const std::string& text) {
    EXPECT_EQ(sqlite3_exec(db_, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << text;
  }
  void read_log() { log_ = test::file_bytes(folder_ / "a.db-wal"); }
  // 32 bytes of a head, then 24 and a page for each frame.
  std::size_t at_frame(std::size_t number) const { return 32 + (number - 1) * (24 + page_); }

  std::string fault_of(const std::string& bytes) const {
    test::write_file(folder_ / "log", bytes);
    return fault_of_log(folder_ / "log");
  }
  std::string flipped(std::size_t at) const {
    std::string out = log_;
    out.at(at) = static_cast<char>(out.at(at) ^ 0x10);
    return out;
  }
  static std::string frame_fault(int number) {
    return "frame " + std::to_string(number) + " of its -wal is damaged, and commits lie behind it";
  }

  test::ScratchFolder folder_;
  sqlite3* db_ = nullptr;
  std::string log_;
  std::size_t page_ = 0;
};

// The smallest page that SQLite has, the usual one and the greatest.
class LogOfPages : public LogCheck, public testing::WithParamInterface<int> {};

TEST_P(LogOfPages, is_whole_or_names_its_head_or_its_frame) {
  make_log(GetParam());
  EXPECT_EQ(fault_of(log_), "");
  EXPECT_EQ(fault_of(flipped(20)), head_fault);
  EXPECT_EQ(fault_of(flipped(at_frame(4) - 1)), frame_fault(3)) << "the last byte of its page";
  EXPECT_EQ(fault_of(flipped(at_frame(5) + 24)), frame_fault(5)) << "the first byte of its page";
  EXPECT_EQ(fault_of(flipped(at_frame(6) + 24)), "") << "a last commit may just be cut short";
}

INSTANTIATE_TEST_SUITE_P(Sizes, LogOfPages, testing::Values(512, 4096, 65536),
                         [](const auto& info) { return test::case_name({info.param}); });

TEST_F(LogCheck, what_is_absent_or_shorter_than_a_head_has_no_fault) {
  make_log(512);
  EXPECT_EQ(fault_of_log(folder_ / "none"), "");
  EXPECT_EQ(fault_of(""), "");
  EXPECT_EQ(fault_of(std::string(31, 'x')), "");
  EXPECT_EQ(fault_of(std::string(32, 'x')), "") << "the head is all there is";
  EXPECT_EQ(fault_of(std::string(33, 'x')), head_fault);
}

// Magic and byte order, version, page size, turn, both salts, both checksums.
TEST_F(LogCheck, every_field_of_the_head_is_held_by_its_checksum) {
  make_log(512);
  for (const std::size_t at : {0, 3, 7, 10, 12, 16, 23, 24, 31}) {
    EXPECT_EQ(fault_of(flipped(at)), head_fault) << at;
  }
}

// Number of the page, size of the database, both salts, both checksums.
TEST_F(LogCheck, every_field_of_a_frame_is_held_by_its_checksum) {
  make_log(512);
  for (const std::size_t at : {0, 4, 7, 8, 15, 16, 19, 20, 23}) {
    EXPECT_EQ(fault_of(flipped(at_frame(3) + at)), frame_fault(3)) << at;
    EXPECT_EQ(fault_of(flipped(at_frame(1) + at)), frame_fault(1)) << at;
  }
}

// A commit is complete once another frame lies behind it.
TEST_F(LogCheck, a_fault_counts_where_a_commit_and_a_frame_lie_behind_it) {
  make_log(512);
  const std::string rotten = flipped(at_frame(5) + 30);
  EXPECT_EQ(fault_of(rotten), frame_fault(5));
  EXPECT_EQ(fault_of(rotten.substr(0, rotten.size() - 1)), "") << "frame 6 is cut short";
  EXPECT_EQ(fault_of(flipped(at_frame(5) + 8)), "") << "of another log: frame 6 is the only one";
  EXPECT_EQ(fault_of(flipped(at_frame(4) + 8)), frame_fault(4)) << "frames 5 and 6 are of this one";
  std::string within = flipped(at_frame(1) + 30);
  EXPECT_EQ(fault_of(within.substr(0, at_frame(3))), "") << "frame 2 ends the first commit";
  EXPECT_EQ(fault_of(within.substr(0, at_frame(4))), frame_fault(1));
}

TEST_F(LogCheck, frames_of_an_earlier_turn_are_none_of_the_log) {
  make_log(512);
  sql("PRAGMA wal_checkpoint(FULL)");
  sql("INSERT INTO t VALUES (8)");
  read_log();
  ASSERT_EQ(log_.size(), at_frame(7)) << "the first frame was written over";
  EXPECT_EQ(fault_of(log_), "");
  EXPECT_EQ(fault_of(flipped(at_frame(1) + 30)), "") << "the only frame of this turn";
  EXPECT_EQ(fault_of(flipped(at_frame(3) + 30)), "");
}

std::string words(std::initializer_list<std::uint32_t> values) {
  std::string out;
  for (const std::uint32_t value : values) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  }
  return out;
}

// As a machine with the other order of bytes writes it: three commits of one page of zeros.
// Checksums by the formula of sqlite.org/fileformat2.html#walformat, worked out beside.
TEST_F(LogCheck, checksums_of_either_byte_order_are_read) {
  const std::string page(512, '\0');
  const std::string head = words({0x377f0683, 3007000, 512, 0, 1, 2, 0x1604cad8, 0xbcdda493});
  const std::string log = head + words({1, 1, 1, 2, 0x2571833c, 0xb8f51e1c}) + page +
                          words({1, 1, 1, 2, 0x4f3198e3, 0x09dde5a9}) + page +
                          words({1, 1, 1, 2, 0xbe3d9a4c, 0xa3e5630f}) + page;
  EXPECT_EQ(fault_of(log), "");
  std::string rotten = log;
  rotten[32 + 2 * 536 - 1] = 'x';
  EXPECT_EQ(fault_of(rotten), frame_fault(2));
  rotten[31] = 'x';
  EXPECT_EQ(fault_of(rotten), head_fault);
}

TEST_F(LogCheck, pages_of_a_size_that_sqlite_has_not_are_a_damaged_head) {
  for (const std::string& head :
       {words({0x377f0683, 3007000, 256, 0, 1, 2, 0x1604c8d8, 0xbcdda193}),
        words({0x377f0683, 3007000, 131072, 0, 1, 2, 0x1608c6d8, 0xbce39e93})}) {
    EXPECT_EQ(fault_of(head), "") << "nothing lies behind it";
    EXPECT_EQ(fault_of(head + 'x'), head_fault);
  }
}

// SQLite begins a log anew long before it has 64 MiB.
TEST_F(LogCheck, what_is_too_large_is_not_read) {
  test::write_file(folder_ / "log", std::string(100, 'x'));
  std::filesystem::resize_file(folder_ / "log", (64 << 20) + 1);
  EXPECT_EQ(fault_of_log(folder_ / "log"), "");
}

// A writer begins the log anew while it is read: what is found then counts. A machine that is busy
// may read all of it before or behind that.
TEST_F(LogCheck, what_changes_while_it_is_read_is_read_again) {
  make_log(512);
  bool is_sound = false;
  for (int attempt = 0; attempt < 20 && !is_sound; ++attempt) {
    test::write_file(folder_ / "log", flipped(at_frame(3)));
    std::thread writer([&] {
      for (std::size_t at = 0; at < 8; ++at) {  // longer than any single look
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
        std::fstream log(folder_ / "log", std::ios::in | std::ios::out | std::ios::binary);
        log.seekp(static_cast<std::streamoff>(at_frame(3) + 30 + at));
        log << 'x';
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      test::write_file(folder_ / "log", log_);
    });
    is_sound = fault_of_log(folder_ / "log").empty();
    writer.join();
  }
  EXPECT_TRUE(is_sound);
}

}  // namespace
}  // namespace halmark::journal
