// A file of each kind that has every key which its readers know: reading it tells the schema. A
// test holds these texts against the keys in the sources.
#include <functional>
#include <map>

#include "plan/device/device_file.hpp"
#include "plan/device/node_file.hpp"
#include "plan/kernel_sweep.hpp"
#include "plan/schema/file_schema.hpp"
#include "plan/schema/key_meanings.hpp"
#include "plan/schema/specimen_texts.hpp"
#include "plan/space_file.hpp"
#include "plan/sweep.hpp"
#include "plan/toml/load_file.hpp"

namespace halmark {
namespace {

using namespace specimen;

std::string with(std::string text, const std::string& mark, const std::string& lines) {
  if (const std::size_t at = text.find(mark); at != text.npos) text.replace(at, mark.size(), lines);
  return text;
}

// Every phase of a worker has a key of its own, every objective of requests a level.
std::string with_phases(const char* text) {
  std::string lines;
  for (const PhaseLimit& phase : phase_limits) lines += std::string(phase.name) + "_s = 30\n";
  return with(text, "PHASES\n", lines);
}

std::string with_levels(const char* text) {
  std::string lines;
  for (const ObjectiveRow& row : objective_rows()) {
    if (!row.level_key.empty()) lines += std::string(row.level_key) + " = 1\n";
  }
  return std::string(text) + lines;
}

std::string device_text() {
  const auto occasion = [](const std::string& of) {
    return "[[" + of +
           ".occasion]]\nutc = \"2026-01-01T00:00:00Z\"\nprobes = 3\nmedian = 1e9\nhighest = 1e9\n"
           "second = 1e9\nthird = 1e9\nis_busy = true\n";
  };
  return with(with(device, "OCCASION_OF_PEAK\n", occasion("peak")), "OCCASION_OF_BANDWIDTH\n",
              occasion("bandwidth"));
}

struct Kind {
  std::string title, written_as;
  std::span<const KeyMeaning> meanings;
  std::function<void()> read;
};

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> all = {
      {"sweep",
       {"a sweep of a model", "Examples: `configs/sweeps`, run by `halmark tune FILE`.",
        sweep_meanings(),
        [] {
          parse_sweep(with_phases(steps), "steps");
          parse_sweep(with_levels(requests), "requests");
          parse_sweep(night, "night");
          parse_sweep(placed, "placed");
        }}},
      {"kernels",
       {"a sweep of kernels",
        "Example: `configs/sweeps/backends-gemm.toml`, run by `halmark tune FILE`.",
        sweep_meanings(), [] { parse_kernel_sweep(with_phases(kernels), "kernels"); }}},
      {"device",
       {"a device file", "Examples: `configs/devices`; `halmark peaks` writes one of this machine.",
        device_meanings(), [] { parse_device(device_text(), "device"); }}},
      {"space",
       {"a search space", "Searched by `halmark study serve FILE`; expressions: expression.md.",
        space_meanings(), [] { parse_space(space, "space"); }}},
      {"traffic",
       {"a load of requests", "Asked for by `halmark plan-mix`.", sweep_meanings(),
        [] { parse_load(with_levels(traffic), "traffic"); }}},
      {"nodes",
       {"a list of nodes", "Of a cluster, for `halmark export`.", space_meanings(),
        [] { parse_nodes(nodes, "nodes"); }}},
  };
  return all;
}

}  // namespace

std::vector<std::string> plan_schema_names() {
  std::vector<std::string> out;
  for (const auto& [name, kind] : kinds()) out.push_back(name);
  return out;
}

FileSchema plan_schema(const std::string& name) {
  const Kind& kind = kinds().at(name);
  KnownKeys keys;
  {
    const KeyWatch watch(keys);
    kind.read();
  }
  return {name, kind.title, kind.written_as, keys_with_values(std::move(keys)), kind.meanings};
}

}  // namespace halmark
