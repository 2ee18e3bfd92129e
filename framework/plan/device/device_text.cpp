// The TOML text of a device; every optional figure stays absent when it is.

#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "plan/device/device_file.hpp"

namespace halmark {
namespace {

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
  std::string out = number_text(value);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string line(std::string_view key, const std::string& value) {
  return std::string(key) + " = " + value + '\n';
}

std::string line_if(std::string_view key, std::optional<double> value) {
  return value ? line(key, real(*value)) : std::string();
}

std::string line_if(std::string_view key, std::string_view value) {
  return value.empty() ? std::string() : line(key, toml_string(value));
}

std::string line_if(std::string_view key, const std::vector<std::string>& values) {
  std::string list = join(values, ", ", toml_string);
  return values.empty() ? std::string() : line(key, '[' + list + ']');
}

std::string head_text(const Device& device) {
  std::string out = line("id", toml_string(device.id)) + line("name", toml_string(device.name)) +
                    line("kind", toml_string(device.kind)) + line_if("vendor", device.vendor) +
                    line_if("aliases", device.aliases) + line_if("notes", device.notes) +
                    line("fingerprint", toml_string(device.fingerprint)) +
                    line("is_measured", device.is_measured ? "true" : "false") +
                    line("memory_bytes", std::to_string(device.memory_bytes));
  if (device.memory_bytes_high) {
    out += line("memory_bytes_high", std::to_string(*device.memory_bytes_high));
  }
  out +=
      line_if("memory_type", device.memory_type) + line_if("memory_source", device.memory_source);
  out += line_if("memory_confidence", confidence_name(device.memory_confidence));
  if (device.ring_plateau_bytes) {
    out += line("ring_plateau_bytes", std::to_string(*device.ring_plateau_bytes));
  }
  if (device.devices_in_part != 1) {
    out += line("devices_in_part", std::to_string(device.devices_in_part));
  }
  return out + line_if("clock_hz", device.clock_hz) + line_if("power_w", device.power_w) +
         line_if("power_w_high", device.power_w_high) +
         line_if("power_source", device.power_source) +
         line_if("power_confidence", confidence_name(device.power_confidence)) +
         line_if("usd_per_hour", device.usd_per_hour);
}

std::string occasions_text(std::string_view owner, const std::vector<Occasion>& occasions) {
  std::string out;
  for (const Occasion& o : occasions) {
    out += "\n[[" + std::string(owner) + ".occasion]]\n" + line_if("utc", o.utc) +
           line("probes", std::to_string(o.probes)) + line("median", real(o.median));
    constexpr std::array<std::string_view, 3> keys{"highest", "second", "third"};
    for (const auto i : indices(std::min(keys.size(), o.highest.size()))) {
      out += line(keys.at(i), real(o.highest[i]));
    }
    if (o.is_busy) out += line("is_busy", "true");
  }
  return out;
}

std::string peak_text(const Peak& peak) {
  std::string out = "\n[[peak]]\n" + line("path", toml_string(peak.path)) +
                    line("dtype", toml_string(dtype_name(peak.dtype))) +
                    line("isa", toml_string(peak.isa)) +
                    line("threads", std::to_string(peak.threads));
  if (!peak.is_derived) out += line("flops_per_s", real(peak.flops_per_s));
  if (peak.rule) {
    out += line("units", real(peak.rule->units)) +
           line("fma_per_cycle", real(peak.rule->fma_per_cycle)) +
           line("clock_hz", real(peak.rule->clock_hz));
  }
  return out + line_if("flops_per_s_q90", peak.flops_per_s_q90) +
         line_if("flops_per_s_high", peak.flops_per_s_high) +
         line_if("rate_over_16_bit", peak.rate_over_16_bit) +
         line("source", toml_string(peak.source)) +
         line_if("confidence", confidence_name(peak.confidence)) +
         (peak.is_provisional ? line("is_provisional", "true") : "") +
         occasions_text("peak", peak.occasions);
}

std::string bandwidth_text(const Bandwidth& b) {
  return "\n[[bandwidth]]\n" + line("level", toml_string(b.level)) +
         line("threads", std::to_string(b.threads)) + line("bytes_per_s", real(b.bytes_per_s)) +
         line("working_set_bytes", std::to_string(b.working_set_bytes)) +
         line_if("access", b.access) + line("source", toml_string(b.source)) +
         line_if("bytes_per_s_high", b.bytes_per_s_high) + line_if("bus_bits", b.bus_bits) +
         line_if("transfers_per_s", b.transfers_per_s) +
         line_if("confidence", confidence_name(b.confidence)) +
         (b.is_provisional ? line("is_provisional", "true") : "") +
         occasions_text("bandwidth", b.occasions);
}

std::string link_text(const Link& link) {
  std::string out = "\n[[link]]\nscope = \"scale_up\"\n" + line("name", toml_string(link.name)) +
                    line("bytes_per_s", real(link.bytes_per_s)) +
                    line_if("bytes_per_s_high", link.bytes_per_s_high);
  if (link.domain_devices) out += line("domain", std::to_string(*link.domain_devices));
  if (link.reduces_in_switch) out += line("in_switch_reduction", "true");
  return out + line("source", toml_string(link.source)) +
         line_if("confidence", confidence_name(link.confidence));
}

}  // namespace

std::string device_text(const Device& device) {
  std::string out = head_text(device);
  for (const Peak& peak : device.peaks) out += peak_text(peak);
  for (const Bandwidth& b : device.bandwidths) out += bandwidth_text(b);
  for (const Link& link : device.links) out += link_text(link);
  return out;
}

}  // namespace halmark
