// A file is looked at before it is opened (opening a device can do things) and again afterwards,
// for it may have been exchanged in between; O_NONBLOCK keeps a FIFO from waiting for its writer.
#include "core/input/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr std::string_view pipe_path = "-";

std::string type_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "no regular file";
}

Error unreadable(const std::string& name, const InputKind& kind, int number) {
  return refused("cannot be read: " + std::string(std::strerror(number)), name,
                 std::string(kind.remedy));
}

void require_regular(const struct stat& about, const std::string& name, const InputKind& kind) {
  if (S_ISREG(about.st_mode)) return;
  throw refused("cannot be read: it is " + type_of(about.st_mode), name,
                kind.may_be_pipe ? "name a regular file, or - for a pipe on standard input"
                                 : "name a regular file");
}

Error too_large(const std::string& what, const std::string& name, const InputKind& kind) {
  return refused(
      what + "; the limit of " + std::string(kind.name) + " is " + std::to_string(kind.bytes_max),
      name);
}

}  // namespace

InputFile::InputFile(const std::string& path, const InputKind& kind)
    : kind_(kind), name_(kind.may_be_pipe ? input_name(path) : path) {
  try {
    if (path == pipe_path && kind.may_be_pipe) {
      open_pipe();
    } else {
      open_file(path);
    }
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw;
  }
}

InputFile::InputFile(InputFile&& other) noexcept
    : kind_(other.kind_),
      name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_pipe_(other.is_pipe_),
      bytes_(other.bytes_),
      read_(other.read_),
      begin_(other.begin_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::open_pipe() {
  struct stat about {};
  if (::fstat(STDIN_FILENO, &about) != 0) throw unreadable(name_, kind_, errno);
  is_pipe_ = S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode);
  if (!is_pipe_ && !S_ISREG(about.st_mode)) {
    throw refused("cannot be read: it is no pipe but " + type_of(about.st_mode), name_,
                  "pipe a file in, or name one");
  }
  descriptor_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  if (descriptor_ < 0) throw unreadable(name_, kind_, errno);
  if (is_pipe_) return;
  // A redirected file, of which something may have been read.
  const off_t at = std::max<off_t>(0, ::lseek(descriptor_, 0, SEEK_CUR));
  begin_ = as_uint64(at);
  bytes_ = as_uint64(std::max<off_t>(0, about.st_size - at));
  if (bytes_ > kind_.bytes_max)
    throw too_large("has " + std::to_string(bytes_) + " bytes", name_, kind_);
}

void InputFile::open_file(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) throw unreadable(name_, kind_, errno);
  require_regular(about, name_, kind_);
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0) throw unreadable(name_, kind_, errno);
  require_regular(about, name_, kind_);
  bytes_ = as_uint64(about.st_size);
  if (bytes_ > kind_.bytes_max)
    throw too_large("has " + std::to_string(bytes_) + " bytes", name_, kind_);
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

std::size_t InputFile::read_some(std::span<char> out) {
  for (;;) {
    const ssize_t n = ::read(descriptor_, out.data(), out.size());
    if (n >= 0) return as_size(n);
    if (errno != EINTR) throw unreadable(name_, kind_, errno);
  }
}

std::size_t InputFile::read(std::span<char> out) {
  // One byte beyond what there may be tells that there is more.
  const std::uint64_t most = (is_pipe_ ? kind_.bytes_max : bytes_) + 1;
  std::size_t done = 0;
  while (done < out.size()) {
    const auto wanted = as_size(std::min<std::uint64_t>(out.size() - done, most - read_));
    const std::size_t n = read_some(out.subspan(done, wanted));
    read_ += n;
    if (read_ == most) {
      if (is_pipe_) throw too_large("gives more bytes than are taken", name_, kind_);
      throw refused(
          "gives more than the " + std::to_string(bytes_) + " bytes that it had when it was opened",
          name_, "read it when nothing writes to it");
    }
    if (n == 0) {
      require_unchanged();
      break;
    }
    done += n;
  }
  return done;
}

void InputFile::read_at(std::uint64_t offset, std::span<char> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::pread(descriptor_, out.data() + done, out.size() - done,
                              static_cast<off_t>(begin_ + offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw unreadable(name_, kind_, errno);
    if (n == 0) {
      throw refused("has become shorter than the " + std::to_string(bytes_) +
                        " bytes that it had when it was opened",
                    name_, "read it when nothing writes to it");
    }
    done += as_size(n);
  }
}

void InputFile::require_unchanged() const {
  if (is_pipe_ || read_ == bytes_) return;
  throw refused("ended after " + std::to_string(read_) + " of the " + std::to_string(bytes_) +
                    " bytes that it had when it was opened",
                name_, "read it when nothing writes to it");
}

std::string InputFile::read_rest() {
  std::string out;
  std::size_t have = 0;
  // A block at a time: neither a size that is stated nor a pipe makes memory before there are
  // bytes. The last read, of nothing, is what looks for more.
  for (std::size_t block = std::size_t{64} << 10;;
       block = std::min(block * 2, std::size_t{8} << 20)) {
    out.resize(have + block);
    const std::size_t n = read(std::span(out).subspan(have));
    have += n;
    if (n < block) break;
  }
  out.resize(have);
  return out;
}

std::string read_input(const std::string& path, const InputKind& kind) {
  return InputFile(path, kind).read_rest();
}

std::string input_name(const std::string& path) {
  return path == pipe_path ? "standard input" : path;
}

}  // namespace halmark
