#include "host/memory_copy.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/lists.hpp"

namespace halmark::protocol {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::uint64_t copied_bytes_max = std::uint64_t{1} << 36;  // outputs of one case

bool write_file(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= as_size(written);
  }
  return true;
}

}  // namespace

bool send_memory(int fd, const WriteAll& write) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || status.st_size < 0) return false;
  const auto bytes = as_uint64(status.st_size);
  if (!write(reinterpret_cast<const char*>(&bytes), sizeof bytes)) return false;
  std::vector<char> piece(std::min<std::uint64_t>(piece_bytes, bytes));
  for (std::uint64_t at = 0; at < bytes;) {
    const auto wanted = std::min<std::uint64_t>(piece.size(), bytes - at);
    const ssize_t got = ::pread(fd, piece.data(), wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !write(piece.data(), as_size(got))) return false;
    at += as_uint64(got);
  }
  return true;
}

std::string receive_memory(const ReadAll& read, FileDescriptor& memory) {
  std::uint64_t left = 0;
  if (!read(&left, sizeof left)) return "the length of the memory did not arrive";
  if (left > copied_bytes_max) {
    return "memory of " + std::to_string(left) + " bytes exceeds the limit of " +
           std::to_string(copied_bytes_max);
  }
  FileDescriptor fd(::memfd_create("halmark-copy", MFD_CLOEXEC));
  if (!fd) return std::string("memfd_create: ") + std::strerror(errno);
  std::vector<char> piece(std::min<std::uint64_t>(piece_bytes, left));
  while (left > 0) {
    const auto count = as_size(std::min<std::uint64_t>(piece.size(), left));
    if (!read(piece.data(), count)) return "the memory did not arrive whole";
    if (!write_file(fd.get(), piece.data(), count)) {
      return std::string("a copy of memory: ") + std::strerror(errno);
    }
    left -= count;
  }
  memory = std::move(fd);
  return {};
}

}  // namespace halmark::protocol
