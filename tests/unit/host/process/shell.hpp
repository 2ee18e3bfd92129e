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

// When it has ended; a test whose process does not end is over.
inline std::unique_ptr<ContainedProcess> ended(const ProcessSpec& spec) {
  auto process = ContainedProcess::start(spec);
  if (!process->wait(protocol::deadline_after(60))) throw std::runtime_error("it did not end");
  return process;
}
inline ExitCause end_of(const ProcessSpec& spec) { return ended(spec)->wait({}).value(); }
inline std::string said(const ProcessSpec& spec) { return ended(spec)->log_tail(); }

}  // namespace halmark
