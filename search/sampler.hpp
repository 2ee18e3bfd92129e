// Sampler: proposes points (ask) and learns from outcomes (tell). One file each in samplers/, one
// line each in samplers/table.cpp. Deterministic: randomness follows from (seed, trial number).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "search/space.hpp"

namespace halmark {

// Objectives are minimised; a maximised one is negated once, by whoever tells.
struct Told {
  Point point;
  bool is_feasible = true;         // false: refused, failed or invalid
  std::vector<double> objectives;  // finite; empty when not feasible
  std::string reason;              // why not feasible
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual std::string_view name() const = 0;
  // At most `count` points that were never proposed before; empty when the space is exhausted.
  virtual std::vector<Point> ask(std::size_t count) = 0;
  virtual void tell(const std::vector<Told>& outcomes) = 0;
};

// The space must outlive the sampler. Throws Error (exit 2) with the nearest name.
std::unique_ptr<Sampler> make_sampler(std::string_view name, const Space& space,
                                      std::uint64_t seed);
std::vector<std::string> sampler_names();

}  // namespace halmark
