#include "cli/console/interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace halmark::cli {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int signal) {
  // The second one does not wait for a worker: rows are committed one by one, nothing is lost.
  if (received != 0) _exit(signal == SIGINT ? 130 : 143);
  received = signal;
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool interrupted() { return received != 0; }

ExitCode interrupt_exit_code() {
  return received == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
}

}  // namespace halmark::cli
