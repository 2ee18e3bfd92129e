// A spin barrier in shared memory: the common start of every sample of shards measured together.
// Lock-free and address-free, so it works between processes that map it at different addresses.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <utility>

#include "host/process/shared_memory.hpp"
#include "host/process/start_barrier.hpp"

namespace halmark {

// One per process, over one memfd. Every party calls arrive_and_spin the same number of times.
class SharedBarrier : public StartBarrier {
 public:
  static constexpr std::int64_t shared_bytes = 4096;

  // In the parent: makes the memory whose descriptor travels beside sample and sequence requests.
  static SharedBarrier create() {
    SharedBarrier barrier(SharedMemory::create("halmark-barrier", shared_bytes, true));
    new (barrier.memory_.data()) State;
    return barrier;
  }
  // In a worker.
  static SharedBarrier map(FileDescriptor fd) {
    return SharedBarrier(SharedMemory::map(std::move(fd), shared_bytes, Access::read_write, true));
  }

  int fd() const { return memory_.fd(); }

  // Waits until `parties` have arrived in this generation. A party that waits longer than `timeout`
  // aborts the barrier for everybody: the others leave with `aborted` instead of waiting for a
  // shard that died.
  BarrierOutcome arrive_and_spin(int parties, std::chrono::nanoseconds timeout) override {
    State& shared = state();
    if (shared.aborted.load(std::memory_order_acquire)) return BarrierOutcome::aborted;
    const std::uint32_t generation = shared.generation.load(std::memory_order_acquire);
    if (shared.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
        static_cast<std::uint32_t>(parties)) {
      shared.arrived.store(0, std::memory_order_relaxed);
      shared.generation.store(generation + 1, std::memory_order_release);
      return BarrierOutcome::released;
    }
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint32_t spins = 1;; ++spins) {
      if (shared.generation.load(std::memory_order_acquire) != generation) {
        return BarrierOutcome::released;
      }
      if (shared.aborted.load(std::memory_order_acquire)) return BarrierOutcome::aborted;
      pause();
      if (spins % clock_every != 0) continue;
      if (std::chrono::steady_clock::now() - begin > timeout) {
        abort();
        return BarrierOutcome::timed_out;
      }
      // Parties that share a core could otherwise spin away the time slice of the late one.
      if (spins >= yield_after) ::sched_yield();
    }
  }

  // Ends every present and future wait; a barrier is not used again after it.
  void abort() override { state().aborted.store(1, std::memory_order_release); }

 private:
  static constexpr std::uint32_t clock_every = 64;
  static constexpr std::uint32_t yield_after = 4096;

  // One cache line each: arrivals must not disturb those who spin on the generation.
  struct State {
    alignas(64) std::atomic<std::uint32_t> arrived{0};
    alignas(64) std::atomic<std::uint32_t> generation{0};
    alignas(64) std::atomic<std::uint32_t> aborted{0};
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  static_assert(sizeof(State) <= shared_bytes);

  explicit SharedBarrier(SharedMemory memory) : memory_(std::move(memory)) {}
  State& state() { return *std::launder(reinterpret_cast<State*>(memory_.data())); }
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  SharedMemory memory_;
};

}  // namespace halmark
