#include <sys/mount.h>
#include <unistd.h>

#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;

// A file system of 4 MiB; only root can have one.
class SmallDisk {
 public:
  SmallDisk() { is_mounted_ = mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=4m") == 0; }
  ~SmallDisk() {
    if (is_mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool is_mounted() const { return is_mounted_; }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  ScratchFolder folder_;
  bool is_mounted_ = false;
};

TEST(DiskFull, ends_with_exit_code_1_and_keeps_every_stored_row) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "a small tmpfs cannot be mounted here";
  const std::string path = disk / "a.db";
  std::uint64_t stored = 0;
  {
    const auto store = open_store(path);
    const std::int64_t run = store->begin_run(run_info());
    const Error error = error_of([&] {
      while (stored < 10000) {
        store->append(run, numbered_measurement(stored + 1, 20));
        ++stored;
      }
    });
    EXPECT_EQ(error.exit_code(), ExitCode::error) << error.line();
    EXPECT_EQ(error.where(), path);
    EXPECT_FALSE(error.remedy().empty());
    EXPECT_EQ(store->run_measurements(run).size(), stored) << "readable by the same process";
  }
  EXPECT_GT(stored, 20u);
  const auto store = open_store_read_only(path);
  const auto rows = store->run_measurements(1);
  ASSERT_EQ(rows.size(), stored);
  for (std::uint64_t i = 0; i < stored; ++i) ASSERT_EQ(rows[i].seed, i + 1);
  EXPECT_TRUE(store->damaged().empty());
}

TEST(DiskFull, storing_goes_on_after_space_is_freed) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "a small tmpfs cannot be mounted here";
  const std::string path = disk / "a.db";
  make_database(path, 2);
  write_file(disk / "ballast", std::string(8 << 20, 'x'));
  error_of([&] {
    const auto store = open_store(path);
    for (int i = 0; i < 200; ++i) store->append(1, numbered_measurement(100, 200));
  });
  std::filesystem::remove(disk / "ballast");
  const auto store = open_store(path);
  const std::size_t before = store->run_measurements(1).size();
  EXPECT_GE(before, 2u);
  store->append(1, numbered_measurement(3));
  EXPECT_EQ(store->run_measurements(1).size(), before + 1);
}

TEST(DiskFull, a_database_that_cannot_be_made_is_an_error_that_names_it) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "a small tmpfs cannot be mounted here";
  write_file(disk / "ballast", std::string(8 << 20, 'x'));
  const Error error = error_of([&] { open_store(disk / "a.db"); });
  EXPECT_EQ(error.exit_code(), ExitCode::error) << error.line();
  EXPECT_NE(error.line().find(disk / "a.db"), std::string::npos) << error.line();
  EXPECT_FALSE(std::filesystem::exists(disk / "a.db"));
}

}  // namespace
}  // namespace halmark
