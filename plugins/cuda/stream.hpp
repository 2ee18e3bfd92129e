// A CUDA stream with events, a hold, and a flush of the last-level cache.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda.hpp"

namespace hm_cuda {

struct FreeDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, FreeDevice>;
DeviceMemory allocate_device(std::uint64_t bytes);

// Driven by one thread. Ordered with cudaMemcpy, which therefore comes after all its work.
class Stream {
 public:
  explicit Stream(int ordinal);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait();
  // A one-thread kernel occupies the stream until `unhold`. Every kernel that is queued meanwhile
  // must have run before: loading a module on its first launch would wait for the held stream.
  void hold(std::uint64_t timeout_ns);
  void unhold();
  void flush_caches();

 private:
  struct Gate {
    volatile std::uint64_t released = 0, expired = 0;  // tickets
  };
  struct FreeHost {
    void operator()(Gate* gate) const { cudaFreeHost(gate); }
  };

  int ordinal_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<Gate, FreeHost> gate_;
  Gate* gate_on_device_ = nullptr;
  std::uint64_t ticket_ = 0;  // of the latest hold
  DeviceMemory flushed_;
};

class Event {
 public:
  explicit Event(int ordinal);
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream& stream);
  double elapsed_ns(const Event& end) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace hm_cuda
