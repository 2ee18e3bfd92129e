#include "host/process/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/numeric/cast.hpp"

namespace halmark {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

SharedMemory SharedMemory::create(const std::string& name, std::int64_t bytes, bool populate) {
  FileDescriptor fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) fail("memfd_create");
  if (::ftruncate(fd.get(), bytes) != 0) fail("ftruncate of a memfd");
  // A peer that shrinks the file would turn our next access into SIGBUS.
  ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  return map(std::move(fd), bytes, Access::read_write, populate);
}

SharedMemory SharedMemory::map(FileDescriptor fd, std::int64_t bytes, Access access,
                               bool populate) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail("fstat of shared memory");
  if (bytes <= 0 || status.st_size < bytes) {
    errno = EINVAL;
    fail("shared memory of " + std::to_string(status.st_size) + " bytes cannot be mapped as " +
         std::to_string(bytes));
  }
  const int protection = access == Access::read_write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, as_size(bytes), protection,
                         MAP_SHARED | (populate ? MAP_POPULATE : 0), fd.get(), 0);
  if (address == MAP_FAILED) fail("mmap of shared memory");
  SharedMemory memory;
  memory.fd_ = std::move(fd);
  memory.data_ = static_cast<std::byte*>(address);
  memory.bytes_ = bytes;
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    unmap();
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

SharedMemory::~SharedMemory() { unmap(); }

void SharedMemory::grow(std::int64_t bytes) {
  if (bytes <= bytes_) return;
  FileDescriptor same(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!same) fail("dup of a memfd");
  if (::ftruncate(same.get(), bytes) != 0) fail("ftruncate of a memfd");
  *this = map(std::move(same), bytes, Access::read_write, false);
}

// Where the kernel does not know the advice (before Linux 5.14), pages come when they are touched.
void SharedMemory::populate(std::int64_t begin, std::int64_t bytes) {
  std::byte* const data = data_ + begin;
  if (::madvise(data, as_size(bytes), MADV_POPULATE_WRITE) == 0) return;
  for (std::int64_t page = 0; errno == EINVAL && page < bytes; page += 4096) {
    static_cast<volatile std::byte*>(data)[page] = data[page];
  }
}

void SharedMemory::let_go_of_pages() noexcept {
  if (data_) ::madvise(data_, as_size(bytes_), MADV_DONTNEED);
}

void SharedMemory::unmap() noexcept {
  if (data_) ::munmap(data_, as_size(bytes_));
  data_ = nullptr;
}

}  // namespace halmark
