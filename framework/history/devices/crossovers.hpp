// Where along the free size of a line of problems the faster device changes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "history/devices/device_comparison.hpp"

namespace halmark::history {

class CrossoverFinder {
 public:
  void add(const Problem& problem, Ahead ahead);
  // By series, small sizes first.
  std::vector<Crossover> found() const;
  // With two sizes or more: others cannot cross.
  std::size_t series() const;

 private:
  struct Line {
    std::string free_size;
    std::map<std::int64_t, Ahead> at;  // by size
  };
  std::map<std::string, Line> lines_;  // by name of the series
};

}  // namespace halmark::history
