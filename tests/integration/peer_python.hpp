// Python with the libraries of others, where it is installed: their readers check what halmark
// writes.
#pragma once

#include <optional>
#include <string>

namespace halmark::integration {

// The interpreter that HALMARK_PEER_PYTHON names, the build folder's or the system's, the first
// that can import `modules` ("a, b.c").
std::optional<std::string> python_with(const std::string& modules);

}  // namespace halmark::integration
