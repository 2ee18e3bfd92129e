// SIGINT, SIGTERM and SIGHUP: the first asks the run to stop between samples, the second leaves.
#pragma once

#include "core/text/error.hpp"

namespace halmark::cli {

void watch_interrupts();
bool interrupted();
// interrupted (130) or terminated (143); only after interrupted().
ExitCode interrupt_exit_code();

}  // namespace halmark::cli
