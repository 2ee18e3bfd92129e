// Memory for operands: ranges of the parent's arena, and mappings of our own when it is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "host/process/shared_memory.hpp"

namespace halmark::worker {

class HostMemory;

// Owner of one range; must not outlive its HostMemory.
class HostBlock {
 public:
  HostBlock() = default;
  HostBlock(HostBlock&& other) noexcept;
  HostBlock& operator=(HostBlock&& other) noexcept;
  ~HostBlock();
  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  friend class HostMemory;
  HostMemory* arena_ = nullptr;  // null: a mapping of its own
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// The arena was faulted in and filled once by the parent: fresh pages of a virtual machine cost up
// to 2.5 ms per MB, in every process again. First fit over the free ranges; ranges are aligned to
// 4096 bytes, so that a case meets the same offsets whatever was staged before in sizes.
class HostMemory {
 public:
  explicit HostMemory(SharedMemory arena = {});
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  bool has_arena() const { return static_cast<bool>(arena_); }
  // Empty when the arena has no room (or there is none).
  HostBlock allocate_in_arena(std::uint64_t bytes);
  // Pages of this process alone, faulted in; throws std::bad_alloc.
  static HostBlock map_own(std::uint64_t bytes);
  // Largest free range.
  std::uint64_t largest_free_bytes() const;
  SharedMemory& arena() { return arena_; }
  // Calls `look` while this process maps no page of the free ranges; they are faulted in again
  // afterwards, because what is timed must not meet a fault.
  void without_free_pages(const std::function<void()>& look);

 private:
  friend class HostBlock;
  void release(std::byte* data, std::uint64_t bytes) noexcept;
  void fault_in(std::byte* data, std::uint64_t bytes) noexcept;

  SharedMemory arena_;
  std::map<std::uint64_t, std::uint64_t> free_;  // offset -> bytes
};

}  // namespace halmark::worker
