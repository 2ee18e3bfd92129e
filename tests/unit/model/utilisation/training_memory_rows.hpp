// Published memory of training runs (tests/data/published_memory.json) as questions to
// `halmark model`. Shared by the test that runs the program for each and the benchmark.
#pragma once

#include <string>
#include <vector>

namespace halmark::published {

struct MemoryRow {
  std::string name;
  std::string config;                  // text of a config.json: the model with longer sequences
  std::vector<std::string> arguments;  // of `halmark model`, behind the model
  double printed_gib = 0;              // of the fullest device
  std::string kind;                    // reserved by the allocator, or allocated from it
};
std::vector<MemoryRow> memory_rows();

}  // namespace halmark::published
