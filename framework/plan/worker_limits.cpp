// One set of words for the command line and the sweep file.
#include "plan/worker_limits.hpp"

#include <algorithm>
#include <charconv>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr double seconds_min = 0.1, seconds_max = 86'400;
constexpr double memory_min = 64.0 * (1 << 20), memory_max = 1e15;

double unit_of(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit units[] = {{"", 1},
                            {"B", 1},
                            {"kB", 1e3},
                            {"KB", 1e3},
                            {"MB", 1e6},
                            {"GB", 1e9},
                            {"TB", 1e12},
                            {"KiB", 1 << 10},
                            {"MiB", 1 << 20},
                            {"GiB", 1 << 30},
                            {"TiB", 1.0 * (1LL << 40)}};
  const auto unit = std::ranges::find(units, text, &Unit::name);
  return unit == std::end(units) ? 0 : unit->bytes;
}

}  // namespace

std::string phase_names() { return join(phase_limits, ", ", &PhaseLimit::name); }

std::int64_t parse_worker_memory(const std::string& text, const std::string& where) {
  if (text == "none") return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view rest(end, as_size(text.data() + text.size() - end));
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const double bytes = error == std::errc() ? value * unit_of(rest) : 0;
  if (!(bytes >= memory_min) || !(bytes <= memory_max)) {
    throw refused("a worker's memory cannot be '" + printable(text) + "'", where,
                  "64MiB or more, as 8GiB; none for no limit");
  }
  return as_int64(bytes);
}

std::pair<const PhaseLimit*, double> parse_phase_limit(const std::string& text,
                                                       const std::string& where) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto phase =
      std::ranges::find_if(phase_limits, [&](const PhaseLimit& p) { return name == p.name; });
  if (phase == std::end(phase_limits)) {
    std::vector<std::string> known;
    for (const PhaseLimit& p : phase_limits) known.emplace_back(p.name);
    throw refused("unknown phase '" + printable(name) + "'", where, suggestion(name, known));
  }
  double seconds = 0;
  const char* const begin =
      equals == std::string::npos ? text.data() + text.size() : text.data() + equals + 1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(begin, last, seconds);
  if (error != std::errc() || end != last || !(seconds >= seconds_min) ||
      !(seconds <= seconds_max)) {
    throw refused(
        "the limit of phase " + name + " is no number of seconds: '" + printable(text) + "'", where,
        name + "=30, from 0.1 to 86400");
  }
  return {phase, seconds};
}

StatedLimits read_stated_limits(const TomlTable& table) {
  StatedLimits out;
  if (table.has("worker_memory")) {
    out.memory_bytes =
        parse_worker_memory(table.string("worker_memory"), table.where("worker_memory"));
  }
  for (const PhaseLimit& phase : phase_limits) {
    const std::string key = std::string(phase.name) + "_s";
    if (table.has(key)) {
      out.phases.emplace_back(&phase, table.number(key, seconds_min, seconds_max));
    }
  }
  return out;
}

WorkerLimits worker_limits(const StatedLimits& of_sweep, const StatedLimits& of_command) {
  WorkerLimits out;
  for (const StatedLimits* stated : {&of_sweep, &of_command}) {
    if (stated->memory_bytes) out.memory_bytes = stated->memory_bytes;
    for (const auto& [phase, seconds] : stated->phases) out.*(phase->seconds) = seconds;
  }
  return out;
}

}  // namespace halmark
