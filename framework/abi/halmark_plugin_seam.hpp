// The tables that HM_PLUGIN fills from a backend class. Included by halmark_plugin.hpp only;
// authors read the list of members beside HM_PLUGIN there.
#pragma once

#include <halmark_plugin.hpp>

#include <map>
#include <type_traits>

namespace halmark::plugin {

namespace detail {

template <class B>
struct BufferOf {
  using type = HostBuffer;
};
template <class B>
requires requires { typename B::Buffer; }
struct BufferOf<B> {
  using type = typename B::Buffer;
};

template <class B>
struct StreamOf {
  using type = SynchronousStream;
};
template <class B>
requires requires { typename B::Stream; }
struct StreamOf<B> {
  using type = typename B::Stream;
};

struct Absent {};
template <class B>
struct EventOf {
  using type = Absent;
};
template <class B>
requires requires { typename B::Event; }
struct EventOf<B> {
  using type = typename B::Event;
};

template <class B>
struct CommOf {
  using type = Absent;
};
template <class B>
requires requires { typename B::Comm; }
struct CommOf<B> {
  using type = typename B::Comm;
};

template <class B>
constexpr const char* build_of() {
  if constexpr (requires { B::build; }) {
    return B::build;
  } else {
#if defined(NDEBUG)
    return "compiler " __VERSION__;
#else
    return "compiler " __VERSION__ ", assertions on";
#endif
  }
}

template <class T, class Handle>
void hand_over(Handle** out, std::unique_ptr<T> object, const char* what) {
  static_assert(!std::is_polymorphic_v<T> || std::has_virtual_destructor_v<T>);
  if (object == nullptr) throw failure(HM_INTERNAL, std::string(what) + " made no object");
  *out = reinterpret_cast<Handle*>(object.release());
}

template <class T, class Handle>
void destroy(Handle* handle) noexcept {
  delete reinterpret_cast<T*>(handle);
}

inline void require_index(std::uint32_t index, std::uint32_t count, const char* what) {
  if (index < count) return;
  throw failure(HM_INVALID_ARGUMENT,
                std::string(what) + " " + std::to_string(index) + " of " + std::to_string(count));
}

inline void require_range(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  if (offset <= size && bytes <= size - offset) return;
  throw failure(HM_INVALID_ARGUMENT, "offset " + std::to_string(offset) + " + " +
                                         std::to_string(bytes) + " bytes exceed a buffer of " +
                                         std::to_string(size));
}

// Domains as the C header wants them: arrays that stay valid until the device closes.
class DomainStore {
 public:
  template <class Make>
  const std::vector<Domain>& of(std::uint32_t kernel, const hm_problem& problem, Make&& make) {
    std::string key = std::to_string(kernel) + ' ' + problem.op;
    for (const hm_param& param : Params(problem)) {
      key.append(" ").append(param.name).append("=").append(std::to_string(param.value));
    }
    auto found = entries_.find(key);
    if (found == entries_.end()) found = entries_.emplace(std::move(key), Entry(make())).first;
    last_ = &found->second;
    return last_->domains;
  }
  // Of the domains that `of` returned last.
  hm_domain view(std::uint32_t index) const {
    const Domain& domain = last_->domains[index];
    hm_domain out{};
    out.kind = domain.kind;
    out.flags = domain.flags;
    out.count = static_cast<std::uint32_t>(domain.values.size());
    copy_text(out.name, domain.name);
    out.values = domain.values.data();
    out.labels = domain.labels.empty() ? nullptr : last_->labels[index].data();
    out.default_value = domain.default_value;
    return out;
  }

 private:
  struct Entry {
    explicit Entry(std::vector<Domain> made) : domains(std::move(made)) {
      for (const Domain& domain : domains) {
        std::vector<const char*>& pointers = labels.emplace_back();
        for (const std::string& label : domain.labels) pointers.push_back(label.c_str());
      }
    }
    std::vector<Domain> domains;
    std::vector<std::vector<const char*>> labels;
  };
  std::map<std::string, Entry> entries_;
  const Entry* last_ = nullptr;
};

// The C tables of one backend. Required members are called directly, so a missing one is a compile
// error that names it; optional entries are set when the member exists.
template <class Backend>
struct Seam {
  using Device = typename Backend::Device;
  using Prepared = typename Backend::Prepared;
  using Buffer = typename BufferOf<Backend>::type;
  using Stream = typename StreamOf<Backend>::type;
  using Event = typename EventOf<Backend>::type;
  using Comm = typename CommOf<Backend>::type;

  struct OpenDevice {
    Backend& backend;
    std::unique_ptr<Device> device;
    DomainStore domains{};
  };
  static Backend& backend(hm_plugin* plugin) { return object_of<Backend>(plugin); }
  static OpenDevice& opened(hm_device* device) { return object_of<OpenDevice>(device); }
  static Device& device(hm_device* handle) { return *opened(handle).device; }

  static std::int32_t create(const hm_host* host, hm_plugin** out, hm_error* error) noexcept {
    return guard(error, [&] {
      if constexpr (std::is_constructible_v<Backend, const hm_host&>) {
        hand_over(out, std::make_unique<Backend>(*host), "create");
      } else {
        hand_over(out, std::make_unique<Backend>(), "create");
      }
    });
  }

  // -- device --
  static std::int32_t device_count(hm_plugin* plugin, std::uint32_t* count,
                                   hm_error* error) noexcept {
    return guard(error, [&] { *count = backend(plugin).device_count(); });
  }
  static std::int32_t device_describe(hm_plugin* plugin, std::uint32_t index, hm_device_info* out,
                                      hm_error* error) noexcept {
    return guard(error, [&] {
      require_index(index, backend(plugin).device_count(), "device");
      hm_device_info info{};
      backend(plugin).describe(index, info);
      grow_safe_write(out, info);
    });
  }
  static std::int32_t device_open(hm_plugin* plugin, std::uint32_t index, const hm_config* options,
                                  hm_device** out, hm_error* error) noexcept {
    return guard(error, [&] {
      require_index(index, backend(plugin).device_count(), "device");
      std::unique_ptr<Device> made = backend(plugin).open(index, options);
      if (made == nullptr) throw failure(HM_INTERNAL, "open made no object");
      hand_over(out, std::unique_ptr<OpenDevice>(new OpenDevice{backend(plugin), std::move(made)}),
                "open");
    });
  }

  // -- memory --
  static std::int32_t memory_create(hm_device* handle, std::uint64_t bytes, std::uint64_t alignment,
                                    std::int32_t kind, hm_buffer** out, hm_error* error) noexcept {
    return guard(error, [&] {
      if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        throw failure(HM_INVALID_ARGUMENT, "alignment is not a power of two");
      }
      if constexpr (requires(Device & d) { d.allocate(bytes, alignment, kind); }) {
        hand_over<Buffer>(out, device(handle).allocate(bytes, alignment, kind), "allocate");
      } else {
        hand_over<Buffer>(out, Buffer::allocate(bytes, alignment, kind), "allocate");
      }
    });
  }
  static std::int32_t memory_write(hm_buffer* handle, std::uint64_t offset, const void* source,
                                   std::uint64_t bytes, hm_error* error) noexcept {
    return guard(error, [&] {
      Buffer& buffer = object_of<Buffer>(handle);
      require_range(offset, bytes, buffer.bytes());
      buffer.write(offset, source, bytes);
    });
  }
  static std::int32_t memory_read(hm_buffer* handle, std::uint64_t offset, void* target,
                                  std::uint64_t bytes, hm_error* error) noexcept {
    return guard(error, [&] {
      Buffer& buffer = object_of<Buffer>(handle);
      require_range(offset, bytes, buffer.bytes());
      buffer.read(offset, target, bytes);
    });
  }
  static constexpr auto memory_fill() {
    using Entry = decltype(hm_memory_api::fill);
    if constexpr (requires(Buffer & b, Stream & s) { b.fill(s, std::uint32_t{}); }) {
      return Entry{[](hm_stream* stream, hm_buffer* buffer, std::uint32_t pattern,
                      hm_error* error) noexcept -> std::int32_t {
        return guard(error,
                     [&] { object_of<Buffer>(buffer).fill(object_of<Stream>(stream), pattern); });
      }};
    } else {
      return Entry{nullptr};
    }
  }
  static constexpr auto memory_wrap() {
    using Entry = decltype(hm_memory_api::wrap);
    if constexpr (requires(Device & d) { d.wrap(static_cast<void*>(nullptr), std::uint64_t{}); }) {
      return Entry{[](hm_device* handle, void* address, std::uint64_t bytes, hm_buffer** out,
                      hm_error* error) noexcept -> std::int32_t {
        return guard(error,
                     [&] { hand_over<Buffer>(out, device(handle).wrap(address, bytes), "wrap"); });
      }};
    } else if constexpr (requires { Buffer::wrap(static_cast<void*>(nullptr), std::uint64_t{}); }) {
      return Entry{[](hm_device*, void* address, std::uint64_t bytes, hm_buffer** out,
                      hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] { hand_over<Buffer>(out, Buffer::wrap(address, bytes), "wrap"); });
      }};
    } else {
      return Entry{nullptr};
    }
  }

  // -- stream --
  static std::int32_t stream_create(hm_device* handle, hm_stream** out, hm_error* error) noexcept {
    return guard(error, [&] {
      if constexpr (requires(Device & d) { d.stream(); }) {
        hand_over<Stream>(out, device(handle).stream(), "stream");
      } else {
        hand_over(out, std::make_unique<Stream>(), "stream");
      }
    });
  }
  static std::int32_t stream_wait(hm_stream* stream, hm_error* error) noexcept {
    return guard(error, [&] { object_of<Stream>(stream).wait(); });
  }
  static constexpr bool has_events = !std::is_same_v<Event, Absent>;
  static std::int32_t event_create(hm_device* handle, hm_event** out, hm_error* error) noexcept {
    return guard(error, [&] {
      if constexpr (has_events) hand_over<Event>(out, device(handle).event(), "event");
    });
  }
  static std::int32_t event_record(hm_event* event, hm_stream* stream, hm_error* error) noexcept {
    return guard(error, [&] {
      if constexpr (has_events) object_of<Event>(event).record(object_of<Stream>(stream));
    });
  }
  static std::int32_t event_elapsed_ns(hm_event* begin, hm_event* end, double* ns,
                                       hm_error* error) noexcept {
    return guard(error, [&] {
      if constexpr (has_events) *ns = object_of<Event>(begin).elapsed_ns(object_of<Event>(end));
    });
  }
  static constexpr auto event_elapsed_cycles() {
    using Entry = decltype(hm_stream_api::event_elapsed_cycles);
    if constexpr (requires(Event & e) { e.elapsed_cycles(e); }) {
      return Entry{[](hm_event* begin, hm_event* end, double* cycles,
                      hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] {
          *cycles = object_of<Event>(begin).elapsed_cycles(object_of<Event>(end));
        });
      }};
    } else {
      return Entry{nullptr};
    }
  }
  static constexpr auto stream_hold() {
    using Entry = decltype(hm_stream_api::hold);
    if constexpr (requires(Stream & s) { s.hold(std::uint64_t{}); }) {
      return Entry{[](hm_stream* stream, std::uint64_t timeout_ns,
                      hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] { object_of<Stream>(stream).hold(timeout_ns); });
      }};
    } else {
      return Entry{nullptr};
    }
  }
  static constexpr auto stream_unhold() {
    using Entry = decltype(hm_stream_api::unhold);
    if constexpr (requires(Stream & s) { s.unhold(); }) {
      return Entry{[](hm_stream* stream, hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] { object_of<Stream>(stream).unhold(); });
      }};
    } else {
      return Entry{nullptr};
    }
  }

  // -- kernel --
  static std::int32_t kernel_count(hm_plugin* plugin, std::uint32_t* count,
                                   hm_error* error) noexcept {
    return guard(error, [&] { *count = backend(plugin).kernel_count(); });
  }
  static std::int32_t kernel_describe(hm_plugin* plugin, std::uint32_t kernel, hm_kernel_info* out,
                                      hm_error* error) noexcept {
    return guard(error, [&] {
      require_index(kernel, backend(plugin).kernel_count(), "kernel");
      hm_kernel_info info{};
      backend(plugin).describe_kernel(kernel, info);
      grow_safe_write(out, info);
    });
  }
  static const std::vector<Domain>& domains_of(hm_device* handle, std::uint32_t kernel,
                                               const hm_problem& problem) {
    OpenDevice& open = opened(handle);
    require_index(kernel, open.backend.kernel_count(), "kernel");
    return open.domains.of(kernel, problem, [&]() -> std::vector<Domain> {
      if constexpr (requires { open.device->domains(kernel, problem); }) {
        return open.device->domains(kernel, problem);
      } else {
        return {};
      }
    });
  }
  static std::int32_t domain_count(hm_device* handle, std::uint32_t kernel,
                                   const hm_problem* problem, std::uint32_t* count,
                                   hm_error* error) noexcept {
    return guard(error, [&] {
      *count = static_cast<std::uint32_t>(domains_of(handle, kernel, *problem).size());
    });
  }
  static std::int32_t domain_at(hm_device* handle, std::uint32_t kernel, const hm_problem* problem,
                                std::uint32_t index, hm_domain* out, hm_error* error) noexcept {
    return guard(error, [&] {
      const std::vector<Domain>& domains = domains_of(handle, kernel, *problem);
      require_index(index, static_cast<std::uint32_t>(domains.size()), "domain");
      grow_safe_write(out, opened(handle).domains.view(index));
    });
  }
  static std::int32_t supports(hm_device* handle, std::uint32_t kernel, const hm_problem* problem,
                               const hm_config* config, hm_error* error) noexcept {
    return guard(error, [&] {
      require_index(kernel, opened(handle).backend.kernel_count(), "kernel");
      device(handle).require_support(kernel, *problem, config);
    });
  }
  static std::int32_t prepare(hm_device* handle, std::uint32_t kernel, const hm_problem* problem,
                              const hm_config* config, hm_comm* comm, hm_prepared** out,
                              hm_error* error) noexcept {
    return guard(error, [&] {
      require_index(kernel, opened(handle).backend.kernel_count(), "kernel");
      Device& target = device(handle);
      target.require_support(kernel, *problem, config);
      Comm* group = reinterpret_cast<Comm*>(comm);
      if constexpr (requires { target.prepare(kernel, *problem, config, group); }) {
        hand_over<Prepared>(out, target.prepare(kernel, *problem, config, group), "prepare");
      } else {
        hand_over<Prepared>(out, target.prepare(kernel, *problem, config), "prepare");
      }
    });
  }
  static std::int32_t info(hm_prepared* prepared, hm_prepared_info* out, hm_error* error) noexcept {
    return guard(error, [&] {
      hm_prepared_info value{};
      value.launches_per_execution = 1;
      object_of<Prepared>(prepared).info(value);
      grow_safe_write(out, value);
    });
  }
  static std::int32_t operand(hm_prepared* prepared, std::uint32_t index, hm_operand* out,
                              hm_error* error) noexcept {
    return guard(error, [&] {
      hm_prepared_info about{};
      object_of<Prepared>(prepared).info(about);
      require_index(index, about.operand_count, "operand");
      hm_operand value{};
      object_of<Prepared>(prepared).operand(index, value);
      grow_safe_write(out, value);
    });
  }
  static std::int32_t enqueue(hm_prepared* prepared, hm_stream* stream, const hm_launch* launch,
                              hm_error* error) noexcept {
    return guard(error, [&] {
      if (launch->set_count == 0) throw failure(HM_INVALID_ARGUMENT, "launch without sets");
      object_of<Prepared>(prepared).enqueue(object_of<Stream>(stream), *launch);
    });
  }
  static constexpr auto load_constants() {
    using Entry = decltype(hm_kernel_api::load_constants);
    if constexpr (requires(Prepared & p, Stream & s, const hm_arguments& a) {
                    p.load_constants(s, a);
                  }) {
      return Entry{[](hm_prepared* prepared, hm_stream* stream, const hm_arguments* arguments,
                      hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] {
          if (arguments->reserved != 0) throw failure(HM_INVALID_ARGUMENT, "reserved is not 0");
          object_of<Prepared>(prepared).load_constants(object_of<Stream>(stream), *arguments);
        });
      }};
    } else {
      return Entry{nullptr};
    }
  }

  // -- probe --
  static constexpr auto cache_flush() {
    using Entry = decltype(hm_probe_api::cache_flush);
    if constexpr (requires(Stream & s) { s.flush_caches(); }) {
      return Entry{[](hm_stream* stream, hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] { object_of<Stream>(stream).flush_caches(); });
      }};
    } else {
      return Entry{nullptr};
    }
  }
  static constexpr auto clocks_read() {
    using Entry = decltype(hm_probe_api::clocks_read);
    if constexpr (requires(Device & d, hm_clocks & c) { d.clocks(c); }) {
      return Entry{[](hm_device* handle, hm_clocks* out, hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] {
          hm_clocks clocks{};
          device(handle).clocks(clocks);
          grow_safe_write(out, clocks);
        });
      }};
    } else {
      return Entry{nullptr};
    }
  }
  static constexpr auto energy_read() {
    using Entry = decltype(hm_probe_api::energy_read);
    if constexpr (requires(Device & d) { d.energy_microjoules(); }) {
      return Entry{[](hm_device* handle, double* out, hm_error* error) noexcept -> std::int32_t {
        return guard(error, [&] { *out = device(handle).energy_microjoules(); });
      }};
    } else {
      return Entry{nullptr};
    }
  }

  // -- comm --
  static constexpr bool has_comm = !std::is_same_v<Comm, Absent>;
  static std::int32_t token_create(hm_plugin* plugin, void* token, std::uint32_t* bytes,
                                   hm_error* error) noexcept {
    return guard(error, [&] {
      if constexpr (requires(Backend & b) { b.comm_token(token, *bytes); }) {
        *bytes = backend(plugin).comm_token(token, *bytes);
      } else {
        *bytes = 0;
      }
    });
  }
  static std::int32_t comm_create(hm_device* handle, const void* token, std::uint32_t token_bytes,
                                  std::uint32_t rank, std::uint32_t size, hm_comm** out,
                                  hm_error* error) noexcept {
    return guard(error, [&] {
      require_index(rank, size, "rank");
      if constexpr (has_comm) {
        const std::string_view bytes(static_cast<const char*>(token), token_bytes);
        hand_over<Comm>(out, device(handle).comm(bytes, rank, size), "comm");
      }
    });
  }

  static constexpr hm_device_api device_api{.struct_size = sizeof(hm_device_api),
                                            .reserved = 0,
                                            .count = &device_count,
                                            .describe = &device_describe,
                                            .open = &device_open,
                                            .close = &destroy<OpenDevice, hm_device>};
  static constexpr hm_memory_api memory_api{.struct_size = sizeof(hm_memory_api),
                                            .reserved = 0,
                                            .create = &memory_create,
                                            .destroy = &destroy<Buffer, hm_buffer>,
                                            .write = &memory_write,
                                            .read = &memory_read,
                                            .fill = memory_fill(),
                                            .wrap = memory_wrap()};
  static constexpr hm_stream_api stream_api{
      .struct_size = sizeof(hm_stream_api),
      .reserved = 0,
      .create = &stream_create,
      .destroy = &destroy<Stream, hm_stream>,
      .wait = &stream_wait,
      .event_create = has_events ? &event_create : nullptr,
      .event_destroy = has_events ? &destroy<Event, hm_event> : nullptr,
      .event_record = has_events ? &event_record : nullptr,
      .event_elapsed_ns = has_events ? &event_elapsed_ns : nullptr,
      .event_elapsed_cycles = event_elapsed_cycles(),
      .hold = stream_hold(),
      .unhold = stream_unhold()};
  static constexpr hm_kernel_api kernel_api{.struct_size = sizeof(hm_kernel_api),
                                            .reserved = 0,
                                            .count = &kernel_count,
                                            .describe = &kernel_describe,
                                            .domain_count = &domain_count,
                                            .domain = &domain_at,
                                            .supports = &supports,
                                            .prepare = &prepare,
                                            .release = &destroy<Prepared, hm_prepared>,
                                            .info = &info,
                                            .operand = &operand,
                                            .enqueue = &enqueue,
                                            .load_constants = load_constants()};
  static constexpr hm_probe_api probe_api{.struct_size = sizeof(hm_probe_api),
                                          .reserved = 0,
                                          .cache_flush = cache_flush(),
                                          .clocks_read = clocks_read(),
                                          .energy_read = energy_read()};
  static constexpr hm_comm_api comm_api{.struct_size = sizeof(hm_comm_api),
                                        .reserved = 0,
                                        .token_create = &token_create,
                                        .create = &comm_create,
                                        .destroy = &destroy<Comm, hm_comm>};
  static constexpr bool has_probe =
      cache_flush() != nullptr || clocks_read() != nullptr || energy_read() != nullptr;
  static constexpr hm_plugin_api api{.struct_size = sizeof(hm_plugin_api),
                                     .abi_version = HM_ABI_VERSION,
                                     .name = Backend::name,
                                     .version = Backend::version,
                                     .build = build_of<Backend>(),
                                     .create = &create,
                                     .destroy = &destroy<Backend, hm_plugin>,
                                     .device = &device_api,
                                     .memory = &memory_api,
                                     .stream = &stream_api,
                                     .kernel = &kernel_api,
                                     .probe = has_probe ? &probe_api : nullptr,
                                     .comm = has_comm ? &comm_api : nullptr};
};

}  // namespace detail
}  // namespace halmark::plugin
