// Files that nobody should have to read: what cannot be opened safely, what is too large, and what
// is no document of any format.
#pragma once

#include <string>
#include <vector>

namespace halmark::integration {

struct HostileFile {
  std::string name;  // of the kind
  std::string path;
};

// Makes one of each below `folder`, all of which end in `suffix` (".toml"); `beginning` is how a
// good file of that format begins. Sparse where they are large.
std::vector<HostileFile> hostile_files(const std::string& folder, const std::string& suffix,
                                       const std::string& beginning);

}  // namespace halmark::integration
