// Where a problem lies among the measured ones of its family: coordinates in which neighbours use a
// device alike. One rule per family of ops, the same for every table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"

namespace halmark {

struct InterpolationPlace {
  std::string group;  // problems of different groups say nothing about each other
  // In correlation lengths; sizes as logarithms. The one that varies most comes first.
  std::vector<double> at;
  std::vector<std::string> names;  // of the coordinates, for people
  // Correlation length of each coordinate: octaves for sizes.
  std::vector<double> lengths;
  // Of the coordinates whose range has an end that a problem can lie beyond; 0 for those that only
  // tell two kinds apart.
  std::vector<double> range_lengths;
  // Identity without what varies between steps of one model (rows, sequences, context): problems of
  // one shape are left out together when asking how well an unseen shape is predicted.
  std::string shape;
  // Identity without the one size that `free` is: problems of one line differ in it alone.
  std::string line;
  double free = 0;
};

// `problem` has every parameter that its contract requires. Nothing for ops whose time no neighbour
// can tell (an op without any size).
std::optional<InterpolationPlace> interpolation_place(const Problem& problem);

}  // namespace halmark
