// A shell as a contained process.
#pragma once

#include <string>

#include "host/process/contained_process.hpp"

namespace halmark {

inline ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.program = "/bin/sh";
  spec.arguments = {"-c", script};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  return spec;
}

}  // namespace halmark
