// A token of what was stopped before it began.
#pragma once

#include <stop_token>

namespace halmark::test {

inline std::stop_token stopped() {
  std::stop_source out;
  out.request_stop();
  return out.get_token();
}

}  // namespace halmark::test
