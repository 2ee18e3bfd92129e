// What a page asks of the program that serves it. The server knows no figure: it carries questions
// in and documents out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/json/json_type.hpp"

namespace halmark::serve {

// "/api/step?device=h100-sxm&batch=8", decoded.
struct PageQuestion {
  std::string path;                           // below "/api/": "step"
  std::map<std::string, std::string> values;  // each name once
};

// Called by two threads: one asks what is slow, the other all else. Throws Error (exit 2) for what
// cannot be answered: the page shows its line.
class PageValues {
 public:
  virtual ~PageValues() = default;
  // Whether a slider would be held up by the answer.
  virtual bool is_slow(const PageQuestion&) const { return false; }
  // Reads only. Throws std::out_of_range for a path that does not exist.
  virtual Json answer(const PageQuestion& question) = 0;
  // Starts or stops work: the server has checked token and origin before. Throws likewise.
  virtual Json act(const PageQuestion& question) = 0;
  // What goes on now, asked once a second while somebody listens.
  virtual Json progress() = 0;
};

}  // namespace halmark::serve
