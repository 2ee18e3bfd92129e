// Serves a study over two streams: lines of requests in, lines of answers out.
#pragma once

#include <functional>
#include <string_view>

#include "framework/study/protocol.hpp"

namespace halmark {

struct StudyStreams {
  int requests = 0;                              // a file descriptor
  std::function<void(std::string_view)> answer;  // writes the text at once
  std::function<bool()> should_stop;
  std::function<void()> after_each;  // may be empty: when something was stored
};

// Until the requests end or should_stop. Requests that lie ready are stored together, at most 64;
// an answer follows its storing. Signs of life go out while it waits. What was not told is given
// back at the end.
void serve_study(Study& study, const StudyStreams& streams);

}  // namespace halmark
