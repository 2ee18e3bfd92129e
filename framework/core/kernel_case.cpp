#include "core/kernel_case.hpp"

#include <algorithm>

#include "core/text/enum_names.hpp"
#include "core/text/number.hpp"

namespace halmark {
namespace {

constexpr auto cache_modes =
    enum_names<CacheMode>("hot", "rotate_const", "rotate_all", "flush", "in_stack");

}  // namespace

std::string_view cache_mode_name(CacheMode mode) { return cache_modes.of(mode); }

std::optional<CacheMode> parse_cache_mode(std::string_view name) { return cache_modes.parse(name); }

std::string ShardPlace::text() const {
  std::string out = backend + ':' + device;
  if (parts > 1) out += '/' + std::to_string(parts) + '.' + std::to_string(part);
  return out;
}

namespace {

std::optional<int> whole_number(std::string_view text) {
  const auto out = read_number<int>(text);
  if (!out || *out < 0) return std::nullopt;
  return out;
}

}  // namespace

std::optional<ShardPlace> parse_shard_place(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == text.npos) return std::nullopt;
  if (text.substr(0, colon).find_first_of("/+ ") != text.npos) return std::nullopt;
  const std::size_t slash = text.find('/', colon);
  ShardPlace out{.backend = std::string(text.substr(0, colon)),
                 .device = std::string(text.substr(colon + 1, slash - colon - 1))};
  if (out.device.empty()) return std::nullopt;
  if (slash == text.npos) return out;
  const std::string_view cut = text.substr(slash + 1);
  const std::size_t dot = cut.find('.');
  const auto parts = whole_number(cut.substr(0, dot));
  const auto part = dot == cut.npos ? std::optional(0) : whole_number(cut.substr(dot + 1));
  constexpr int parts_max = 4096;
  if (!parts || !part || *parts < 1 || *parts > parts_max || *part >= *parts) return std::nullopt;
  out.parts = *parts;
  out.part = *part;
  return out;
}

std::string device_over_nodes(const std::string& device, int nodes) {
  return device + '@' + std::to_string(nodes);
}

int nodes_of_device(std::string_view device) {
  const std::size_t at = device.rfind('@');
  const auto nodes = at == device.npos ? std::nullopt : whole_number(device.substr(at + 1));
  return std::max(1, nodes.value_or(1));
}

bool KernelCase::is_collective() const { return problem.params.find("ranks").has_value(); }

bool KernelCase::shares_arguments(const KernelCase& other) const {
  if (problem != other.problem || neighbours != other.neighbours) return false;
  KernelCase same = other;
  same.shards_at_once = shards_at_once;
  same.sets = sets;
  return *this == same;
}

std::string KernelCase::key() const {
  std::string out = problem.text();
  out += " | " + (kernel.empty() ? std::string("-") : kernel);
  if (const std::string chosen = config.text(); !chosen.empty()) out += ' ' + chosen;
  out += " | " + backend + ':' + device + '/' + std::to_string(parts) + 'x' +
         std::to_string(shards_at_once);
  out += " | " + std::string(cache_mode_name(mode)) + ':' + std::to_string(sets);
  if (!neighbours.empty()) out += ' ' + neighbours;
  return out;
}

int ring_sets(std::int64_t ring_bytes, std::int64_t constant_bytes, std::int64_t instances) {
  if (constant_bytes <= 0 || instances <= 1) return 1;
  const std::int64_t wanted = (ring_bytes + constant_bytes - 1) / constant_bytes;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, instances));
}

}  // namespace halmark
