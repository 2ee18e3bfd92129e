#include "journal/sqlite/writer_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>

#include "core/input/places.hpp"
#include "core/text/error.hpp"

namespace halmark::journal {
namespace {

std::string read_holder(int fd) {
  char text[256] = {};
  const ssize_t n = pread(fd, text, sizeof text - 1, 0);
  std::string out(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out.empty() ? "an unknown process" : out;
}

// Its text is written over: so it has to be a file that a writer made, not what somebody put there.
bool is_lock_file(int fd) {
  struct stat found {};
  if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) return false;
  return found.st_size == 0 || read_holder(fd).starts_with("pid ");
}

}  // namespace

std::string host_name() {
  char host[128] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

std::string utc_now() { return utc_text(std::time(nullptr)); }

std::string utc_text(std::time_t seconds) {
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

namespace {

int open_lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (fd < 0 && errno == ELOOP) {
    throw refused("the lock file of the database is a symbolic link", path, "move it away");
  }
  if (fd < 0) {
    throw Error(ExitCode::error, std::string("cannot open the lock file: ") + std::strerror(errno),
                path, remedy_of_place(path, "--db"));
  }
  if (is_lock_file(fd)) return fd;
  close(fd);
  throw refused("a writer of the database holds its lock here, and this is no lock of one", path,
                "move it away");
}

// A holder removes its file when it ends: whoever waited for it then holds a file without a name,
// and the next one would make another.
bool is_named(int fd, const std::string& path) {
  struct stat held {
  }, named{};
  return fstat(fd, &held) == 0 && lstat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

}  // namespace

WriterLock::WriterLock(const std::string& database_path, double wait_s)
    : path_(database_path + ".lock") {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait_s);
  fd_ = open_lock(path_);
  while (true) {
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) {
      if (is_named(fd_, path_)) break;
      close(fd_);
      fd_ = -1;
      fd_ = open_lock(path_);
      continue;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      const std::string holder = read_holder(fd_);
      close(fd_);
      fd_ = -1;
      throw refused("another process writes this database: " + holder, database_path,
                    "wait for it, end it, or name another file with --db");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::string holder =
      "pid " + std::to_string(getpid()) + " on " + host_name() + " since " + utc_now() + '\n';
  if (ftruncate(fd_, 0) != 0 ||
      pwrite(fd_, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size())) {
    const int code = errno;
    close(fd_);
    throw Error(ExitCode::error, std::string("cannot write the lock file: ") + std::strerror(code),
                path_, "free space where the database lives");
  }
}

std::string writer_of(const std::string& database_path) {
  const std::string path = database_path + ".lock";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return {};
  // Shared with other readers; a writer that comes meanwhile tries again.
  const bool is_held = is_lock_file(fd) && flock(fd, LOCK_SH | LOCK_NB) != 0;
  const std::string holder = is_held ? read_holder(fd) : std::string();
  close(fd);
  return holder;
}

WriterLock::~WriterLock() {
  if (fd_ < 0) return;
  if (is_named(fd_, path_)) unlink(path_.c_str());  // while it is held, so that it is nobody else's
  close(fd_);
}

}  // namespace halmark::journal
