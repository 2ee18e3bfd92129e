// SIGINT, SIGTERM and SIGHUP. While nothing is under way that has to be ended well (reading files,
// planning, pricing), the first one ends the process. Workers and runs hold them: then the first
// asks to stop between samples, and the second leaves.
#pragma once

#include <stop_token>

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
// Stops at the first signal. No std::stop_callback on it: the signal would run it, or find its lock
// taken.
std::stop_token interrupts();
// interrupted (130) or terminated (143).
ExitCode interrupt_exit_code();

}  // namespace halmark
