// A text with the name of its file.
#pragma once

#include <string>

namespace halmark::exports {

struct TextFile {
  std::string name, text;
};

}  // namespace halmark::exports
