// A plugin in memory that describes itself as a test says: how many devices, kernels and domains,
// and what each says of itself.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "host/plugin/plugin.hpp"
#include "table_plugin.hpp"

namespace halmark::described_plugin {

inline const hm_host* given_host = nullptr;
inline std::uint32_t device_total = 2, kernel_total = 1, domain_total = 1, token_bytes = 0;
inline std::int32_t answer = HM_OK;
inline bool gives_handles = true;
inline int options_seen = -1;  // -1: none
inline std::function<void(hm_device_info&)> say_device;
inline std::function<void(hm_kernel_info&)> say_kernel;
inline std::function<void(hm_domain&)> say_domain;

inline void fill_device(hm_device_api& d) {
  d.count = [](hm_plugin*, std::uint32_t* count, hm_error*) {
    *count = device_total;
    return answer;
  };
  d.describe = [](hm_plugin* p, std::uint32_t i, hm_device_info* info, hm_error* e) {
    const std::int32_t status = table_plugin::device_describe(p, i, info, e);
    if (say_device) say_device(*info);
    return status;
  };
  d.open = [](hm_plugin*, std::uint32_t, const hm_config* options, hm_device** out, hm_error*) {
    options_seen = options != nullptr ? static_cast<int>(options->count) : -1;
    if (gives_handles) *out = table_plugin::some_device();
    return answer;
  };
}

inline void fill_kernel(hm_kernel_api& k) {
  k.count = [](hm_plugin*, std::uint32_t* count, hm_error*) -> std::int32_t {
    *count = kernel_total;
    return HM_OK;
  };
  k.describe = [](hm_plugin*, std::uint32_t i, hm_kernel_info* info, hm_error*) -> std::int32_t {
    std::snprintf(info->name, sizeof info->name, "copy_%u", i);
    std::strcpy(info->op, "copy");
    if (say_kernel) say_kernel(*info);
    return HM_OK;
  };
  k.domain_count = [](hm_device*, std::uint32_t, const hm_problem*, std::uint32_t* count,
                      hm_error*) -> std::int32_t {
    *count = domain_total;
    return HM_OK;
  };
  k.domain = [](hm_device*, std::uint32_t, const hm_problem*, std::uint32_t i, hm_domain* out,
                hm_error*) -> std::int32_t {
    static const std::int64_t values[] = {1, 2};
    out->kind = HM_DOMAIN_LIST;
    out->count = 2;
    out->values = values;
    out->default_value = 2;
    std::snprintf(out->name, sizeof out->name, "d%u", i);
    if (say_domain) say_domain(*out);
    return HM_OK;
  };
}

struct Described {
  table_plugin::Tables tables;
  std::unique_ptr<PluginInstance> instance;
  Described() {
    device_total = 2;
    kernel_total = domain_total = 1;
    answer = HM_OK;
    gives_handles = true;
    say_device = nullptr;
    say_kernel = nullptr;
    say_domain = nullptr;
    fill_device(tables.device);
    fill_kernel(tables.kernel);
    tables.plugin.create = [](const hm_host* host, hm_plugin** out, hm_error*) {
      given_host = host;
      if (gives_handles) *out = table_plugin::some_plugin();
      return answer;
    };
    tables.comm.token_create = [](hm_plugin*, void* token, std::uint32_t* bytes, hm_error*) {
      std::memset(token, 'k', 2);
      EXPECT_EQ(*bytes, static_cast<std::uint32_t>(HM_TOKEN_MAX));
      *bytes = token_bytes;
      return answer;
    };
    tables.comm.create = table_plugin::ok;
    tables.comm.destroy = [](hm_comm*) {};
  }
  PluginResult<std::unique_ptr<PluginInstance>> make(const std::string& cache_dir = "") {
    return PluginInstance::create(check_plugin(&tables.plugin, HM_ABI_VERSION), cache_dir);
  }
  std::string described() {
    if (!instance) instance = std::move(*make());
    const auto found = instance->describe();
    return found ? "accepted" : found.failure.message;
  }
  std::string device(std::function<void(hm_device_info&)> say) {
    say_device = std::move(say);
    return described();
  }
  std::string kernel(std::function<void(hm_kernel_info&)> say) {
    say_kernel = std::move(say);
    return described();
  }
  std::string domain(std::function<void(hm_domain&)> say) {
    say_domain = std::move(say);
    if (!instance) instance = std::move(*make());
    auto open = instance->open(0, {});
    const auto found = open->domains(0, {"copy", {}});
    return found ? "accepted" : found.failure.message;
  }
};

}  // namespace halmark::described_plugin
