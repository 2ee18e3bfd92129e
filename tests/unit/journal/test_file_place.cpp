// A file under its writer: whether its name still leads to it, and whether its bytes are its own.
#include "journal/file/file_place.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scratch_folder.hpp"

namespace halmark::journal {
namespace {

namespace fs = std::filesystem;

class FilePlaceTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  void set_time(time_t seconds, long nanoseconds) {
    const timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  }

  test::ScratchFolder folder_;
  const std::string path_ = folder_ / "a.db";
};

TEST_F(FilePlaceTest, says_where_the_file_went) {
  write("a.db", "abc");
  const FilePlace place(path_);
  EXPECT_EQ(place.fault(), "");
  fs::rename(path_, folder_ / "b.db");
  EXPECT_EQ(place.fault(), "moved away");
  write("a.db", "abc");
  EXPECT_EQ(place.fault(), "moved away and replaced by another file");
  fs::remove(folder_ / "b.db");
  EXPECT_EQ(place.fault(), "replaced by another file");
  fs::remove(path_);
  EXPECT_EQ(place.fault(), "deleted");
}

TEST_F(FilePlaceTest, what_was_never_there_cannot_go) {
  const FilePlace place(path_);
  EXPECT_EQ(place.fault(), "");
  EXPECT_FALSE(place.has_other_content());
  write("a.db", "abc");
  EXPECT_EQ(place.fault(), "");
}

TEST_F(FilePlaceTest, another_size_or_time_of_writing_is_another_content_until_it_is_remembered) {
  write("a.db", "abc");
  set_time(1000, 500);
  FilePlace place(path_);
  EXPECT_FALSE(place.has_other_content());
  for (const auto& [seconds, nanoseconds] : {std::pair{1001, 500}, {999, 500}, {1000, 501}}) {
    set_time(seconds, nanoseconds);
    EXPECT_TRUE(place.has_other_content()) << seconds << ' ' << nanoseconds;
    set_time(1000, 500);
    EXPECT_FALSE(place.has_other_content());
  }
  write("a.db", "abcd");
  set_time(1000, 500);
  EXPECT_TRUE(place.has_other_content()) << "of the same time";
  place.remember_content();
  EXPECT_FALSE(place.has_other_content());
}

std::size_t descriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_F(FilePlaceTest, closes_what_it_opened) {
  write("a.db", "abc");
  const std::size_t before = descriptors();
  {
    const FilePlace place(path_), absent(folder_ / "none");
    EXPECT_EQ(descriptors(), before + 1);
  }
  EXPECT_EQ(descriptors(), before);
}

// Where nothing is open for input the first descriptor is free.
TEST_F(FilePlaceTest, works_under_descriptor_0_as_under_any) {
  write("a.db", "abc");
  const int input = dup(0);
  close(0);
  {
    FilePlace place(path_);
    ASSERT_NE(fcntl(0, F_GETFD), -1) << "it has descriptor 0";
    write("a.db", "abcd");
    EXPECT_TRUE(place.has_other_content());
    place.remember_content();
    EXPECT_FALSE(place.has_other_content());
    fs::rename(path_, folder_ / "b.db");
    EXPECT_EQ(place.fault(), "moved away");
  }
  EXPECT_EQ(fcntl(0, F_GETFD), -1) << "and closed it";
  if (input >= 0) {
    dup2(input, 0);
    close(input);
  }
}

}  // namespace
}  // namespace halmark::journal
