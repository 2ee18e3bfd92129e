// SIGINT, SIGTERM and SIGHUP. While nothing is under way that has to be ended well (reading files,
// planning, pricing), the first one ends the process. Workers and runs hold them: then the first
// asks to stop between samples, and the second leaves.
#pragma once

#include "core/text/error.hpp"

namespace halmark {

void watch_interrupts();

// As long as one lives, a signal is only noted.
class HeldInterrupts {
 public:
  HeldInterrupts();
  ~HeldInterrupts();
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;
};

bool interrupted();
// interrupted (130) or terminated (143); only after interrupted().
ExitCode interrupt_exit_code();

}  // namespace halmark
