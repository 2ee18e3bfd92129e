#include "plan/device_file.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "plan/toml_table.hpp"

namespace halmark {
namespace {

Dtype read_dtype(const TomlTable& table) {
  const std::string text = table.string("dtype");
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> names;
  for (const Dtype d : all_dtypes()) names.emplace_back(dtype_name(d));
  throw refused("'" + text + "' is no data type", table.where("dtype"), suggestion(text, names));
}

Peak read_peak(const TomlTable& table) {
  Peak out;
  out.path = table.string("path");
  out.dtype = read_dtype(table);
  out.isa = table.string_or("isa", "");
  out.threads = static_cast<int>(table.integer_or("threads", 0, 1 << 20, 0));
  out.flops_per_s = table.number("flops_per_s", 1, 1e21);
  if (table.has("flops_per_s_q90")) out.flops_per_s_q90 = table.number("flops_per_s_q90", 1, 1e21);
  if (table.has("flops_per_s_high")) {
    out.flops_per_s_high = table.number("flops_per_s_high", 1, 1e21);
  }
  out.source = table.string("source");
  return out;
}

Bandwidth read_bandwidth(const TomlTable& table) {
  Bandwidth out;
  out.level = table.choice("level", {"l1", "l2", "l3", "memory"});
  out.threads = static_cast<int>(table.integer_or("threads", 0, 1 << 20, 0));
  out.bytes_per_s = table.number("bytes_per_s", 1, 1e18);
  out.working_set_bytes = table.integer_or("working_set_bytes", 0, INT64_MAX, 0);
  out.source = table.string("source");
  return out;
}

Device read(const TomlTable& root) {
  Device out;
  out.id = root.string("id");
  out.name = root.string("name");
  out.kind = root.string("kind");
  out.fingerprint = root.string_or("fingerprint", "");
  out.is_measured = root.boolean_or("is_measured", false);
  out.memory_bytes = root.integer_or("memory_bytes", 0, INT64_MAX, 0);
  if (root.has("ring_plateau_bytes")) {
    out.ring_plateau_bytes = root.integer("ring_plateau_bytes", 1, INT64_MAX);
  }
  if (root.has("clock_hz")) out.clock_hz = root.number("clock_hz", 1, 1e12);
  if (root.has("power_w")) out.power_w = root.number("power_w", 0, 1e6);
  for (const TomlTable& table : root.tables("peak")) out.peaks.push_back(read_peak(table));
  for (const TomlTable& table : root.tables("bandwidth")) {
    out.bandwidths.push_back(read_bandwidth(table));
  }
  root.finish();
  return out;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return out + '"';
}

// Shortest text that reads back to the same double; TOML floats need a point or an exponent.
std::string real(double value) {
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string out(buffer, result.ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string line(std::string_view key, const std::string& value) {
  return std::string(key) + " = " + value + '\n';
}

}  // namespace

Device read_device(const std::string& path) { return read(TomlTable::parse_file(path)); }

Device parse_device(std::string_view text, std::string_view where) {
  return read(TomlTable::parse(text, where));
}

std::vector<Device> known_devices(const std::vector<std::filesystem::path>& folders) {
  std::vector<Device> out;
  for (const auto& folder : folders) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".toml") out.push_back(read_device(entry.path().string()));
    }
  }
  std::ranges::sort(out, {}, &Device::id);
  return out;
}

std::string device_text(const Device& device) {
  std::string out = line("id", toml_string(device.id)) + line("name", toml_string(device.name)) +
                    line("kind", toml_string(device.kind)) +
                    line("fingerprint", toml_string(device.fingerprint)) +
                    line("is_measured", device.is_measured ? "true" : "false") +
                    line("memory_bytes", std::to_string(device.memory_bytes));
  if (device.ring_plateau_bytes) {
    out += line("ring_plateau_bytes", std::to_string(*device.ring_plateau_bytes));
  }
  if (device.clock_hz) out += line("clock_hz", real(*device.clock_hz));
  if (device.power_w) out += line("power_w", real(*device.power_w));
  for (const Peak& peak : device.peaks) {
    out += "\n[[peak]]\n" + line("path", toml_string(peak.path)) +
           line("dtype", toml_string(dtype_name(peak.dtype))) + line("isa", toml_string(peak.isa)) +
           line("threads", std::to_string(peak.threads)) +
           line("flops_per_s", real(peak.flops_per_s));
    if (peak.flops_per_s_q90) out += line("flops_per_s_q90", real(*peak.flops_per_s_q90));
    if (peak.flops_per_s_high) out += line("flops_per_s_high", real(*peak.flops_per_s_high));
    out += line("source", toml_string(peak.source));
  }
  for (const Bandwidth& b : device.bandwidths) {
    out += "\n[[bandwidth]]\n" + line("level", toml_string(b.level)) +
           line("threads", std::to_string(b.threads)) + line("bytes_per_s", real(b.bytes_per_s)) +
           line("working_set_bytes", std::to_string(b.working_set_bytes)) +
           line("source", toml_string(b.source));
  }
  return out;
}

}  // namespace halmark
