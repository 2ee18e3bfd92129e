// RAII over the plugin ABI: the only place where its handles are owned and its answers are judged.
// Every call goes through noexcept wrappers, so an exception that escapes a plugin ends the worker.
#pragma once

#include <halmark_plugin.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/measured/measurement.hpp"
#include "core/problem.hpp"
#include "core/result.hpp"
#include "host/plugin/loader.hpp"
#include "host/protocol.hpp"

namespace halmark {

// What a plugin call answered; a message is always there when the status is not HM_OK.
struct PluginError {
  std::int32_t status = HM_OK;  // a known HM_* code; unknown ones read as HM_INTERNAL
  std::string message;
  bool ok() const { return status == HM_OK; }
};

// A value or the plugin's error. Deliberately not an exception: most errors become rows.
template <class T>
using PluginResult = Result<T, PluginError>;

// Beside the plugin's own codes: its clock said what no clock can say.
inline constexpr std::int32_t lying_timer = -1;

// The status of a failed trial for a plugin code; phase decides nothing.
Status status_of_code(std::int32_t code);
std::string_view hm_status_text(std::int32_t code);

// ABI views of core values; the value must outlive the view.
class ConfigView {
 public:
  explicit ConfigView(const Params& params);
  ConfigView(const ConfigView&) = delete;
  ConfigView& operator=(const ConfigView&) = delete;
  const hm_config* get() const { return &view_; }

 private:
  std::vector<hm_param> params_;
  hm_config view_{};
};
class ProblemView {
 public:
  explicit ProblemView(const Problem& problem);
  ProblemView(const ProblemView&) = delete;
  ProblemView& operator=(const ProblemView&) = delete;
  const hm_problem* get() const { return &view_; }

 private:
  std::vector<hm_param> params_;
  hm_problem view_{};
};

// Owner of one handle with the destroyer of its table. Moves, never copies.
template <class Handle>
class PluginHandle {
 public:
  using Destroy = void (*)(Handle*);
  PluginHandle() = default;
  PluginHandle(Handle* handle, Destroy destroy) : handle_(handle), destroy_(destroy) {}
  PluginHandle(PluginHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), destroy_(other.destroy_) {}
  PluginHandle& operator=(PluginHandle&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
      destroy_ = other.destroy_;
    }
    return *this;
  }
  ~PluginHandle() { reset(); }
  Handle* get() const { return handle_; }
  void reset() noexcept {
    if (handle_) destroy_(std::exchange(handle_, nullptr));
  }

 private:
  Handle* handle_ = nullptr;
  Destroy destroy_ = nullptr;
};

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const hm_memory_api* api, hm_buffer* handle, std::uint64_t bytes)
      : api_(api), handle_(handle, api->destroy), bytes_(bytes) {}
  hm_buffer* handle() const { return handle_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  // Blocking, ordered after all work on the device.
  PluginError write(std::uint64_t offset, const void* source, std::uint64_t bytes) noexcept;
  PluginError read(std::uint64_t offset, void* target, std::uint64_t bytes) noexcept;

 private:
  const hm_memory_api* api_ = nullptr;
  PluginHandle<hm_buffer> handle_;
  std::uint64_t bytes_ = 0;
};

class DeviceEvent {
 public:
  DeviceEvent() = default;
  DeviceEvent(const hm_stream_api* api, hm_event* handle) : handle_(handle, api->event_destroy) {}
  hm_event* handle() const { return handle_.get(); }

 private:
  PluginHandle<hm_event> handle_;
};

class DeviceStream {
 public:
  DeviceStream() = default;
  DeviceStream(const hm_stream_api* api, const hm_memory_api* memory, const hm_probe_api* probe,
               hm_stream* handle)
      : api_(api), memory_(memory), probe_(probe), handle_(handle, api->destroy) {}
  hm_stream* handle() const { return handle_.get(); }
  PluginError wait() noexcept;
  PluginError record(DeviceEvent& event) noexcept;
  // Finite and >= 0, or an error that says what the device claimed.
  PluginResult<double> elapsed_ns(DeviceEvent& begin, DeviceEvent& end) noexcept;
  PluginResult<double> elapsed_cycles(DeviceEvent& begin, DeviceEvent& end) noexcept;
  bool can_hold() const;
  PluginError hold(std::uint64_t timeout_ns) noexcept;
  PluginError unhold() noexcept;
  bool can_fill() const;
  PluginError fill(DeviceBuffer& buffer, std::uint32_t pattern) noexcept;
  PluginError flush() noexcept;

 private:
  const hm_stream_api* api_ = nullptr;
  const hm_memory_api* memory_ = nullptr;
  const hm_probe_api* probe_ = nullptr;
  PluginHandle<hm_stream> handle_;
};

class Communicator {
 public:
  Communicator() = default;
  Communicator(const hm_comm_api* api, hm_comm* handle) : handle_(handle, api->destroy) {}
  hm_comm* handle() const { return handle_.get(); }

 private:
  PluginHandle<hm_comm> handle_;
};

// What prepare dispatched, checked and copied.
struct PreparedInfo {
  Implementation implementation;
  std::uint32_t flags = 0;  // HM_PREPARED_*
  std::uint32_t operand_count = 0, launches_per_execution = 0;
  std::uint64_t workspace_bytes = 0, constant_bytes = 0;
};

struct OperandInfo {
  std::string name, layout;
  std::int32_t role = 0;  // HM_ROLE_*
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> dims, strides;  // strides all 0 = opaque layout
  std::uint64_t bytes = 0, alignment = 0;
  bool is_opaque() const;
};

class PreparedKernel {
 public:
  PreparedKernel() = default;
  PreparedKernel(const hm_kernel_api* api, hm_prepared* handle)
      : api_(api), handle_(handle, api->release) {}
  hm_prepared* handle() const { return handle_.get(); }
  PluginResult<PreparedInfo> info() noexcept;
  PluginResult<OperandInfo> operand(std::uint32_t index) noexcept;
  // Required as soon as any operand is constant.
  bool can_load_constants() const;
  PluginError load_constants(DeviceStream& stream, const hm_arguments& arguments) noexcept;
  // The call inside the timed interval: one indirect call, no allocation on success.
  PluginError enqueue(DeviceStream& stream, const hm_launch& launch) noexcept;

 private:
  const hm_kernel_api* api_ = nullptr;
  PluginHandle<hm_prepared> handle_;
};

// NaN-free: absent = unknown.
struct DeviceClocks {
  std::uint32_t throttle = 0;  // HM_THROTTLE_* bits
  std::optional<double> core_hz, memory_hz, temperature_c, power_w;
};

// Children (streams, buffers, events, prepared kernels, communicators) must go before it.
class OpenDevice {
 public:
  OpenDevice() = default;
  OpenDevice(const LoadedPlugin& plugin, hm_device* handle, protocol::DeviceDescription description)
      : plugin_(plugin),
        handle_(handle, plugin.api->device->close),
        info_(std::move(description)) {}
  hm_device* handle() const { return handle_.get(); }
  const protocol::DeviceDescription& description() const { return info_; }

  PluginResult<DeviceBuffer> create_buffer(std::uint64_t bytes, std::uint64_t alignment,
                                           std::int32_t kind = HM_MEMORY_DEVICE) noexcept;
  bool can_wrap() const;
  // A buffer over host memory that the caller keeps until the buffer is gone.
  PluginResult<DeviceBuffer> wrap(void* address, std::uint64_t bytes) noexcept;
  PluginResult<DeviceStream> create_stream() noexcept;
  PluginResult<DeviceEvent> create_event() noexcept;  // timer = device_event only
  // Ranges and powers of two expanded; at most 4096 values; refuses empty domains, duplicate
  // values, duplicate labels and a default outside the domain.
  PluginResult<std::vector<protocol::DomainDescription>> domains(std::uint32_t kernel,
                                                                 const Problem& problem) noexcept;
  // Null config: could any config work?
  PluginError supports(std::uint32_t kernel, const Problem& problem, const Config* config) noexcept;
  PluginResult<PreparedKernel> prepare(std::uint32_t kernel, const Problem& problem,
                                       const Config* config,
                                       const Communicator* communicator = nullptr) noexcept;
  PluginResult<Communicator> join(std::string_view token, std::uint32_t rank,
                                  std::uint32_t size) noexcept;
  PluginResult<DeviceClocks> clocks() noexcept;
  PluginResult<double> energy_microjoules() noexcept;

 private:
  LoadedPlugin plugin_;
  PluginHandle<hm_device> handle_;
  protocol::DeviceDescription info_;
};

// One instance of a plugin. Address-stable (the plugin keeps a pointer to its host).
class PluginInstance {
 public:
  // cache_dir "" = the plugin keeps nothing on disk.
  static PluginResult<std::unique_ptr<PluginInstance>> create(const LoadedPlugin& plugin,
                                                              std::string cache_dir) noexcept;
  ~PluginInstance();
  PluginInstance(const PluginInstance&) = delete;
  PluginInstance& operator=(const PluginInstance&) = delete;

  const LoadedPlugin& plugin() const { return plugin_; }
  // Devices and kernels, all texts checked; device ids and kernel names are unique, at most 1024
  // of each. Includes what the plugin logged so far.
  PluginResult<protocol::PluginDescription> describe() noexcept;
  PluginResult<OpenDevice> open(std::uint32_t index, const Params& options) noexcept;
  PluginResult<std::string> create_token() noexcept;  // bytes
  std::vector<std::string> take_log();

 private:
  struct Host;
  explicit PluginInstance(const LoadedPlugin& plugin);
  PluginResult<protocol::DeviceDescription> describe_device(std::uint32_t index) noexcept;
  LoadedPlugin plugin_;
  std::unique_ptr<Host> host_;
  hm_plugin* handle_ = nullptr;
};

}  // namespace halmark
