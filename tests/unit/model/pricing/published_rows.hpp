// Published measurements of inference (tests/data/published_inference.json) beside what the program
// says of them. Shared by the test that no bound is above one and the benchmark that prints how
// near they come.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace halmark::published {

struct Check {
  std::string row;              // source | model | device | precision | load | what was measured
  double bound = 0, floor = 0;  // over what was measured; 0 = nothing was said
};

struct Checks {
  std::vector<Check> all;
  int rows = 0;                            // that are priced
  std::map<std::string, int> passed_over;  // reason -> rows
  const Check& closest() const;
  double median_bound() const;
};

// Deployments whose split is not stated are priced as one device of all of them: no engine can do
// better. Rows that count what nobody computed are left out.
Checks inference_checks();

}  // namespace halmark::published
