#include "worker/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "core/lists.hpp"
#include "host/process/operand_block.hpp"
#include "worker/data_limit.hpp"

namespace halmark::worker {
namespace {

constexpr std::uint64_t page_bytes = operand_page_bytes;

std::uint64_t round_up(std::uint64_t bytes) {
  return whole_pages(std::max<std::uint64_t>(bytes, 1));
}

}  // namespace

HostBlock::HostBlock(HostBlock&& other) noexcept
    : arena_(std::exchange(other.arena_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

HostBlock& HostBlock::operator=(HostBlock&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostBlock::~HostBlock() {
  if (!data_) return;
  if (arena_) {
    arena_->release(data_, bytes_);
  } else {
    munmap(data_, bytes_);
  }
}

HostMemory::HostMemory(SharedMemory arena) : arena_(std::move(arena)) {
  const auto whole = as_uint64(arena_.bytes()) / page_bytes * page_bytes;
  if (arena_ && whole > 0) free_[0] = whole;
}

HostBlock HostMemory::allocate_in_arena(std::uint64_t bytes) {
  const std::uint64_t wanted = round_up(bytes);
  const auto range =
      std::ranges::find_if(free_, [&](const auto& entry) { return entry.second >= wanted; });
  HostBlock block;
  if (range == free_.end()) return block;
  const auto [offset, available] = *range;
  free_.erase(range);
  if (available > wanted) free_[offset + wanted] = available - wanted;
  block.arena_ = this;
  block.data_ = arena_.data() + offset;
  block.bytes_ = wanted;
  return block;
}

HostBlock HostMemory::map_own(std::uint64_t bytes) {
  const std::uint64_t wanted = round_up(bytes);
  raise_data_limit(as_int64(wanted));
  void* mapped = mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  HostBlock block;
  block.data_ = static_cast<std::byte*>(mapped);
  block.bytes_ = wanted;
  return block;
}

std::uint64_t HostMemory::largest_free_bytes() const {
  std::uint64_t largest = 0;
  for (const auto& [offset, bytes] : free_) largest = std::max(largest, bytes);
  return largest;
}

void HostMemory::without_free_pages(const std::function<void()>& look) {
  for (const auto& [offset, bytes] : free_) {
    ::madvise(arena_.data() + offset, bytes, MADV_DONTNEED);  // shared: the content stays
  }
  look();
  for (const auto& [offset, bytes] : free_) fault_in(arena_.data() + offset, bytes);
}

void HostMemory::fault_in(std::byte* data, std::uint64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(data, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::uint64_t at = 0; at < bytes; at += page_bytes) {
    static_cast<void>(*static_cast<volatile std::byte*>(data + at));
  }
}

void HostMemory::release(std::byte* data, std::uint64_t bytes) noexcept {
  const auto offset = as_uint64(data - arena_.data());
  auto inserted = free_.emplace(offset, bytes).first;
  const auto next = std::next(inserted);
  if (next != free_.end() && inserted->first + inserted->second == next->first) {
    inserted->second += next->second;
    free_.erase(next);
  }
  if (inserted == free_.begin()) return;
  const auto before = std::prev(inserted);
  if (before->first + before->second != inserted->first) return;
  before->second += inserted->second;
  free_.erase(inserted);
}

}  // namespace halmark::worker
