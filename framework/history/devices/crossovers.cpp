#include "history/devices/crossovers.hpp"

#include <algorithm>
#include <optional>

#include "history/devices/shape_class.hpp"

namespace halmark::history {

void CrossoverFinder::add(const Problem& problem, Ahead ahead) {
  const ShapeSeries series = shape_series_of(problem);
  if (series.free_size.empty()) return;
  // Decode and prefill of one shape are lines of their own: their free sizes differ.
  Line& line = lines_[series.name + '\n' + series.free_size];
  line.free_size = series.free_size;
  line.at.emplace(series.size, ahead);
}

std::size_t CrossoverFinder::series() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines_, [](const auto& line) { return line.second.at.size() > 1; }));
}

std::vector<Crossover> CrossoverFinder::found() const {
  std::vector<Crossover> out;
  for (const auto& [name, line] : lines_) {
    std::optional<std::pair<std::int64_t, Ahead>> last;  // the last size that a side won
    for (const auto& [size, ahead] : line.at) {
      if (ahead != Ahead::first && ahead != Ahead::second) continue;
      if (last && last->second != ahead) {
        out.push_back({.series = name.substr(0, name.find('\n')),
                       .free_size = line.free_size,
                       .below = last->first,
                       .above = size,
                       .first_below = last->second == Ahead::first});
      }
      last = {size, ahead};
    }
  }
  return out;
}

}  // namespace halmark::history
