#include "stream.hpp"

#include <algorithm>
#include <new>

#include "kernels.hpp"

namespace hm_cuda {
namespace {

constexpr std::uint64_t least_flush_bytes = 16u << 20;

std::uint64_t flush_bytes(int ordinal) {
  int cache_bytes = 0;
  check(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, ordinal), "L2 cache size");
  return std::max(least_flush_bytes, 2 * static_cast<std::uint64_t>(cache_bytes));
}

}  // namespace

DeviceMemory allocate_device(std::uint64_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::uint64_t>(bytes, 1)), "cudaMalloc");
  return DeviceMemory(memory);
}

Stream::Stream(int ordinal) : ordinal_(ordinal) {
  check(cudaSetDevice(ordinal), "cudaSetDevice");
  check(cudaStreamCreate(&stream_), "cudaStreamCreate");
}

Stream::~Stream() {
  if (gate_) gate_->released = ticket_;
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

void Stream::wait() { check(cudaStreamSynchronize(stream_), "a queued command"); }

void Stream::hold(std::uint64_t timeout_ns) {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  if (!gate_) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(Gate), cudaHostAllocMapped), "cudaHostAlloc");
    gate_.reset(new (memory) Gate);
    void* on_device = nullptr;
    check(cudaHostGetDevicePointer(&on_device, memory, 0), "cudaHostGetDevicePointer");
    gate_on_device_ = static_cast<Gate*>(on_device);
  }
  check(launch_hold(stream_, &gate_on_device_->released, &gate_on_device_->expired, ++ticket_,
                    timeout_ns),
        "the holding kernel");
}

void Stream::unhold() {
  if (!gate_) throw plug::failure(HM_INVALID_ARGUMENT, "the stream is not held");
  const bool has_expired = gate_->expired == ticket_;
  gate_->released = ticket_;
  if (has_expired) {
    throw plug::failure(HM_LAUNCH_FAILED, "the held stream released itself after its timeout");
  }
}

void Stream::flush_caches() {
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
  const std::uint64_t bytes = flush_bytes(ordinal_);
  if (!flushed_) flushed_ = allocate_device(bytes);
  check(cudaMemsetAsync(flushed_.get(), 1, bytes, stream_), "the flush of the L2 cache");
}

Event::Event(int ordinal) {
  check(cudaSetDevice(ordinal), "cudaSetDevice");
  check(cudaEventCreate(&event_), "cudaEventCreate");
}

void Event::record(Stream& stream) {
  check(cudaEventRecord(event_, stream.get()), "cudaEventRecord");
}

double Event::elapsed_ns(const Event& end) const {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, event_, end.event_), "cudaEventElapsedTime");
  return std::max(0.0, static_cast<double>(ms) * 1e6);
}

}  // namespace hm_cuda
