#include "journal/file/file_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace halmark::journal {

FilePlace::FilePlace(std::string path) : path_(std::move(path)) {
  fd_ = open(path_.c_str(), O_PATH | O_CLOEXEC);
  struct stat now {};
  if (fd_ < 0 || fstat(fd_, &now) != 0) return;
  device_ = now.st_dev;
  inode_ = now.st_ino;
  remember_content();
}

FilePlace::~FilePlace() {
  if (fd_ >= 0) close(fd_);
}

std::string FilePlace::fault() const {
  if (fd_ < 0) return {};  // there was none, so none can go
  struct stat named {
  }, own{};
  const bool is_named = stat(path_.c_str(), &named) == 0;
  if (is_named && named.st_dev == device_ && named.st_ino == inode_) return {};
  const bool has_a_name = fstat(fd_, &own) == 0 && own.st_nlink > 0;
  if (!is_named) return has_a_name ? "moved away" : "deleted";
  return has_a_name ? "moved away and replaced by another file" : "replaced by another file";
}

FilePlace::Content FilePlace::content() const {
  struct stat now {};
  if (fd_ < 0 || fstat(fd_, &now) != 0) return {};
  return {now.st_size, now.st_mtim};
}

void FilePlace::remember_content() { content_ = content(); }

bool FilePlace::has_other_content() const {
  const Content now = content();
  return now.bytes != content_.bytes || now.written.tv_sec != content_.written.tv_sec ||
         now.written.tv_nsec != content_.written.tv_nsec;
}

}  // namespace halmark::journal
