#include "plan/device/device_file.hpp"

#include <algorithm>
#include <functional>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "plan/device/device_folder.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

constexpr double peak_limit = 1e21;

Dtype read_dtype(const TomlTable& table) {
  const std::string text = table.string("dtype");
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> names;
  for (const Dtype d : all_dtypes()) names.emplace_back(dtype_name(d));
  throw refused("'" + text + "' is no data type", table.where("dtype"), suggestion(text, names));
}

Confidence read_confidence(const TomlTable& table, std::string_view key) {
  if (!table.has(key)) return Confidence::unstated;
  return *parse_confidence(table.choice(key, {"low", "medium", "high"}));
}

std::optional<double> number_if(const TomlTable& table, std::string_view key, double low,
                                double high) {
  return table.has(key) ? std::optional(table.number(key, low, high)) : std::nullopt;
}

// The upper end of a range whose lower end is `low`.
std::optional<double> read_high(const TomlTable& table, std::string_view key, double low,
                                double limit) {
  return table.has(key) ? std::optional(table.number(key, low, limit)) : std::nullopt;
}

// All three inputs of the rule, or none.
std::optional<PeakRule> read_rule(const TomlTable& table) {
  if (!table.has("units") && !table.has("fma_per_cycle") && !table.has("clock_hz")) {
    return std::nullopt;
  }
  return PeakRule{.units = table.number("units", 1, 1e9),
                  .fma_per_cycle = table.number("fma_per_cycle", 0.5, 1e9),
                  .clock_hz = table.number("clock_hz", 1e6, 1e12)};
}

// An entry with occasions is settled by them; its printed figure is what they gave when written.
std::vector<Occasion> read_occasions(const TomlTable& table, double limit) {
  std::vector<Occasion> out;
  for (const TomlTable& seen : table.tables("occasion")) {
    Occasion& occasion = out.emplace_back();
    occasion.utc = seen.string_or("utc", "");
    if (!occasion.utc.empty() && !utc_seconds(occasion.utc)) {
      throw refused("'" + occasion.utc + "' is no time", seen.where("utc"),
                    "as in 2026-11-22T15:04:05Z");
    }
    occasion.probes = seen.integer("probes", 1, INT64_MAX);
    occasion.median = seen.number("median", 1, limit);
    occasion.highest = {seen.number("highest", 1, limit)};
    for (const char* key : {"second", "third"}) {
      if (seen.has(key)) occasion.highest.push_back(seen.number(key, 1, limit));
    }
    std::ranges::sort(occasion.highest, std::greater<>());
    occasion.is_busy = seen.boolean_or("is_busy", false);
  }
  return out;
}

// Files from before the key said it in the source: "measured 2026-11-22T15:04:05Z, read".
std::string access_in(std::string_view source) {
  for (const char* access : {"read", "copy"}) {
    if (source.starts_with("measured") && source.ends_with(std::string(", ") + access)) {
      return access;
    }
  }
  return {};
}

Peak read_peak(const TomlTable& table) {
  Peak out;
  out.path = table.string("path");
  out.dtype = read_dtype(table);
  out.isa = table.string_or("isa", "");
  out.threads = as_int(table.integer_or("threads", 0, 1 << 20, 0));
  out.rule = read_rule(table);
  out.is_derived = !table.has("flops_per_s") && out.rule.has_value();
  out.flops_per_s =
      out.is_derived ? out.rule->flops_per_s() : table.number("flops_per_s", 1, peak_limit);
  if (out.flops_per_s > peak_limit) {
    throw refused("units x fma_per_cycle x 2 x clock_hz is beyond any device",
                  table.where("units"));
  }
  out.flops_per_s_q90 = number_if(table, "flops_per_s_q90", 1, peak_limit);
  out.flops_per_s_high = read_high(table, "flops_per_s_high", out.flops_per_s, peak_limit);
  out.rate_over_16_bit = number_if(table, "rate_over_16_bit", 1e-3, 1e3);
  out.source = out.is_derived ? table.string_or("source", "derived: units x FMA/cycle x 2 x clock")
                              : table.string("source");
  out.confidence = read_confidence(table, "confidence");
  out.is_provisional = table.boolean_or("is_provisional", false);
  out.occasions = read_occasions(table, peak_limit);
  return out;
}

Bandwidth read_bandwidth(const TomlTable& table) {
  Bandwidth out;
  out.level = table.choice("level", {"l1", "l2", "l3", "memory"});
  out.threads = as_int(table.integer_or("threads", 0, 1 << 20, 0));
  out.bytes_per_s = table.number("bytes_per_s", 1, 1e18);
  out.working_set_bytes = table.integer_or("working_set_bytes", 0, INT64_MAX, 0);
  out.source = table.string("source");
  out.bytes_per_s_high = read_high(table, "bytes_per_s_high", out.bytes_per_s, 1e18);
  out.confidence = read_confidence(table, "confidence");
  if (table.has("bus_bits") || table.has("transfers_per_s")) {
    out.bus_bits = table.number("bus_bits", 1, 1e6);
    out.transfers_per_s = table.number("transfers_per_s", 1e6, 1e12);
  }
  out.access = table.has("access") ? table.choice("access", {"read", "copy", "slices"})
                                   : access_in(out.source);
  out.is_provisional = table.boolean_or("is_provisional", false);
  out.occasions = read_occasions(table, 1e18);
  return out;
}

Link read_link(const TomlTable& table) {
  Link out;
  (void)table.choice("scope", {"scale_up"});
  out.name = table.string("name");
  out.bytes_per_s = table.number("bytes_per_s", 1, 1e18);
  out.bytes_per_s_high = read_high(table, "bytes_per_s_high", out.bytes_per_s, 1e18);
  if (table.has("domain")) out.domain_devices = table.integer("domain", 1, 1 << 30);
  out.reduces_in_switch = table.boolean_or("in_switch_reduction", false);
  out.source = table.string("source");
  out.confidence = read_confidence(table, "confidence");
  return out;
}

void read_memory(const TomlTable& root, Device& out) {
  out.memory_bytes = root.integer_or("memory_bytes", 0, INT64_MAX, 0);
  if (root.has("memory_bytes_high")) {
    out.memory_bytes_high = root.integer("memory_bytes_high", out.memory_bytes, INT64_MAX);
  }
  out.memory_type = root.string_or("memory_type", "");
  out.memory_source = root.string_or("memory_source", "");
  out.memory_confidence = read_confidence(root, "memory_confidence");
  if (root.has("ring_plateau_bytes")) {
    out.ring_plateau_bytes = root.integer("ring_plateau_bytes", 1, INT64_MAX);
  }
}

void read_power(const TomlTable& root, Device& out) {
  out.power_w = number_if(root, "power_w", 0, 1e6);
  out.power_w_high = read_high(root, "power_w_high", out.power_w.value_or(0), 1e6);
  out.power_source = root.string_or("power_source", "");
  out.power_confidence = read_confidence(root, "power_confidence");
  out.usd_per_hour = number_if(root, "usd_per_hour", 1e-6, 1e6);
}

DeviceFile read_device_table(const TomlTable& root, std::string_view path) {
  DeviceFile file{.path = std::string(path)};
  Device& out = file.device;
  out.id = root.string("id");
  out.name = root.string("name");
  out.kind = root.string("kind");
  out.vendor = root.string_or("vendor", "");
  if (root.has("aliases")) out.aliases = root.strings("aliases");
  if (root.has("notes")) out.notes = root.strings("notes");
  out.fingerprint = root.string_or("fingerprint", "");
  out.is_measured = root.boolean_or("is_measured", false);
  out.devices_in_part = as_int(root.integer_or("devices_in_part", 1, 1024, 1));
  read_memory(root, out);
  out.clock_hz = number_if(root, "clock_hz", 1, 1e12);
  read_power(root, out);
  for (const TomlTable& table : root.tables("peak")) {
    out.peaks.push_back(read_peak(table));
    file.peaks_where.push_back(table.where(out.peaks.back().is_derived ? "units" : "flops_per_s"));
  }
  for (const TomlTable& table : root.tables("bandwidth")) {
    out.bandwidths.push_back(read_bandwidth(table));
    file.bandwidths_where.push_back(table.where("bytes_per_s"));
  }
  for (const TomlTable& table : root.tables("link")) {
    out.links.push_back(read_link(table));
    file.links_where.push_back(table.where("bytes_per_s"));
  }
  file.id_where = root.where("id");
  file.memory_where = root.where("memory_bytes");
  file.power_where = root.where("power_w");
  root.finish();
  return file;
}

}  // namespace

DeviceFile read_device_file(const std::string& path) {
  return read_device_table(TomlTable::parse_file(path, "device"), input_name(path));
}

DeviceFile parse_device_file(std::string_view text, std::string_view where) {
  return read_device_table(TomlTable::parse(text, where), where);
}

Device read_device(const std::string& path) { return read_device_file(path).device; }

Device parse_device(std::string_view text, std::string_view where) {
  return parse_device_file(text, where).device;
}

std::vector<DeviceFile> known_device_files(const std::vector<std::filesystem::path>& folders,
                                           std::string_view text) {
  std::vector<DeviceFile> out;
  const auto id = [](const DeviceFile& file) -> const std::string& { return file.device.id; };
  for (const auto& folder : folders) {
    std::vector<DeviceFile> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string path = entry.path().string();
      if (is_device_folder(entry.path())) found.push_back(read_device_folder(entry.path()));
      if (!path.ends_with(".toml")) continue;
      const bool is_any = text.empty() || &folder != &folders.back();
      if (is_any || read_input(path, toml_input).find(text) != std::string::npos) {
        found.push_back(read_device_file(path));
      }
    }
    std::erase_if(found, [&](const DeviceFile& file) { return contains(out, file.device.id, id); });
    std::ranges::move(found, std::back_inserter(out));
  }
  std::ranges::sort(out, {}, id);
  return out;
}

std::vector<Device> known_devices(const std::vector<std::filesystem::path>& folders) {
  std::vector<Device> out;
  for (DeviceFile& file : known_device_files(folders)) out.push_back(std::move(file.device));
  return out;
}

std::optional<Device> find_device(std::string_view text,
                                  const std::vector<std::filesystem::path>& folders) {
  // A name that could leave the folder is no file name.
  if (!text.empty() && text.find_first_of("/\\") == std::string_view::npos) {
    for (const auto& folder : folders) {
      const std::filesystem::path path = folder / (std::string(text) + ".toml");
      std::error_code ignored;
      const std::filesystem::path onboarded = folder / text;
      if (is_device_folder(onboarded)) return read_device_folder(onboarded).device;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      Device device = read_device(path.string());
      if (device.id == text) return device;
    }
  }
  for (const std::string_view spelling : {text, std::string_view()}) {
    for (DeviceFile& file : known_device_files(folders, spelling)) {
      if (file.device.is_called(text)) return std::move(file.device);
    }
  }
  return std::nullopt;
}

std::optional<Device> datasheet_of(std::string_view text, std::string_view kind,
                                   const std::vector<std::filesystem::path>& folders) {
  for (Device& device : known_devices(folders)) {
    const bool is_named = text.find(device.name) != std::string_view::npos;
    if (!device.folder.empty()) continue;  // measured here or elsewhere: no datasheet
    if (device.kind == kind && (is_named || device.is_called(text))) return std::move(device);
  }
  return std::nullopt;
}

Device known_device(const std::string& id, const std::vector<std::filesystem::path>& folders) {
  if (id.ends_with(".toml") || id == "-") return read_device(id);
  if (auto device = find_device(id, folders)) return *std::move(device);
  if (is_device_folder(id)) return read_device_folder(id).device;
  if (names_file(id)) return read_device(id);
  std::vector<std::string> names;
  for (const Device& device : known_devices(folders)) {
    names.push_back(device.id);
    append_all(names, device.aliases);
  }
  const std::vector<std::string> close = nearest(id, names);
  throw refused("unknown_device: '" + id + "'", {},
                close.empty() ? "halmark devices --known lists them, or name a device file (*.toml)"
                              : suggestion(id, names));
}

}  // namespace halmark
