// Fields of a benchmark's JSON, with their place in every refusal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/json/json_type.hpp"
#include "core/measured/engine_step.hpp"

namespace halmark::deploy {

inline constexpr double millisecond_ns = 1e6;

// An object of a file and how a message names it: "results.json:[2]".
struct BenchObject {
  const Json& value;
  std::string where;

  bool has(const char* key) const;  // and it is not null
  BenchObject object(const char* key) const;
  BenchObject list(const char* key) const;
  BenchObject at(std::size_t index) const;
  std::string text(const char* key) const;
  std::string text_or_none(const char* key) const;  // "" where it is absent, null or no text
  std::int64_t count(const char* key) const;        // 0 or more
  // A time in units of `unit_ns`, of 0.1 ns to eleven days.
  double time_ns(const char* key, double unit_ns) const;
  std::optional<double> deviation_ns(const char* key, double unit_ns) const;  // 0 or more

  std::string place(const char* key) const { return where + '.' + key; }
};

// Mean and standard deviation (of the population, as these tools state theirs) of samples that
// are not empty.
struct SampleFigures {
  double mean = 0, deviation = 0;
};
SampleFigures figures_of(std::span<const double> samples);

// No step takes less than 0.1 ns or eleven days: the limits of imported tables. Throws Error.
double checked_time(double ns, const std::string& where);

}  // namespace halmark::deploy
