// What is said of a row after it was stored: that nothing should rest on it alone.
#pragma once

#include <string>

namespace halmark {

struct Doubt {
  std::string case_key;  // of the row, KernelCase::key()
  int round = 0;
  std::string reason;
};

}  // namespace halmark
