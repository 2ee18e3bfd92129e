// What became of tables of kernel times in a search: whose series gave how many kernels, what was
// passed over and why, what could not be true. Values alone: reports print them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace halmark {

// Of one implementation on one type: kernels of different series are different kernels.
struct SeriesUse {
  std::string name;  // "gemm bf16 torch_flow TRTLLM": what --series chooses by
  std::size_t points = 0;
  std::size_t exact = 0, interpolated = 0;  // kernels that it gave the time of
  std::size_t passed_over = 0;              // of its points
  std::string reason;                       // why
};

struct TableUse {
  std::string name;  // of the file, as short as tells it from the others
  std::string file;
  std::string device;                          // as it states it; "" = it does not
  std::size_t rows = 0;                        // skipped ones included
  std::map<std::string, std::size_t> skipped;  // reason -> rows
  std::string passed_over;                     // why no row of it counts; "" = they do
  std::vector<SeriesUse> series;
  bool is_forecast = false;  // shipped, of known devices: not a file that a user names
};

// Times below what the device can do. Counted once per kernel that was asked for.
struct QuarantinedTimes {
  std::size_t kernels = 0, asked = 0;
  // The first.
  std::string problem, source;
  double ns = 0, lower_bound_ns = 0;
  std::string reason;
};

// How many of how many, then the first with its problem, both times and where it is written, a line
// each; none when nothing was quarantined.
std::vector<std::string> lines_of(const QuarantinedTimes& times);

}  // namespace halmark
