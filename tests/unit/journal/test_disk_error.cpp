// A disk that fails: the n-th write or sync of the database ends with an I/O error. What was stored
// before is there, the error has its path, and storing goes on when the disk is well again.

#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"
#include "verify/database.hpp"

namespace halmark {
namespace {

using namespace test;

// A file system of SQLite over the one of the machine; in this process everything goes through it.
class FailingDisk {
 public:
  enum class Call { write, sync };

  FailingDisk() {
    below_ = sqlite3_vfs_find(nullptr);
    vfs_ = *below_;
    vfs_.zName = "failing";
    vfs_.szOsFile = below_->szOsFile + static_cast<int>(sizeof(File));
    vfs_.xOpen = open;
    vfs_.pAppData = this;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~FailingDisk() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(below_, 1);
  }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;

  // The n-th of these calls from now on fails, and all behind it.
  void fail_at(Call call, int n) {
    failing_ = call;
    left_ = n;
  }
  void heal() { left_ = -1; }

 private:
  // Behind it the file of the file system below, which SQLite has made room for.
  struct File {
    sqlite3_file base;
    FailingDisk* disk;
    sqlite3_io_methods methods;
  };
  static sqlite3_file* below_of(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<File*>(file) + 1);
  }

  int result_of(Call call, int code) {
    if (left_ < 0 || call != failing_) return SQLITE_OK;
    if (left_ > 0) --left_;
    return left_ == 0 ? code : SQLITE_OK;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* disk = static_cast<FailingDisk*>(vfs->pAppData);
    auto* ours = reinterpret_cast<File*>(file);
    ours->base.pMethods = nullptr;
    ours->disk = disk;
    const int result = disk->below_->xOpen(disk->below_, name, below_of(file), flags, out);
    if (below_of(file)->pMethods != nullptr) {
      ours->methods = methods_of(*below_of(file)->pMethods);
      ours->base.pMethods = &ours->methods;
    }
    return result;
  }

  // Passes a call on to the file below.
  template <auto Member>
  struct Pass;
  template <class... Arguments, int (*sqlite3_io_methods::*Member)(sqlite3_file*, Arguments...)>
  struct Pass<Member> {
    static int call(sqlite3_file* file, Arguments... arguments) {
      return (below_of(file)->pMethods->*Member)(below_of(file), arguments...);
    }
  };

  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
    const int fault =
        reinterpret_cast<File*>(file)->disk->result_of(Call::write, SQLITE_IOERR_WRITE);
    if (fault != SQLITE_OK) return fault;
    return Pass<&sqlite3_io_methods::xWrite>::call(file, bytes, count, at);
  }
  static int sync(sqlite3_file* file, int flags) {
    const int fault =
        reinterpret_cast<File*>(file)->disk->result_of(Call::sync, SQLITE_IOERR_FSYNC);
    if (fault != SQLITE_OK) return fault;
    return Pass<&sqlite3_io_methods::xSync>::call(file, flags);
  }
  static void barrier(sqlite3_file* file) { below_of(file)->pMethods->xShmBarrier(below_of(file)); }

  static sqlite3_io_methods methods_of(const sqlite3_io_methods& below) {
    sqlite3_io_methods out{};
    out.iVersion = std::min(below.iVersion, 2);  // without memory maps
    out.xClose = Pass<&sqlite3_io_methods::xClose>::call;
    out.xRead = Pass<&sqlite3_io_methods::xRead>::call;
    out.xWrite = write;
    out.xTruncate = Pass<&sqlite3_io_methods::xTruncate>::call;
    out.xSync = sync;
    out.xFileSize = Pass<&sqlite3_io_methods::xFileSize>::call;
    out.xLock = Pass<&sqlite3_io_methods::xLock>::call;
    out.xUnlock = Pass<&sqlite3_io_methods::xUnlock>::call;
    out.xCheckReservedLock = Pass<&sqlite3_io_methods::xCheckReservedLock>::call;
    out.xFileControl = Pass<&sqlite3_io_methods::xFileControl>::call;
    out.xSectorSize = Pass<&sqlite3_io_methods::xSectorSize>::call;
    out.xDeviceCharacteristics = Pass<&sqlite3_io_methods::xDeviceCharacteristics>::call;
    out.xShmMap = Pass<&sqlite3_io_methods::xShmMap>::call;
    out.xShmLock = Pass<&sqlite3_io_methods::xShmLock>::call;
    out.xShmBarrier = barrier;
    out.xShmUnmap = Pass<&sqlite3_io_methods::xShmUnmap>::call;
    return out;
  }

  sqlite3_vfs* below_ = nullptr;
  sqlite3_vfs vfs_{};
  Call failing_ = Call::write;
  int left_ = -1;
};

class DiskError : public testing::TestWithParam<FailingDisk::Call> {};

TEST_P(DiskError, at_any_call_loses_no_stored_row) {
  for (int n = 1; n <= 12; ++n) {
    const ScratchFolder folder;
    const std::string path = folder / "a.db";
    FailingDisk disk;
    make_database(path, 2);
    std::uint64_t stored = 2;
    {
      const auto store = open_store(path);
      disk.fail_at(GetParam(), n);
      const Error error = error_of([&] {
        while (stored < 100) {
          store->append(1, numbered_measurement(stored + 1));
          ++stored;
        }
      });
      EXPECT_EQ(error.exit_code(), ExitCode::error) << error.line();
      EXPECT_NE(error.line().find(path), std::string::npos) << error.line();
    }
    disk.heal();
    EXPECT_TRUE(check_database(path).findings.empty()) << "call " << n;
    const auto rows = open_store_read_only(path)->run_measurements(1);
    // The row whose commit failed may be there: nobody was told of it.
    ASSERT_GE(rows.size(), stored) << "call " << n;
    ASSERT_LE(rows.size(), stored + 1) << "call " << n;
    for (std::uint64_t i = 0; i < stored; ++i) EXPECT_EQ(rows[i].seed, i + 1);
    open_store(path)->append(1, numbered_measurement(1000));
    EXPECT_EQ(open_store_read_only(path)->run_measurements(1).back().seed, 1000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, DiskError,
                         testing::Values(FailingDisk::Call::write, FailingDisk::Call::sync),
                         [](const auto& info) {
                           return info.param == FailingDisk::Call::write ? "write" : "sync";
                         });

}  // namespace
}  // namespace halmark
