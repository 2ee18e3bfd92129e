// The head of a run: one hash that stands for all of its rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halmark {

// The rows of one writer of a run. In a file there is one, 0, for all that ever wrote.
struct RowChain {
  std::int64_t writer = 0;
  std::string start;  // as it follows from the columns of the run (and of its writers before)
  std::string head;   // of its last row
};

// SHA-256 hex. In a file the only writer's head; on a server SHA-256 of all heads in the order of
// their writers, and `start`, where the first one would start, of a run without any.
std::string run_head(const std::string& start, const std::vector<RowChain>& chains);

}  // namespace halmark
