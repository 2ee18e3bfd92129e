#include "core/kernel_case.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"

namespace halmark {
namespace {

Error not_a_place(std::string_view whole) {
  return refused(
      "device '" + std::string(whole) + "' is not of the form backend:device[/parts.part]", {},
      "for example cpu:0 or cpu:0/2.1");
}

int parse_int(std::string_view text, std::string_view whole) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) {
    throw not_a_place(whole);
  }
  return value;
}

}  // namespace

std::string_view cache_mode_name(CacheMode mode) {
  switch (mode) {
    case CacheMode::hot:
      return "hot";
    case CacheMode::rotate_const:
      return "rotate_const";
    case CacheMode::rotate_all:
      return "rotate_all";
    case CacheMode::flush:
      return "flush";
  }
  return "hot";
}

std::string ShardPlace::text() const {
  std::string out = backend + ':' + device;
  if (parts > 1) out += '/' + std::to_string(parts) + '.' + std::to_string(part);
  return out;
}

ShardPlace parse_shard_place(std::string_view text) {
  ShardPlace place;
  const std::size_t colon = text.find(':');
  place.backend = std::string(text.substr(0, colon));
  if (place.backend.empty()) throw not_a_place(text);
  if (colon == std::string_view::npos) return place;
  std::string_view rest = text.substr(colon + 1);
  const std::size_t slash = rest.find('/');
  place.device = std::string(rest.substr(0, slash));
  if (place.device.empty()) throw not_a_place(text);
  if (slash == std::string_view::npos) return place;
  rest = rest.substr(slash + 1);
  const std::size_t dot = rest.find('.');
  place.parts = parse_int(rest.substr(0, dot), text);
  place.part = dot == std::string_view::npos ? 0 : parse_int(rest.substr(dot + 1), text);
  if (place.parts < 1) throw not_a_place(text);
  if (place.part >= place.parts) {
    throw refused("device '" + std::string(text) + "': part " + std::to_string(place.part) +
                  " is outside 0.." + std::to_string(place.parts - 1));
  }
  return place;
}

bool KernelCase::is_collective() const { return problem.params.find("ranks").has_value(); }

std::string KernelCase::key() const {
  std::string out = problem.text();
  out += " | " + (kernel.empty() ? std::string("-") : kernel);
  if (const std::string chosen = config.text(); !chosen.empty()) out += ' ' + chosen;
  out += " | " + backend + ':' + device + '/' + std::to_string(parts) + 'x' +
         std::to_string(shards_at_once);
  out += " | " + std::string(cache_mode_name(mode)) + ':' + std::to_string(sets);
  return out;
}

int ring_sets(std::int64_t ring_bytes, std::int64_t constant_bytes, std::int64_t instances) {
  if (constant_bytes <= 0 || instances <= 1) return 1;
  const std::int64_t wanted = (ring_bytes + constant_bytes - 1) / constant_bytes;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, instances));
}

}  // namespace halmark
