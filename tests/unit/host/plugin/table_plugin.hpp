// A plugin as a table in memory: tests bend one entry of it and see what the host makes of that.
#pragma once

#include <halmark_plugin.h>

#include <cstdio>
#include <cstring>

namespace halmark::table_plugin {

inline hm_domain domain{};           // what kernel.domain answers; set by the test
inline std::int32_t status = HM_OK;  // what kernel.supports answers

inline hm_plugin* some_plugin() { return reinterpret_cast<hm_plugin*>(&status); }
inline hm_device* some_device() { return reinterpret_cast<hm_device*>(&domain); }

inline std::int32_t create(const hm_host* host, hm_plugin** out, hm_error*) {
  host->log(host->context, HM_LOG_INFO, "created");
  *out = some_plugin();
  return HM_OK;
}
inline std::int32_t device_count(hm_plugin*, std::uint32_t* count, hm_error*) {
  *count = 2;
  return HM_OK;
}
inline std::int32_t device_describe(hm_plugin*, std::uint32_t index, hm_device_info* info,
                                    hm_error*) {
  info->kind = HM_DEVICE_CPU;
  info->timer = HM_TIMER_HOST_CLOCK;
  info->flags = HM_DEVICE_SYNCHRONOUS;
  std::snprintf(info->id, sizeof info->id, "%u", index);
  return HM_OK;
}
inline std::int32_t device_open(hm_plugin*, std::uint32_t, const hm_config*, hm_device** out,
                                hm_error*) {
  *out = some_device();
  return HM_OK;
}
inline std::int32_t kernel_count(hm_plugin*, std::uint32_t* count, hm_error*) {
  *count = 1;
  return HM_OK;
}
inline std::int32_t kernel_describe(hm_plugin*, std::uint32_t, hm_kernel_info* info, hm_error*) {
  std::strcpy(info->name, "copy_simple");
  std::strcpy(info->op, "copy");
  return HM_OK;
}
inline std::int32_t domain_count(hm_device*, std::uint32_t, const hm_problem*, std::uint32_t* count,
                                 hm_error*) {
  *count = 1;
  return HM_OK;
}
inline std::int32_t get_domain(hm_device*, std::uint32_t, const hm_problem*, std::uint32_t,
                               hm_domain* out, hm_error*) {
  *out = domain;
  return HM_OK;
}
// Answers `status`; says in its message what it was asked.
inline std::int32_t supports(hm_device*, std::uint32_t, const hm_problem* problem,
                             const hm_config* config, hm_error* error) {
  int used = std::snprintf(error->message, sizeof error->message, "%s", problem->op);
  for (std::uint32_t i = 0; i < problem->count; ++i) {
    used += std::snprintf(error->message + used, 64, " %s=%lld", problem->params[i].name,
                          static_cast<long long>(problem->params[i].value));
  }
  std::snprintf(error->message + used, 64, config ? " |%u" : " |none", config ? config->count : 0);
  return status;
}

// An entry that answers what a variable says, whatever it is asked.
template <auto& answer>
struct Answers {
  template <class... Given>
  using Entry = std::int32_t (*)(Given...);
  template <class... Given>
  operator Entry<Given...>() const {
    return [](Given...) -> std::int32_t { return answer; };
  }
};
inline constexpr std::int32_t always_ok = HM_OK, always_out_of_memory = HM_OUT_OF_MEMORY,
                              always_999 = 999;
inline constexpr Answers<always_ok> ok;

struct Tables {
  hm_device_api device{};
  hm_memory_api memory{};
  hm_stream_api stream{};
  hm_kernel_api kernel{};
  hm_comm_api comm{};
  hm_plugin_api plugin{};

  Tables() {
    device = {sizeof device, 0, &device_count, &device_describe, &device_open, [](hm_device*) {}};
    memory.struct_size = sizeof memory;
    memory.create = Answers<always_out_of_memory>();
    memory.destroy = [](hm_buffer*) {};
    memory.write = ok;
    memory.read = ok;
    stream.struct_size = sizeof stream;
    stream.create = ok;
    stream.destroy = [](hm_stream*) {};
    stream.wait = ok;
    kernel.struct_size = sizeof kernel;
    kernel.count = &kernel_count;
    kernel.describe = &kernel_describe;
    kernel.domain_count = &domain_count;
    kernel.domain = &get_domain;
    kernel.supports = &supports;
    kernel.prepare = Answers<always_999>();
    kernel.release = [](hm_prepared*) {};
    kernel.info = ok;
    kernel.operand = ok;
    kernel.enqueue = ok;
    comm.struct_size = sizeof comm;
    plugin.struct_size = sizeof plugin;
    plugin.abi_version = HM_ABI_VERSION;
    plugin.name = "table";
    plugin.version = "1";
    plugin.build = "test";
    plugin.create = &create;
    plugin.destroy = [](hm_plugin*) {};
    plugin.device = &device;
    plugin.memory = &memory;
    plugin.stream = &stream;
    plugin.kernel = &kernel;
  }
};

}  // namespace halmark::table_plugin
