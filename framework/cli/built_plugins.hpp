// What the build knows about the backends of this tree and the libraries that it did without;
// generated when it is configured.
#pragma once

#include <span>
#include <string_view>

namespace halmark::cli {

struct BuiltPlugin {
  std::string_view backend;
  std::string_view why_not;  // empty = built
  bool is_backend;           // else a part of the program
};
std::span<const BuiltPlugin> built_plugins();

}  // namespace halmark::cli
