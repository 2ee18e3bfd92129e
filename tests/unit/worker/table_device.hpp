// A device in memory behind a table of the plugin contract, and a clock that a test moves: what
// staging and timing hand to a plugin is seen call by call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/process/barrier.hpp"
#include "kernels/contract.hpp"
#include "measure/sampling/clock_source.hpp"
#include "tests/unit/host/plugin/table_plugin.hpp"
#include "tests/unit/kernels/written.hpp"
#include "worker/request_failed.hpp"
#include "worker/staging/staged_kernel.hpp"
#include "worker/timed_step.hpp"

namespace halmark::worker::test {

inline const Problem gemm{
    "gemm", halmark::test::written("m=3 n=4 k=5 src_dtype=f32 wei_dtype=f32 dst_dtype=f32")};
inline const Problem softmax{"softmax",
                             halmark::test::written("rows=8 cols=16 src_dtype=f32 dst_dtype=f32")};
inline Problem copy(std::int64_t bytes) { return {"copy", {{"bytes", bytes}}}; }

// What an action that has to fail fails with.
template <class Action>
protocol::Failed failure_of(Action action) {
  try {
    action();
  } catch (const RequestFailed& failure) {
    return failure.failed();
  }
  return {.code = HM_OK, .phase = {}, .message = "accepted"};
}

inline CommonStart together(SharedBarrier& barrier, int parties = 1) {
  return {.barrier = &barrier, .parties = parties, .timeout = std::chrono::seconds(60)};
}
inline BarrierOutcome outcome_at(SharedBarrier& barrier) {
  return barrier.arrive_and_spin(1, std::chrono::seconds(1));
}
inline std::int32_t launch_fails(const hm_launch&) { return HM_LAUNCH_FAILED; }

class ManualClock : public ClockSource {
 public:
  double wall_ns() override { return std::exchange(now_ns, now_ns + per_reading_ns); }
  double cpu_ns() override { return now_ns; }
  double now_ns = 7e9;
  double per_reading_ns = 0;  // passes behind every reading
};

struct TableBuffer {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> own = {};  // where the device allocates
};

// What the device is told to do and was asked for; one device at a time.
struct TableState {
  Problem problem;
  std::uint32_t flags = 0;
  std::uint64_t workspace_bytes = 0;
  std::uint64_t alignment = 64;
  std::int32_t buffers_left = 1 << 20;  // then out of memory
  std::function<void(std::uint32_t, hm_operand&)> say_operand;
  std::function<std::int32_t(const hm_launch&)> on_enqueue;
  std::function<std::int32_t(const hm_arguments&)> on_load_constants;
  std::vector<std::string> calls;  // hold, record, enqueue, unhold, wait, flush
  std::int32_t hold = HM_OK, record = HM_OK, unhold = HM_OK, wait = HM_OK, flush = HM_OK;
  std::function<void()> on_wait;
  double elapsed_ns = 0;
  int prepared = 0;
};
inline TableState state;

inline TableBuffer& of(hm_buffer* handle) { return *reinterpret_cast<TableBuffer*>(handle); }

class TableDevice {
 public:
  // The kernel implements `problem`; with an arena of so many bytes, and events where asked for.
  explicit TableDevice(const Problem& problem, std::int64_t arena_bytes = 0,
                       bool has_events = false)
      : memory(arena_bytes > 0 ? SharedMemory::create("arena", arena_bytes, false)
                               : SharedMemory()) {
    state = {};
    state.problem = complete_problem(problem);
    fill_memory();
    fill_stream(has_events);
    fill_kernel();
    probe.struct_size = sizeof probe;
    probe.cache_flush = [](hm_stream*, hm_error*) {
      state.calls.emplace_back("flush");
      return state.flush;
    };
    tables.plugin.probe = &probe;
    auto made = PluginInstance::create(check_plugin(&tables.plugin, HM_ABI_VERSION), "");
    instance = std::move(*made);
    kernels = {{"table", problem.op, false}};
    reopen();
  }
  ~TableDevice() {
    context.reset();
    stream = DeviceStream();
    device = OpenDevice();
  }
  // After a change of the tables.
  void reopen() {
    stream = DeviceStream();
    device = OpenDevice();
    device = std::move(*instance->open(0, {}));
    stream = std::move(*device.create_stream());
    context = std::make_unique<DeviceContext>(
        DeviceContext{*instance, device, stream, memory, clock, kernels});
  }
  protocol::Stage request(CacheMode mode, int sets) const {
    return {.id = 1,
            .kernel = {},
            .problem = state.problem,
            .config = {},
            .mode = mode,
            .sets = sets,
            .seed = 7,
            .group = {}};
  }
  std::unique_ptr<StagedKernel> stage(CacheMode mode, int sets) {
    return std::make_unique<StagedKernel>(*context, request(mode, sets), [](const char*) {});
  }

  table_plugin::Tables tables;
  hm_probe_api probe{};
  HostMemory memory;
  ManualClock clock;
  std::vector<protocol::KernelDescription> kernels;
  std::unique_ptr<PluginInstance> instance;
  OpenDevice device;
  DeviceStream stream;
  std::unique_ptr<DeviceContext> context;

 private:
  static std::int32_t give(hm_buffer** out, TableBuffer buffer) {
    if (state.buffers_left-- <= 0) return HM_OUT_OF_MEMORY;
    *out = reinterpret_cast<hm_buffer*>(new TableBuffer(std::move(buffer)));
    return HM_OK;
  }
  void fill_memory() {
    hm_memory_api& m = tables.memory;
    m.create = [](hm_device*, std::uint64_t bytes, std::uint64_t, std::int32_t, hm_buffer** out,
                  hm_error*) {
      auto own = std::make_unique<std::byte[]>(bytes);
      std::byte* data = own.get();
      return give(out, {data, bytes, std::move(own)});
    };
    m.wrap = [](hm_device*, void* address, std::uint64_t bytes, hm_buffer** out, hm_error*) {
      return give(out, {static_cast<std::byte*>(address), bytes});
    };
    m.destroy = [](hm_buffer* buffer) { delete reinterpret_cast<TableBuffer*>(buffer); };
    m.write = [](hm_buffer* buffer, std::uint64_t offset, const void* source, std::uint64_t bytes,
                 hm_error*) -> std::int32_t {
      if (offset + bytes > of(buffer).bytes) return HM_INVALID_ARGUMENT;
      std::memcpy(of(buffer).data + offset, source, bytes);
      return HM_OK;
    };
    m.read = [](hm_buffer* buffer, std::uint64_t offset, void* target, std::uint64_t bytes,
                hm_error*) -> std::int32_t {
      if (offset + bytes > of(buffer).bytes) return HM_INVALID_ARGUMENT;
      std::memcpy(target, of(buffer).data + offset, bytes);
      return HM_OK;
    };
  }
  template <class Handle>
  static std::int32_t some(Handle** out) {
    *out = reinterpret_cast<Handle*>(&state);
    return HM_OK;
  }
  void fill_stream(bool has_events) {
    hm_stream_api& s = tables.stream;
    s.create = [](hm_device*, hm_stream** out, hm_error*) { return some(out); };
    s.wait = [](hm_stream*, hm_error*) {
      state.calls.emplace_back("wait");
      if (state.on_wait) state.on_wait();
      return state.wait;
    };
    if (!has_events) return;
    s.event_create = [](hm_device*, hm_event** out, hm_error*) { return some(out); };
    s.event_destroy = [](hm_event*) {};
    s.event_record = [](hm_event*, hm_stream*, hm_error*) {
      state.calls.emplace_back("record");
      return state.record;
    };
    s.event_elapsed_ns = [](hm_event*, hm_event*, double* ns, hm_error*) -> std::int32_t {
      *ns = state.elapsed_ns;
      return HM_OK;
    };
    s.hold = [](hm_stream*, std::uint64_t, hm_error*) {
      state.calls.emplace_back("hold");
      return state.hold;
    };
    s.unhold = [](hm_stream*, hm_error*) {
      state.calls.emplace_back("unhold");
      return state.unhold;
    };
    tables.device.describe = [](hm_plugin* p, std::uint32_t i, hm_device_info* info, hm_error* e) {
      const std::int32_t status = table_plugin::device_describe(p, i, info, e);
      info->timer = HM_TIMER_DEVICE_EVENT;
      info->flags = 0;
      return status;
    };
  }
  void fill_kernel() {
    hm_kernel_api& k = tables.kernel;
    k.supports = table_plugin::ok;
    k.prepare = [](hm_device*, std::uint32_t, const hm_problem*, const hm_config*, hm_comm*,
                   hm_prepared** out, hm_error*) {
      ++state.prepared;
      return some(out);
    };
    k.info = [](hm_prepared*, hm_prepared_info* info, hm_error*) -> std::int32_t {
      std::strcpy(info->implementation, "table");
      info->operand_count = static_cast<std::uint32_t>(specs().size());
      info->flags = state.flags;
      info->workspace_bytes = state.workspace_bytes;
      return HM_OK;
    };
    k.operand = [](hm_prepared*, std::uint32_t i, hm_operand* o, hm_error*) -> std::int32_t {
      const OperandSpec spec = specs().at(i);
      std::snprintf(o->name, sizeof o->name, "%s", spec.name.c_str());
      o->role = static_cast<std::int32_t>(spec.role);
      o->dtype = static_cast<std::int32_t>(spec.dtype);
      o->bytes = static_cast<std::uint64_t>(spec.bytes());
      o->alignment = state.alignment;
      if (state.say_operand) state.say_operand(i, *o);
      return HM_OK;
    };
    k.enqueue = [](hm_prepared*, hm_stream*, const hm_launch* launch, hm_error*) -> std::int32_t {
      state.calls.emplace_back("enqueue");
      return state.on_enqueue ? state.on_enqueue(*launch) : HM_OK;
    };
    k.load_constants = [](hm_prepared*, hm_stream*, const hm_arguments* arguments, hm_error*) {
      return state.on_load_constants ? state.on_load_constants(*arguments)
                                     : copy_sources(*arguments);
    };
  }
  static std::vector<OperandSpec> specs() {
    return find_contract(state.problem.op)->operands(state.problem.params);
  }

 public:
  // Packing that changes nothing.
  static std::int32_t copy_sources(const hm_arguments& a) {
    for (std::uint32_t i = 0; i < a.count; ++i) {
      if (a.sources[i] == nullptr) continue;
      std::memcpy(of(a.buffers[i]).data, of(a.sources[i]).data, of(a.sources[i]).bytes);
    }
    return HM_OK;
  }
};

}  // namespace halmark::worker::test
