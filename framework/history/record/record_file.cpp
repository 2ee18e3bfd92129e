// A record as a file, and as a side of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/input/file_kind.hpp"
#include "core/json/json.hpp"
#include "core/json/machine_record_json.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "history/record/machine_record.hpp"

namespace halmark::history {

std::string record_text(const MachineRecord& record) {
  const Json body = record_json(record);
  const Json document = {{"format", record_format},
                         {"version", record_version},
                         {"sha256", sha256_of(dump_json(body))},
                         {"record", body}};
  return dump_json(document) + '\n';
}

MachineRecord read_record(const std::string& path) {
  const Json document = parse_json(read_kind(path, json_input, "record"), path);
  const auto version = document.at("version");
  if (version != record_version) {
    throw refused("a record of version " + dump_json(version), path,
                  "this halmark reads version " + std::to_string(record_version) +
                      ": take the one that wrote it, or a later one");
  }
  const Json& body = document.at("record");
  if (document.at("sha256") != sha256_of(dump_json(body))) {
    throw refused("the record was changed after it was written", path,
                  "halmark verify says where it does not hold");
  }
  try {
    return record_from(body);
  } catch (const std::exception& e) {
    throw refused(std::string("this record cannot be read: ") + e.what(), path,
                  "halmark record writes it again");
  }
}

std::vector<std::string> record_files(const std::vector<std::string>& named) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const std::string& path : named) {
    if (!fs::is_directory(path)) {
      out.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file() && is_kind(beginning_of(entry.path().string()), "record")) {
        inside.push_back(entry.path().string());
      }
    }
    if (inside.empty()) throw refused("no record is in this folder", path, "halmark record --out");
    std::ranges::sort(inside);
    std::ranges::move(inside, std::back_inserter(out));
  }
  return out;
}

DeviceSide record_side(const MachineRecord& record, const std::string& name) {
  DeviceSide out{.name = name, .device = record.device.id, .basis = TimeBasis::measured};
  out.lines = {fmt::format("record of {}, measured by {} of {}", record.device.name,
                           record.tool_version, record.measured_on),
               "peaks of the record"};
  out.power_w = record.device.power_w;
  out.usd_per_hour = record.device.usd_per_hour;
  for (const RecordKernel& k : record.kernels) {
    out.kernels.push_back({.problem = k.kernel_case.problem,
                           .dtype = k.dtype,
                           .ns = k.ns,
                           .interval_ns = k.interval_ns,
                           .has_interval = true,
                           .matmul_flops = k.matmul_flops,
                           .bytes = k.bytes,
                           .least = {.compute_ns = k.compute_ns, .memory_ns = k.memory_ns},
                           .peak_ns = k.peak_ns,
                           .power_w = k.power_w});
  }
  std::ranges::sort(out.kernels, {}, &DeviceKernel::problem);
  for (const auto& [reason, count] : record.left_out) {
    out.left_out[reason] = static_cast<std::size_t>(count);
  }
  return out;
}

}  // namespace halmark::history
