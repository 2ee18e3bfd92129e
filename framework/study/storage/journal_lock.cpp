#include "study/storage/journal_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"

namespace halmark::journal {
namespace {

using Clock = SteadyClock;

// Sleeps a little longer each time.
class Pause {
 public:
  void operator()() {
    std::this_thread::sleep_for(std::chrono::microseconds(wait_us_));
    wait_us_ = std::min(wait_us_ * 3 / 2, 4000);
  }

 private:
  int wait_us_ = 200;
};

// Elsewhere an advisory lock may hold on this host only: then it proves nothing about a link.
bool locks_hold_everywhere(int fd) {
  struct statfs info {};
  if (fstatfs(fd, &info) != 0) return false;
  constexpr std::array<unsigned long, 6> local = {0xEF53,      // ext2, ext3, ext4
                                                  0x58465342,  // xfs
                                                  0x9123683E,  // btrfs
                                                  0x01021994,  // tmpfs
                                                  0x794C7630,  // overlayfs
                                                  0x2FC12FC1};
  return contains(local, static_cast<unsigned long>(info.f_type));
}

std::string link_target(const std::string& link) {
  std::array<char, 4096> text{};
  const ssize_t n = readlink(link.c_str(), text.data(), text.size());
  return n > 0 ? std::string(text.data(), as_size(n)) : std::string();
}

// What moves while a lock is in use: the link or exclusive file itself, and the journal behind it.
struct Movement {
  ino_t inode = 0;
  timespec link{}, file{};
  bool operator==(const Movement& o) const {
    return inode == o.inode && link.tv_sec == o.link.tv_sec && link.tv_nsec == o.link.tv_nsec &&
           file.tv_sec == o.file.tv_sec && file.tv_nsec == o.file.tv_nsec;
  }
};

bool movement_of(const std::string& link, int fd, Movement& out) {
  struct stat of_link {
  }, of_file{};
  if (lstat(link.c_str(), &of_link) != 0 || fstat(fd, &of_file) != 0) return false;
  out = {of_link.st_ino, of_link.st_mtim, of_file.st_mtim};
  return true;
}

// Renamed first, so that of several who take over only one removes it.
bool remove_link(const std::string& link) {
  const std::string aside = link + '.' + std::to_string(getpid()) + ".rename";
  return rename(link.c_str(), aside.c_str()) == 0 && unlink(aside.c_str()) == 0;
}

}  // namespace

bool StudyJournalLock::make_link() {
  if (symlink(target_.c_str(), link_.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  const std::string why = std::strerror(errno);
  flock(fd_, LOCK_UN);
  throw Error(ExitCode::error, "the lock cannot be made: " + why, link_);
}

StudyJournalLock::StudyJournalLock(const std::string& path, int fd, const StudyLockTimes& times)
    : path_(path), link_(path + ".lock"), fd_(fd) {
  // Relative to the link's folder, so that Optuna's look through the link finds the journal.
  target_ = "./" + std::filesystem::path(path).filename().string();
  const auto begin = Clock::now();
  for (Pause pause; flock(fd_, LOCK_EX | LOCK_NB) != 0; pause()) {
    if (seconds_since(begin) > times.wait_max_s) {
      throw Error(ExitCode::error, "another process writes this journal and does not end", path,
                  "end it, or keep the studies in PostgreSQL");
    }
  }
  const bool is_local = locks_hold_everywhere(fd_);
  Movement last;
  auto since = Clock::now();
  for (Pause pause; !make_link(); pause()) {
    if (is_local && link_target(link_) == target_) {
      if (remove_link(link_)) note_ = "the lock of a killed process was taken over";
      continue;
    }
    Movement now;
    if (!movement_of(link_, fd_, now)) continue;
    if (!(now == last)) {
      last = now;
      since = Clock::now();
    }
    if (seconds_since(since) > times.grace_s) {
      if (remove_link(link_)) {
        note_ = "a lock that had not moved for " + std::to_string(as_int(times.grace_s)) +
                " s was taken over";
      }
      since = Clock::now();
    }
    if (seconds_since(begin) > times.wait_max_s) {
      flock(fd_, LOCK_UN);
      throw Error(ExitCode::error, "another process keeps the lock of this journal", link_,
                  "end it; remove the lock when no process holds it");
    }
  }
}

StudyJournalLock::~StudyJournalLock() {
  unlink(link_.c_str());
  flock(fd_, LOCK_UN);
}

}  // namespace halmark::journal
