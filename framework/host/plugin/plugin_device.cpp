// Plugin instances and open devices.
#include <cmath>
#include <mutex>
#include <set>

#include "host/plugin/plugin.hpp"
#include "host/plugin/plugin_call.hpp"

namespace halmark {
using namespace plugin_call;
namespace {

constexpr std::uint32_t list_items_max = 1024;
constexpr std::size_t log_lines_max = 256;
constexpr std::size_t log_line_bytes_max = 4096;

std::optional<double> known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

const char* kind_name(std::int32_t kind) {
  switch (kind) {
    case HM_DEVICE_CPU:
      return "cpu";
    case HM_DEVICE_GPU:
      return "gpu";
    case HM_DEVICE_NPU:
      return "npu";
    case HM_DEVICE_QPU_SIMULATOR:
      return "qpu_simulator";
    case HM_DEVICE_OTHER:
      return "other";
  }
  return nullptr;
}

}  // namespace

PluginResult<DeviceBuffer> OpenDevice::create_buffer(std::uint64_t bytes, std::uint64_t alignment,
                                                     std::int32_t kind) noexcept {
  hm_buffer* buffer = nullptr;
  Call call;
  auto error = call.outcome(
      plugin_.api->memory->create(handle(), bytes, alignment, kind, &buffer, call.error()),
      "memory.create");
  if (!error.ok()) return error;
  if (buffer == nullptr) return broken("memory.create answered ok without a buffer");
  return DeviceBuffer(plugin_.api->memory, buffer, bytes);
}

bool OpenDevice::can_wrap() const { return HM_HAS(plugin_.api->memory, wrap); }

PluginResult<DeviceBuffer> OpenDevice::wrap(void* address, std::uint64_t bytes) noexcept {
  if (!can_wrap()) return absent("memory.wrap");
  hm_buffer* buffer = nullptr;
  Call call;
  auto error = call.outcome(
      plugin_.api->memory->wrap(handle(), address, bytes, &buffer, call.error()), "memory.wrap");
  if (!error.ok()) return error;
  if (buffer == nullptr) return broken("memory.wrap answered ok without a buffer");
  return DeviceBuffer(plugin_.api->memory, buffer, bytes);
}

PluginResult<DeviceStream> OpenDevice::create_stream() noexcept {
  hm_stream* stream = nullptr;
  Call call;
  auto error =
      call.outcome(plugin_.api->stream->create(handle(), &stream, call.error()), "stream.create");
  if (!error.ok()) return error;
  if (stream == nullptr) return broken("stream.create answered ok without a stream");
  return DeviceStream(plugin_.api->stream, plugin_.api->memory, plugin_.probe, stream);
}

PluginResult<DeviceEvent> OpenDevice::create_event() noexcept {
  if (!HM_HAS(plugin_.api->stream, event_create)) return absent("stream.event_create");
  hm_event* event = nullptr;
  Call call;
  auto error = call.outcome(plugin_.api->stream->event_create(handle(), &event, call.error()),
                            "stream.event_create");
  if (!error.ok()) return error;
  if (event == nullptr) return broken("stream.event_create answered ok without an event");
  return DeviceEvent(plugin_.api->stream, event);
}

PluginResult<Communicator> OpenDevice::join(std::string_view token, std::uint32_t rank,
                                            std::uint32_t size) noexcept {
  if (plugin_.comm == nullptr) return absent("comm group");
  hm_comm* comm = nullptr;
  Call call;
  auto error = call.outcome(
      plugin_.comm->create(handle(), token.data(), static_cast<std::uint32_t>(token.size()), rank,
                           size, &comm, call.error()),
      "comm.create");
  if (!error.ok()) return error;
  if (comm == nullptr) return broken("comm.create answered ok without a communicator");
  return Communicator(plugin_.comm, comm);
}

PluginResult<DeviceClocks> OpenDevice::clocks() noexcept {
  if (!HM_HAS(plugin_.probe, clocks_read)) return absent("probe.clocks_read");
  OutStruct<hm_clocks> raw;
  raw.value.core_hz = raw.value.memory_hz = std::nan("");
  raw.value.temperature_c = raw.value.power_w = std::nan("");
  Call call;
  auto error = call.outcome(plugin_.probe->clocks_read(handle(), &raw.value, call.error()),
                            "probe.clocks_read");
  if (!error.ok()) return error;
  if (!raw.intact()) return overrun("probe.clocks_read");
  return DeviceClocks{raw.value.throttle, known(raw.value.core_hz), known(raw.value.memory_hz),
                      known(raw.value.temperature_c), known(raw.value.power_w)};
}

PluginResult<double> OpenDevice::energy_microjoules() noexcept {
  if (!HM_HAS(plugin_.probe, energy_read)) return absent("probe.energy_read");
  double microjoules = std::nan("");
  Call call;
  auto error = call.outcome(plugin_.probe->energy_read(handle(), &microjoules, call.error()),
                            "probe.energy_read");
  if (!error.ok()) return error;
  if (!std::isfinite(microjoules)) return absent("energy figure");
  return microjoules;
}

// The plugin keeps a pointer to `host` until destroy, and may log from any thread.
struct PluginInstance::Host {
  hm_host host{};
  std::string cache_dir;
  std::mutex mutex;
  std::vector<std::string> lines;

  static void log(void* context, std::int32_t, const char* text) {
    if (context == nullptr || text == nullptr) return;
    auto* self = static_cast<Host*>(context);
    const std::lock_guard lock(self->mutex);
    if (self->lines.size() >= log_lines_max) return;
    self->lines.emplace_back(text, ::strnlen(text, log_line_bytes_max));
  }
};

PluginInstance::PluginInstance(const LoadedPlugin& plugin)
    : plugin_(plugin), host_(std::make_unique<Host>()) {}

PluginResult<std::unique_ptr<PluginInstance>> PluginInstance::create(
    const LoadedPlugin& plugin, std::string cache_dir) noexcept {
  std::unique_ptr<PluginInstance> instance(new PluginInstance(plugin));
  Host& host = *instance->host_;
  host.cache_dir = std::move(cache_dir);
  host.host.struct_size = sizeof host.host;
  host.host.abi_version = HM_ABI_VERSION;
  host.host.context = &host;
  host.host.log = &Host::log;
  host.host.cache_dir = host.cache_dir.c_str();
  Call call;
  auto error = call.outcome(plugin.api->create(&host.host, &instance->handle_, call.error()),
                            "plugin.create");
  if (!error.ok()) {
    instance->handle_ = nullptr;
    return error;
  }
  if (instance->handle_ == nullptr) return broken("plugin.create answered ok without an instance");
  return PluginResult<std::unique_ptr<PluginInstance>>(std::move(instance));
}

PluginInstance::~PluginInstance() {
  if (handle_) plugin_.api->destroy(handle_);
}

std::vector<std::string> PluginInstance::take_log() {
  const std::lock_guard lock(host_->mutex);
  return std::exchange(host_->lines, {});
}

PluginResult<protocol::DeviceDescription> PluginInstance::describe_device(
    std::uint32_t index) noexcept {
  OutStruct<hm_device_info> raw;
  Call call;
  auto error = call.outcome(plugin_.api->device->describe(handle_, index, &raw.value, call.error()),
                            "device.describe");
  if (!error.ok()) return error;
  if (!raw.intact()) return overrun("device.describe");
  const hm_device_info& info = raw.value;
  const std::string who = "device " + std::to_string(index) + " ";
  protocol::DeviceDescription device;
  device.id = text(info.id);
  device.name = text(info.name);
  device.isa = text(info.isa);
  device.driver = text(info.driver);
  if (device.id.empty()) return broken(who + "has no id");
  const char* kind = kind_name(info.kind);
  if (kind == nullptr) return broken(who + "has the unknown kind " + std::to_string(info.kind));
  device.kind = kind;
  if (info.timer != HM_TIMER_HOST_CLOCK && info.timer != HM_TIMER_DEVICE_EVENT) {
    return broken(who + "has the unknown timer " + std::to_string(info.timer));
  }
  if (info.timer == HM_TIMER_DEVICE_EVENT) {
    const hm_stream_api* stream = plugin_.api->stream;
    if (!HM_HAS(stream, event_create) || !HM_HAS(stream, event_destroy) ||
        !HM_HAS(stream, event_record) || !HM_HAS(stream, event_elapsed_ns)) {
      return broken(who + "has timer device_event but the stream group lacks event entries");
    }
  }
  device.timer = info.timer == HM_TIMER_DEVICE_EVENT ? protocol::Timer::device_event
                                                     : protocol::Timer::host_clock;
  device.synchronous = (info.flags & HM_DEVICE_SYNCHRONOUS) != 0;
  device.memory_bytes = std::max<std::int64_t>(0, info.memory_bytes);
  device.cache_bytes = std::max<std::int64_t>(0, info.cache_bytes);
  device.compute_units = std::max<std::int64_t>(0, info.compute_units);
  device.clock_hz_max = std::max<std::int64_t>(0, info.clock_hz_max);
  return device;
}

PluginResult<protocol::PluginDescription> PluginInstance::describe() noexcept {
  protocol::PluginDescription description;
  description.name = plugin_.name;
  description.plugin_version = plugin_.version;
  description.build = plugin_.build;
  description.abi_version = plugin_.abi_version;
  description.has_comm = plugin_.comm != nullptr;
  description.has_probe = plugin_.probe != nullptr;

  std::uint32_t devices = 0;
  Call counting_devices;
  auto error = counting_devices.outcome(
      plugin_.api->device->count(handle_, &devices, counting_devices.error()), "device.count");
  if (!error.ok()) return error;
  if (devices > list_items_max) {
    return broken("device.count claims " + std::to_string(devices) + " devices");
  }
  std::set<std::string> ids;
  for (std::uint32_t i = 0; i < devices; ++i) {
    auto device = describe_device(i);
    if (!device) return device.failure;
    if (!ids.insert(device->id).second) {
      return broken("two devices have the id '" + device->id + "'");
    }
    description.devices.push_back(std::move(*device));
  }

  std::uint32_t kernels = 0;
  Call counting_kernels;
  error = counting_kernels.outcome(
      plugin_.api->kernel->count(handle_, &kernels, counting_kernels.error()), "kernel.count");
  if (!error.ok()) return error;
  if (kernels > list_items_max) {
    return broken("kernel.count claims " + std::to_string(kernels) + " kernels");
  }
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < kernels; ++i) {
    OutStruct<hm_kernel_info> raw;
    Call call;
    error = call.outcome(plugin_.api->kernel->describe(handle_, i, &raw.value, call.error()),
                         "kernel.describe");
    if (!error.ok()) return error;
    if (!raw.intact()) return overrun("kernel.describe");
    protocol::KernelDescription kernel{text(raw.value.name), text(raw.value.op),
                                       (raw.value.flags & HM_KERNEL_COLLECTIVE) != 0};
    if (kernel.name.empty() || kernel.op.empty()) {
      return broken("kernel " + std::to_string(i) + " has no name or no op");
    }
    if (!names.insert(kernel.name).second) {
      return broken("two kernels have the name '" + kernel.name + "'");
    }
    description.kernels.push_back(std::move(kernel));
  }
  description.log = take_log();
  return description;
}

PluginResult<OpenDevice> PluginInstance::open(std::uint32_t index, const Params& options) noexcept {
  auto described = describe_device(index);
  if (!described) return described.failure;
  const ConfigView view(options);
  hm_device* device = nullptr;
  Call call;
  auto error =
      call.outcome(plugin_.api->device->open(handle_, index, options.empty() ? nullptr : view.get(),
                                             &device, call.error()),
                   "device.open");
  if (!error.ok()) return error;
  if (device == nullptr) return broken("device.open answered ok without a device");
  return OpenDevice(plugin_, device, std::move(*described));
}

PluginResult<std::string> PluginInstance::create_token() noexcept {
  if (plugin_.comm == nullptr) return absent("comm group");
  std::string token(HM_TOKEN_MAX, '\0');
  std::uint32_t bytes = HM_TOKEN_MAX;
  Call call;
  auto error = call.outcome(plugin_.comm->token_create(handle_, token.data(), &bytes, call.error()),
                            "comm.token_create");
  if (!error.ok()) return error;
  if (bytes > HM_TOKEN_MAX) return broken("comm.token_create claims a longer token than it may");
  token.resize(bytes);
  return token;
}

}  // namespace halmark
