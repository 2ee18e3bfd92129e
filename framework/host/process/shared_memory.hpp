// Anonymous memory that several processes map: arenas, barriers and revealed outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "host/process/file_descriptor.hpp"

namespace halmark {

enum class Access { read_only, read_write };

// Owner of a memfd and its mapping in this process. Throws std::system_error.
class SharedMemory {
 public:
  SharedMemory() = default;
  // Creates and maps `bytes` of zeros. `populate` faults every page in now: fresh pages cost up to
  // 2.5 ms per MB when they are met inside a measurement.
  static SharedMemory create(const std::string& name, std::int64_t bytes, bool populate);
  // Maps a descriptor that arrived beside a frame; refuses one that is shorter than `bytes`,
  // because a later access would be SIGBUS.
  static SharedMemory map(FileDescriptor fd, std::int64_t bytes, Access access, bool populate);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // Longer by zeros; the pages that are there stay. It may be mapped elsewhere in this process
  // afterwards; who mapped it before keeps the shorter part. Throws std::system_error and stays as
  // it is.
  void grow(std::int64_t bytes);

  // Faults the pages of a part in.
  void populate(std::int64_t begin, std::int64_t bytes);

  // Takes the pages out of this process's page tables: they stay in the memory and come back when
  // they are touched. What others map is then counted for them alone.
  void let_go_of_pages() noexcept;

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  int fd() const { return fd_.get(); }
  explicit operator bool() const { return data_ != nullptr; }
  std::span<const std::byte> view() const { return {data_, static_cast<std::size_t>(bytes_)}; }

 private:
  void unmap() noexcept;
  FileDescriptor fd_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace halmark
