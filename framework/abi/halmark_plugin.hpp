// C++ sugar over halmark_plugin.h for plugin authors: header-only, C++20, standard library only.
// HM_PLUGIN(Backend) fills the tables from a class; never required, a C plugin is first-class.
#pragma once

#include <halmark_plugin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halmark::plugin {

// What a backend throws to answer with a status other than HM_INTERNAL.
class failure : public std::runtime_error {
 public:
  failure(std::int32_t code, const std::string& text, std::int64_t vendor = 0)
      : std::runtime_error(text), code(code == HM_OK ? HM_INTERNAL : code), vendor(vendor) {}
  std::int32_t code;
  std::int64_t vendor;  // the vendor API's own code; 0 = none
};

// Copies at most `capacity` - 1 bytes and terminates; a cut never leaves half a UTF-8 character.
inline void copy_text(char* target, std::size_t capacity, std::string_view text) noexcept {
  std::size_t length = std::min(text.size(), capacity - 1);
  if (length < text.size()) {
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0u) == 0x80u) --length;
  }
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}
template <std::size_t N>
void copy_text(char (&target)[N], std::string_view text) noexcept {
  copy_text(target, N, text);
}

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

// A view of problem or config parameters, valid for the call; a NULL config reads as empty.
class Params {
 public:
  Params() = default;
  Params(const hm_problem& problem) : params_(problem.params), count_(problem.count) {}
  Params(const hm_problem* problem) : Params(*problem) {}
  Params(const hm_config& config) : params_(config.params), count_(config.count) {}
  Params(const hm_config* config) {
    if (config != nullptr) *this = Params(*config);
  }
  const hm_param* begin() const { return params_; }
  const hm_param* end() const { return params_ + count_; }
  bool empty() const { return count_ == 0; }
  const hm_param* find(std::string_view name) const {
    const hm_param* found =
        std::find_if(begin(), end(), [&](const hm_param& param) { return name == param.name; });
    return found == end() ? nullptr : found;
  }

 private:
  const hm_param* params_ = nullptr;
  std::size_t count_ = 0;
};

inline std::int64_t param_or(Params params, std::string_view name, std::int64_t fallback) {
  const hm_param* found = params.find(name);
  return found == nullptr ? fallback : found->value;
}

// HM_UNSUPPORTED with the name when the parameter is absent.
inline std::int64_t require_param(Params params, std::string_view name) {
  const hm_param* found = params.find(name);
  if (found == nullptr) {
    throw failure(HM_UNSUPPORTED, "parameter '" + std::string(name) + "' is missing");
  }
  return found->value;
}

// HM_UNSUPPORTED with the name for a parameter that is not listed: ignoring it would measure
// something else than what was asked for.
inline void reject_unknown(Params params, std::initializer_list<std::string_view> known) {
  for (const hm_param& param : params) {
    if (std::find(known.begin(), known.end(), param.name) == known.end()) {
      throw failure(HM_UNSUPPORTED, "unknown parameter '" + std::string(param.name) + "'");
    }
  }
}

// One tunable parameter. Categorical domains have one label per value.
struct Domain {
  std::string name;
  std::int32_t kind = HM_DOMAIN_LIST;
  std::uint32_t flags = 0;
  std::vector<std::int64_t> values;
  std::vector<std::string> labels;
  std::int64_t default_value = 0;
};

namespace domain {
inline Domain list(std::string name, std::vector<std::int64_t> values, std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_LIST, 0, std::move(values), {}, fallback};
}
inline Domain ordered(std::string name, std::vector<std::int64_t> values, std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_LIST, HM_DOMAIN_ORDERED, std::move(values), {}, fallback};
}
inline Domain range(std::string name, std::int64_t low, std::int64_t high, std::int64_t step,
                    std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_RANGE, HM_DOMAIN_ORDERED, {low, high, step}, {}, fallback};
}
inline Domain pow2(std::string name, std::int64_t low, std::int64_t high, std::int64_t fallback) {
  return {std::move(name), HM_DOMAIN_POW2, HM_DOMAIN_ORDERED, {low, high}, {}, fallback};
}
// Value i means labels[i]; records keep the label, because indices change between library versions.
inline Domain categorical(std::string name, std::vector<std::string> labels,
                          std::int64_t fallback = 0) {
  std::vector<std::int64_t> values(labels.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
  return {std::move(name),   HM_DOMAIN_LIST,    HM_DOMAIN_CATEGORICAL,
          std::move(values), std::move(labels), fallback};
}
}  // namespace domain

// HM_UNSUPPORTED for a config that names no domain of these, or a value outside its domain.
inline void reject_outside(const std::vector<Domain>& domains, Params config) {
  const auto holds = [](const Domain& domain, std::int64_t value) {
    const std::vector<std::int64_t>& v = domain.values;
    switch (domain.kind) {
      case HM_DOMAIN_RANGE:
        return value >= v[0] && value <= v[1] && (value - v[0]) % v[2] == 0;
      case HM_DOMAIN_POW2:
        return value >= v[0] && value <= v[1] && (value & (value - 1)) == 0;
      default:
        return std::find(v.begin(), v.end(), value) != v.end();
    }
  };
  for (const hm_param& param : config) {
    const auto domain = std::find_if(domains.begin(), domains.end(),
                                     [&](const Domain& d) { return d.name == param.name; });
    if (domain == domains.end()) {
      throw failure(HM_UNSUPPORTED, "unknown parameter '" + std::string(param.name) + "'");
    }
    if (!holds(*domain, param.value)) {
      throw failure(HM_UNSUPPORTED, "value " + std::to_string(param.value) +
                                        " is outside the domain of '" + domain->name + "'");
    }
  }
}

// Width of one element in memory; 0 for an unknown number.
constexpr std::int64_t dtype_bits(std::int64_t dtype) {
  switch (dtype) {
    case HM_DTYPE_C128:
      return 128;
    case HM_DTYPE_F64:
    case HM_DTYPE_S64:
    case HM_DTYPE_U64:
    case HM_DTYPE_C64:
      return 64;
    case HM_DTYPE_F32:
    case HM_DTYPE_TF32:
    case HM_DTYPE_S32:
    case HM_DTYPE_U32:
      return 32;
    case HM_DTYPE_F16:
    case HM_DTYPE_BF16:
    case HM_DTYPE_S16:
    case HM_DTYPE_U16:
      return 16;
    case HM_DTYPE_F8_E4M3FN:
    case HM_DTYPE_F8_E5M2:
    case HM_DTYPE_F8_E4M3FNUZ:
    case HM_DTYPE_F8_E5M2FNUZ:
    case HM_DTYPE_F8_E8M0:
    case HM_DTYPE_S8:
    case HM_DTYPE_U8:
      return 8;
    case HM_DTYPE_F6_E3M2:
    case HM_DTYPE_F6_E2M3:
      return 6;
    case HM_DTYPE_F4_E2M1:
    case HM_DTYPE_S4:
    case HM_DTYPE_U4:
      return 4;
    case HM_DTYPE_S2:
      return 2;
    case HM_DTYPE_U1:
      return 1;
    default:
      return 0;
  }
}

// Describes a plain row-major operand: strides in elements, rows padded to a byte.
inline void plain_operand(hm_operand& out, std::string_view name, std::int32_t role,
                          std::int64_t dtype, const std::vector<std::int64_t>& dims,
                          std::uint64_t alignment = 64) {
  if (dims.empty() || dims.size() > HM_RANK_MAX) throw failure(HM_INTERNAL, "operand rank");
  out.role = role;
  out.dtype = static_cast<std::int32_t>(dtype);
  out.rank = static_cast<std::uint32_t>(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    out.dims[i] = dims[i];
    out.strides[i] = stride;
    stride *= dims[i];
  }
  const std::int64_t rows = dims.back() == 0 ? 0 : stride / dims.back();
  out.bytes = static_cast<std::uint64_t>(rows * ((dims.back() * dtype_bits(dtype) + 7) / 8));
  out.alignment = alignment;
  copy_text(out.name, name);
  copy_text(out.layout, std::string_view("abcdefgh").substr(0, dims.size()));
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
