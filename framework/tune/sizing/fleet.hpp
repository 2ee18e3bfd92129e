// How many units of each type serve a load at least cost, as an integer program: the question of
// Melange (Griggs et al., arXiv 2404.14527). Numbers only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/integer_program.hpp"

namespace halmark::tune {

// A unit that serves requests of one bucket alone keeps up `capacity` of them a second; requests of
// several buckets share its time, so that the shares rate / capacity of a unit add up to at most 1.
struct FleetQuestion {
  std::vector<double> usd_per_hour;           // of one unit, by type
  std::vector<double> rates;                  // requests/s, by bucket
  std::vector<std::vector<double>> capacity;  // by bucket and type; 0 = it cannot serve the bucket
  std::int64_t slices = 8;  // equal parts of a bucket, each of which goes to one type
};

struct Fleet {
  std::vector<std::int64_t> units;                // by type
  std::vector<std::vector<std::int64_t>> slices;  // by bucket and type
  std::vector<double> load;                       // units' worth of work, by type: <= units
  double usd_per_hour = 0;
  std::string solver;
};

// Slices of a bucket per type, then units per type. Every slice is served; no type has more work
// than units.
IntegerProgram fleet_program(const FleetQuestion& question);

// Nothing where a bucket can be served by no type.
std::optional<Fleet> cheapest_fleet(const FleetQuestion& question);

}  // namespace halmark::tune
