#include "cli/device_tables.hpp"

#include <fmt/format.h>

#include "cli/console/paths.hpp"
#include "cli/console/terminal.hpp"
#include "plan/device_file.hpp"

namespace halmark::cli {
namespace {

Json confidence_json(Confidence confidence) {
  const std::string_view name = confidence_name(confidence);
  return name.empty() ? Json(nullptr) : Json(std::string(name));
}

// "12.6 to 15 PFLOP/s": a range where sources disagree.
std::string range_text(double low, std::optional<double> high, std::string_view unit) {
  return high && *high > low ? rate_text(low, unit) + " to " + rate_text(*high, unit)
                             : rate_text(low, unit);
}

Json peak_json(const Peak& p) {
  Json out = {{"path", p.path},
              {"dtype", std::string(dtype_name(p.dtype))},
              {"isa", p.isa},
              {"threads", p.threads},
              {"flops_per_s", p.flops_per_s},
              {"flops_per_s_high", optional_number(p.flops_per_s_high)},
              {"is_derived", p.is_derived},
              {"source", p.source},
              {"confidence", confidence_json(p.confidence)}};
  if (p.rule) {
    out["rule"] = {{"units", p.rule->units},
                   {"fma_per_cycle", p.rule->fma_per_cycle},
                   {"clock_hz", p.rule->clock_hz},
                   {"flops_per_s", p.rule->flops_per_s()}};
  }
  return out;
}

Json bandwidth_json(const Bandwidth& b) {
  return {{"level", b.level},
          {"bytes_per_s", b.bytes_per_s},
          {"bytes_per_s_high", optional_number(b.bytes_per_s_high)},
          {"source", b.source},
          {"confidence", confidence_json(b.confidence)}};
}

Json link_json(const Link& link) {
  return {{"scope", "scale_up"},
          {"name", link.name},
          {"bytes_per_s", link.bytes_per_s},
          {"bytes_per_s_high", optional_number(link.bytes_per_s_high)},
          {"direction", "one"},
          {"domain", link.domain_devices ? Json(*link.domain_devices) : Json(nullptr)},
          {"source", link.source},
          {"confidence", confidence_json(link.confidence)}};
}

Json device_json(const Device& d) {
  Json peaks = Json::array(), bandwidths = Json::array(), links = Json::array();
  for (const Peak& p : d.peaks) peaks.push_back(peak_json(p));
  for (const Bandwidth& b : d.bandwidths) bandwidths.push_back(bandwidth_json(b));
  for (const Link& link : d.links) links.push_back(link_json(link));
  return {{"id", d.id},
          {"aliases", d.aliases},
          {"name", d.name},
          {"vendor", d.vendor},
          {"kind", d.kind},
          {"devices_in_part", d.devices_in_part},
          {"memory_bytes", d.memory_bytes > 0 ? Json(d.memory_bytes) : Json(nullptr)},
          {"memory_bytes_high", d.memory_bytes_high ? Json(*d.memory_bytes_high) : Json(nullptr)},
          {"memory_type", d.memory_type},
          {"memory_source", d.memory_source},
          {"memory_confidence", confidence_json(d.memory_confidence)},
          {"clock_hz", optional_number(d.clock_hz)},
          {"power_w", optional_number(d.power_w)},
          {"power_w_high", optional_number(d.power_w_high)},
          {"power_source", d.power_source},
          {"power_confidence", confidence_json(d.power_confidence)},
          {"peaks", peaks},
          {"bandwidths", bandwidths},
          {"links", links},
          {"notes", d.notes}};
}

// The lowest confidence of a device's figures: what a gate on it would rest on.
Confidence weakest(const Device& d) {
  Confidence out = Confidence::unstated;
  const auto take = [&](Confidence c) {
    if (c != Confidence::unstated && (out == Confidence::unstated || c < out)) out = c;
  };
  for (const Peak& p : d.peaks) take(p.confidence);
  for (const Bandwidth& b : d.bandwidths) take(b.confidence);
  for (const Link& link : d.links) take(link.confidence);
  take(d.memory_confidence);
  take(d.power_confidence);
  return out;
}

std::string peaks_text(const Device& d) {
  std::string out;
  for (const Peak& p : d.peaks) {
    out += (out.empty() ? "" : ", ") + p.path + ' ' +
           range_text(p.flops_per_s, p.flops_per_s_high, is_integer(p.dtype) ? "OP/s" : "FLOP/s") +
           (p.is_derived ? " (derived)" : "");
  }
  return out.empty() ? "-" : out;
}

std::string bandwidth_text(const Device& d) {
  for (const Bandwidth& b : d.bandwidths) {
    if (b.level == "memory") return range_text(b.bytes_per_s, b.bytes_per_s_high, "B/s");
  }
  return "-";
}

std::string link_text(const Device& d) {
  if (d.links.empty()) return "-";
  const Link& link = d.links.front();
  return range_text(link.bytes_per_s, link.bytes_per_s_high, "B/s") +
         (link.domain_devices ? " x " + std::to_string(*link.domain_devices) : "");
}

std::string power_text(const Device& d) {
  if (!d.power_w) return "-";
  return d.power_w_high ? fmt::format("{:g} to {:g} W", *d.power_w, *d.power_w_high)
                        : fmt::format("{:g} W", *d.power_w);
}

std::string memory_text(const Device& d) {
  if (d.memory_bytes == 0) return "-";
  const auto low = static_cast<double>(d.memory_bytes) / 1e9;
  return d.memory_bytes_high
             ? fmt::format("{:g} to {:g} GB", low, static_cast<double>(*d.memory_bytes_high) / 1e9)
             : fmt::format("{:g} GB", low);
}

}  // namespace

CommandResult known_devices_result() {
  TextTable table({"id", "name", "kind", "memory", "bandwidth", "link, one way", "power",
                   "confidence", "peaks"},
                  {false, false, false, true, true, true, true});
  Json devices = Json::array();
  for (const Device& d : known_devices(config_dirs("devices"))) {
    const std::string_view confidence = confidence_name(weakest(d));
    table.add({d.id, d.name, d.kind, memory_text(d), bandwidth_text(d), link_text(d), power_text(d),
               confidence.empty() ? "-" : std::string(confidence), peaks_text(d)});
    devices.push_back(device_json(d));
  }
  return {.data = {{"known", devices}}, .text = table.text()};
}

}  // namespace halmark::cli
