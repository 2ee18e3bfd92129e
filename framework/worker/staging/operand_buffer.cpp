#include "worker/staging/operand_buffer.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/lists.hpp"
#include "host/process/operand_block.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

constexpr std::uint64_t canary_bytes = operand_canary_bytes;
constexpr int canary_value = 0xC5;
constexpr int poison_value = 0xFF;

bool is_canary(const std::byte* begin) {
  return std::all_of(begin, begin + canary_bytes,
                     [](std::byte byte) { return byte == std::byte{canary_value}; });
}

// Whole up to 8 MiB; of larger buffers 256 slices from the first byte to the last. Reading every
// byte of a language model's head would take as long as running it.
std::uint64_t sum_of(const std::byte* data, std::uint64_t bytes) {
  constexpr std::uint64_t whole_max = 8 << 20;
  constexpr std::uint64_t slices = 256;
  constexpr std::uint64_t slice_bytes = 16 << 10;
  if (bytes <= whole_max) return XXH3_64bits(data, bytes);
  std::uint64_t sum = bytes;
  for (const std::uint64_t i : below(slices)) {
    const std::uint64_t offset = (bytes - slice_bytes) / (slices - 1) * i;
    sum = XXH3_64bits_withSeed(data + offset, slice_bytes, sum);
  }
  return XXH3_64bits_withSeed(data + bytes - slice_bytes, slice_bytes, sum);
}

std::byte* align_up(std::byte* address, std::uint64_t alignment) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  return address + ((alignment - value % alignment) % alignment);
}

}  // namespace

std::optional<OperandBuffer> OperandBuffer::create(OpenDevice& device, HostMemory& memory,
                                                   std::uint64_t bytes, std::uint64_t alignment,
                                                   Fallback fallback) {
  OperandBuffer made;
  made.bytes_ = bytes;
  alignment = std::max(alignment, operand_alignment_min);
  if (!device.can_wrap()) {
    made.buffer_ = take(device.create_buffer(bytes + canary_bytes, alignment), "create");
    std::array<std::byte, canary_bytes> canary;
    canary.fill(std::byte{canary_value});
    check(made.buffer_.write(bytes, canary.data(), canary_bytes), "create");
    return made;
  }
  const std::uint64_t whole = operand_block_bytes(bytes, alignment);
  made.block_ = memory.allocate_in_arena(whole);
  if (!made.block_) {
    if (fallback == Fallback::none && memory.has_arena()) return std::nullopt;
    made.block_ = HostMemory::map_own(whole);
  }
  made.host_ = align_up(made.block_.data() + canary_bytes, alignment);
  std::memset(made.host_ - canary_bytes, canary_value, canary_bytes);
  std::memset(made.host_ + bytes, canary_value, canary_bytes);
  made.buffer_ = take(device.wrap(made.host_, bytes), "create");
  return made;
}

void OperandBuffer::write(const std::byte* source, std::uint64_t count) {
  if (host_) {
    std::memcpy(host_, source, count);
  } else {
    check(buffer_.write(0, source, count), "create");
  }
}

void OperandBuffer::read(std::byte* target, std::uint64_t count) { read_at(0, target, count); }

void OperandBuffer::write_at(std::uint64_t begin, const std::byte* source, std::uint64_t count) {
  if (host_) {
    std::memcpy(host_ + begin, source, count);
  } else {
    check(buffer_.write(begin, source, count), "sample");
  }
}

void OperandBuffer::read_at(std::uint64_t begin, std::byte* target, std::uint64_t count) {
  if (host_) {
    std::memcpy(target, host_ + begin, count);
  } else {
    check(buffer_.read(begin, target, count), "reveal");
  }
}

void OperandBuffer::poison() {
  if (host_) {
    std::memset(host_, poison_value, bytes_);
    return;
  }
  const std::vector<std::byte> pattern(bytes_, std::byte{poison_value});
  write(pattern.data(), bytes_);
}

void OperandBuffer::poison_line(std::uint64_t offset) {
  if (bytes_ == 0) return;
  const std::uint64_t begin = offset % bytes_ / line_bytes * line_bytes;
  const std::uint64_t count = std::min(line_bytes, bytes_ - begin);
  if (host_) {
    std::memset(host_ + begin, poison_value, count);
    return;
  }
  std::array<std::byte, line_bytes> line;
  line.fill(std::byte{poison_value});
  // A device that fails here fails the launch that follows, and is blamed there.
  static_cast<void>(buffer_.write(begin, line.data(), count));
}

std::uint64_t OperandBuffer::checksum() {
  if (host_) return sum_of(host_, bytes_);
  std::vector<std::byte> copy(bytes_);
  read(copy.data(), bytes_);
  return sum_of(copy.data(), bytes_);
}

bool OperandBuffer::canaries_intact() const {
  if (host_) return is_canary(host_ - canary_bytes) && is_canary(host_ + bytes_);
  std::array<std::byte, canary_bytes> behind;
  check(buffer_.read(bytes_, behind.data(), canary_bytes), "reveal");
  return is_canary(behind.data());
}

}  // namespace halmark::worker
