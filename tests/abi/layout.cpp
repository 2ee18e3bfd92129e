#include "layout.hpp"

#include <halmark_plugin.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#define F(type, field) \
  Field { #field, offsetof(type, field), sizeof(type::field) }

namespace halmark::abi_test {

std::vector<Layout> current_layout() {
  return {
      {"hm_error",
       sizeof(hm_error),
       {F(hm_error, struct_size), F(hm_error, code), F(hm_error, vendor_code),
        F(hm_error, message)}},
      {"hm_host",
       sizeof(hm_host),
       {F(hm_host, struct_size), F(hm_host, abi_version), F(hm_host, context), F(hm_host, log),
        F(hm_host, cache_dir)}},
      {"hm_param", sizeof(hm_param), {F(hm_param, name), F(hm_param, value)}},
      {"hm_problem",
       sizeof(hm_problem),
       {F(hm_problem, struct_size), F(hm_problem, count), F(hm_problem, op),
        F(hm_problem, params)}},
      {"hm_config",
       sizeof(hm_config),
       {F(hm_config, struct_size), F(hm_config, count), F(hm_config, params)}},
      {"hm_device_info",
       sizeof(hm_device_info),
       {F(hm_device_info, struct_size), F(hm_device_info, kind), F(hm_device_info, timer),
        F(hm_device_info, flags), F(hm_device_info, id), F(hm_device_info, name),
        F(hm_device_info, isa), F(hm_device_info, driver), F(hm_device_info, memory_bytes),
        F(hm_device_info, cache_bytes), F(hm_device_info, compute_units),
        F(hm_device_info, clock_hz_max)}},
      {"hm_device_api",
       sizeof(hm_device_api),
       {F(hm_device_api, struct_size), F(hm_device_api, reserved), F(hm_device_api, count),
        F(hm_device_api, describe), F(hm_device_api, open), F(hm_device_api, close)}},
      {"hm_memory_api",
       sizeof(hm_memory_api),
       {F(hm_memory_api, struct_size), F(hm_memory_api, reserved), F(hm_memory_api, create),
        F(hm_memory_api, destroy), F(hm_memory_api, write), F(hm_memory_api, read),
        F(hm_memory_api, fill), F(hm_memory_api, wrap)}},
      {"hm_stream_api",
       sizeof(hm_stream_api),
       {F(hm_stream_api, struct_size), F(hm_stream_api, reserved), F(hm_stream_api, create),
        F(hm_stream_api, destroy), F(hm_stream_api, wait), F(hm_stream_api, event_create),
        F(hm_stream_api, event_destroy), F(hm_stream_api, event_record),
        F(hm_stream_api, event_elapsed_ns), F(hm_stream_api, event_elapsed_cycles),
        F(hm_stream_api, hold), F(hm_stream_api, unhold)}},
      {"hm_kernel_info",
       sizeof(hm_kernel_info),
       {F(hm_kernel_info, struct_size), F(hm_kernel_info, flags), F(hm_kernel_info, name),
        F(hm_kernel_info, op)}},
      {"hm_domain",
       sizeof(hm_domain),
       {F(hm_domain, struct_size), F(hm_domain, kind), F(hm_domain, flags), F(hm_domain, count),
        F(hm_domain, name), F(hm_domain, values), F(hm_domain, labels),
        F(hm_domain, default_value)}},
      {"hm_operand",
       sizeof(hm_operand),
       {F(hm_operand, struct_size), F(hm_operand, role), F(hm_operand, dtype), F(hm_operand, rank),
        F(hm_operand, dims), F(hm_operand, strides), F(hm_operand, bytes), F(hm_operand, alignment),
        F(hm_operand, name), F(hm_operand, layout)}},
      {"hm_prepared_info",
       sizeof(hm_prepared_info),
       {F(hm_prepared_info, struct_size), F(hm_prepared_info, flags),
        F(hm_prepared_info, operand_count), F(hm_prepared_info, launches_per_execution),
        F(hm_prepared_info, workspace_bytes), F(hm_prepared_info, constant_bytes),
        F(hm_prepared_info, implementation), F(hm_prepared_info, isa), F(hm_prepared_info, library),
        F(hm_prepared_info, library_version)}},
      {"hm_arguments",
       sizeof(hm_arguments),
       {F(hm_arguments, buffers), F(hm_arguments, sources), F(hm_arguments, count),
        F(hm_arguments, reserved)}},
      {"hm_launch",
       sizeof(hm_launch),
       {F(hm_launch, struct_size), F(hm_launch, set_count), F(hm_launch, repeat),
        F(hm_launch, sets), F(hm_launch, workspace)}},
      {"hm_kernel_api",
       sizeof(hm_kernel_api),
       {F(hm_kernel_api, struct_size), F(hm_kernel_api, reserved), F(hm_kernel_api, count),
        F(hm_kernel_api, describe), F(hm_kernel_api, domain_count), F(hm_kernel_api, domain),
        F(hm_kernel_api, supports), F(hm_kernel_api, prepare), F(hm_kernel_api, release),
        F(hm_kernel_api, info), F(hm_kernel_api, operand), F(hm_kernel_api, enqueue),
        F(hm_kernel_api, load_constants)}},
      {"hm_clocks",
       sizeof(hm_clocks),
       {F(hm_clocks, struct_size), F(hm_clocks, throttle), F(hm_clocks, core_hz),
        F(hm_clocks, memory_hz), F(hm_clocks, temperature_c), F(hm_clocks, power_w)}},
      {"hm_probe_api",
       sizeof(hm_probe_api),
       {F(hm_probe_api, struct_size), F(hm_probe_api, reserved), F(hm_probe_api, cache_flush),
        F(hm_probe_api, clocks_read), F(hm_probe_api, energy_read)}},
      {"hm_comm_api",
       sizeof(hm_comm_api),
       {F(hm_comm_api, struct_size), F(hm_comm_api, reserved), F(hm_comm_api, token_create),
        F(hm_comm_api, create), F(hm_comm_api, destroy)}},
      {"hm_plugin_api",
       sizeof(hm_plugin_api),
       {F(hm_plugin_api, struct_size), F(hm_plugin_api, abi_version), F(hm_plugin_api, name),
        F(hm_plugin_api, version), F(hm_plugin_api, build), F(hm_plugin_api, create),
        F(hm_plugin_api, destroy), F(hm_plugin_api, device), F(hm_plugin_api, memory),
        F(hm_plugin_api, stream), F(hm_plugin_api, kernel), F(hm_plugin_api, probe),
        F(hm_plugin_api, comm)}},
  };
}

std::string to_text(const std::vector<Layout>& layouts) {
  std::string text;
  for (const Layout& layout : layouts) {
    text += layout.name + " " + std::to_string(layout.size) + "\n";
    for (const Field& field : layout.fields) {
      text += "  " + field.name + " " + std::to_string(field.offset) + " " +
              std::to_string(field.size) + "\n";
    }
  }
  return text;
}

std::vector<Layout> parse_layout(const std::string& text) {
  std::vector<Layout> layouts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    if (line.starts_with("  ")) {
      Field field;
      words >> field.name >> field.offset >> field.size;
      layouts.back().fields.push_back(field);
    } else {
      Layout layout;
      words >> layout.name >> layout.size;
      layouts.push_back(layout);
    }
  }
  return layouts;
}

std::string declarations(const std::string& header) {
  std::string text;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header.compare(i, 2, "/*") == 0) {
      i = header.find("*/", i) + 1;
    } else if (std::string_view(" \t\n").find(header[i]) == std::string_view::npos) {
      text += header[i];
    }
  }
  return text;
}

std::string hash(const std::string& text) {
  std::uint64_t value = 14695981039346656037u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace halmark::abi_test
