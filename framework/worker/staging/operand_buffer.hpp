// One operand of one argument set: a device buffer, over host memory with canaries where the device
// computes in host memory. Elsewhere a canary lies behind it, in the device's own memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/plugin/plugin.hpp"
#include "worker/host_memory.hpp"

namespace halmark::worker {

inline constexpr std::uint64_t line_bytes = 64;  // of a cache, as checks draw and marks lie

enum class Fallback { own_mapping, none };

class OperandBuffer {
 public:
  OperandBuffer() = default;
  // Wraps arena memory when the device can, else lets the device allocate. Nothing when the arena
  // is full and `fallback` is none. Throws RequestFailed (phase "create") and std::bad_alloc.
  static std::optional<OperandBuffer> create(OpenDevice& device, HostMemory& memory,
                                             std::uint64_t bytes, std::uint64_t alignment,
                                             Fallback fallback);

  hm_buffer* handle() const { return buffer_.handle(); }
  std::uint64_t bytes() const { return bytes_; }
  // With canaries and alignment, where the operand lies in memory of this process.
  std::uint64_t allocated_bytes() const { return block_ ? block_.bytes() : bytes_; }
  std::byte* host() const { return host_; }  // null when only the device can reach it

  // Whole-buffer transfers; `count` <= bytes().
  void write(const std::byte* source, std::uint64_t count);
  void read(std::byte* target, std::uint64_t count);
  // Of a stretch; begin + count <= bytes().
  void write_at(std::uint64_t begin, const std::byte* source, std::uint64_t count);
  void read_at(std::uint64_t begin, std::byte* target, std::uint64_t count);
  // 0xFF everywhere: NaN in every float type, -1 in signed integers.
  void poison();
  // The same for 64 bytes at `offset`, cheap enough for every sample.
  void poison_line(std::uint64_t offset);
  // Of the whole up to 8 MiB, of spread slices beyond.
  std::uint64_t checksum();
  bool canaries_intact() const;

 private:
  HostBlock block_;              // outlives the buffer over it
  mutable DeviceBuffer buffer_;  // a plugin's calls are not const
  std::byte* host_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace halmark::worker
