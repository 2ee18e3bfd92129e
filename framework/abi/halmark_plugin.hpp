// C++ sugar over halmark_plugin.h for plugin authors: header-only, C++20, standard library only.
// HM_PLUGIN(Backend) fills the tables from a class; never required, a C plugin is first-class.
#pragma once

#include <halmark_plugin.h>
#include <halmark_plugin_values.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halmark::plugin {

// Returns `code` after writing code, vendor code and text into the host's error (NULL allowed).
inline std::int32_t report(hm_error* error, std::int32_t code, std::int64_t vendor,
                           std::string_view text) noexcept {
  if (error != nullptr && error->struct_size >= HM_FIELD_END(error, message)) {
    error->code = code;
    error->vendor_code = vendor;
    copy_text(error->message, text);
  }
  return code;
}

// The one place where exceptions become status codes; nothing passes it.
template <class Body>
std::int32_t guard(hm_error* error, Body&& body) noexcept {
  try {
    body();
    return HM_OK;
  } catch (const failure& caught) {
    return report(error, caught.code, caught.vendor, caught.what());
  } catch (const std::bad_alloc&) {
    return report(error, HM_OUT_OF_MEMORY, 0, "host memory exhausted");
  } catch (const std::exception& caught) {
    return report(error, HM_INTERNAL, 0, caught.what());
  } catch (...) {
    return report(error, HM_INTERNAL, 0, "unknown exception");
  }
}

// Writes no more of `value` than the host's struct holds, and keeps the host's struct_size.
template <class T>
void grow_safe_write(T* out, T value) noexcept {
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, std::min<std::size_t>(out->struct_size, sizeof(T)));
}

inline void log(const hm_host& host, std::int32_t level, const std::string& text) {
  if (host.log != nullptr) host.log(host.context, level, text.c_str());
}

// Memory of a device that computes in host memory; owned, or wrapped around the host's arena.
class HostBuffer {
 public:
  static std::unique_ptr<HostBuffer> allocate(std::uint64_t bytes, std::uint64_t alignment,
                                              std::int32_t /*kind*/) {
    const std::uint64_t unit = std::max<std::uint64_t>(alignment, 64);
    if (bytes > UINT64_MAX / 2) throw std::bad_alloc();
    const std::uint64_t padded = std::max(unit, (bytes + unit - 1) / unit * unit);
    Memory memory(std::aligned_alloc(unit, padded), &std::free);
    if (memory == nullptr) throw std::bad_alloc();
    return std::unique_ptr<HostBuffer>(new HostBuffer(std::move(memory), bytes));
  }
  static std::unique_ptr<HostBuffer> wrap(void* address, std::uint64_t bytes) {
    return std::unique_ptr<HostBuffer>(new HostBuffer(Memory(address, [](void*) {}), bytes));
  }
  void* data() const { return memory_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  void write(std::uint64_t offset, const void* source, std::uint64_t bytes) {
    std::memcpy(static_cast<char*>(data()) + offset, source, bytes);
  }
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
    std::memcpy(target, static_cast<const char*>(data()) + offset, bytes);
  }
  template <class Stream>
  void fill(Stream&, std::uint32_t pattern) {
    for (std::uint64_t at = 0; at < bytes_; at += sizeof pattern) {
      std::memcpy(static_cast<char*>(data()) + at, &pattern,
                  std::min<std::uint64_t>(sizeof pattern, bytes_ - at));
    }
  }

 private:
  using Memory = std::unique_ptr<void, void (*)(void*)>;
  HostBuffer(Memory memory, std::uint64_t bytes) : memory_(std::move(memory)), bytes_(bytes) {}
  Memory memory_;
  std::uint64_t bytes_;
};

// The stream of a device whose enqueue returns only when the work is done.
struct SynchronousStream {
  void wait() {}
};

// The object behind a handle. `T` is the type that the backend names for it (Backend::Buffer, ...).
template <class T, class Handle>
T& object_of(Handle* handle) {
  return *reinterpret_cast<T*>(handle);
}

// Address of operand `index` in host memory, for backends whose Buffer is HostBuffer.
template <class T>
T* host_pointer(const hm_arguments& arguments, std::size_t index) {
  return static_cast<T*>(object_of<HostBuffer>(arguments.buffers[index]).data());
}
template <class T>
const T* host_source(const hm_arguments& arguments, std::size_t index) {
  return static_cast<const T*>(object_of<HostBuffer>(arguments.sources[index]).data());
}

// Calls body(arguments) for each of the launch's executions, in ring order.
template <class Body>
void for_each_execution(const hm_launch& launch, Body&& body) {
  std::uint32_t set = 0;
  for (std::uint64_t i = 0; i < launch.repeat; ++i) {
    body(launch.sets[set]);
    if (++set == launch.set_count) set = 0;
  }
}

}  // namespace halmark::plugin

#include <halmark_plugin_seam.hpp>

// Defines the two exported symbols from a complete class `Backend`:
//
//   static constexpr const char *name, *version;              (and optionally *build)
//   Backend(const hm_host&)                                   or a default constructor
//   uint32_t device_count();  void describe(uint32_t, hm_device_info&);
//   std::unique_ptr<Device> open(uint32_t, Params options);
//   uint32_t kernel_count();  void describe_kernel(uint32_t, hm_kernel_info&);
//   uint32_t comm_token(void* token, uint32_t capacity);                          optional
//   types Device, Prepared; optional: Buffer (HostBuffer), Stream (SynchronousStream), Event, Comm
//
//   Device:   void require_support(kernel, const hm_problem&, Params config);     throws failure
//             std::unique_ptr<Prepared> prepare(kernel, const hm_problem&, Params config[, Comm*]);
//             optional: std::vector<Domain> domains(kernel, const hm_problem&),
//             allocate(bytes, alignment, kind), wrap(address, bytes), stream(), event(),
//             comm(std::string_view token, rank, size), clocks(hm_clocks&), energy_microjoules()
//   Prepared: void info(hm_prepared_info&), operand(index, hm_operand&);
//             void enqueue(Stream&, const hm_launch&);
//             optional: load_constants(Stream&, const hm_arguments&)
//   Buffer:   bytes(), write(offset, source, bytes), read(offset, target, bytes);
//             optional: fill(Stream&, pattern), static allocate(...), static wrap(...)
//   Stream:   wait(); optional: hold(timeout_ns), unhold(), flush_caches()
//   Event:    record(Stream&), double elapsed_ns(Event& end); optional: elapsed_cycles(Event& end)
//
// prepare is called only after require_support accepted the same problem and config. A Params is
// valid for the call only; a parameter written so may as well be const hm_config*. Structs passed
// for filling are zeroed and complete; the sugar copies no more of them than the host knows.
#define HM_PLUGIN(Backend)                                                 \
  extern "C" std::uint32_t hm_abi_version(void) { return HM_ABI_VERSION; } \
  extern "C" const hm_plugin_api* hm_plugin_entry(void) {                  \
    return &::halmark::plugin::detail::Seam<Backend>::api;                 \
  }                                                                        \
  static_assert(true, "takes the semicolon")
