#include "host/process/interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace halmark {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t held = 0;
std::stop_source source;

void on_signal(int signal) {
  // The second one does not wait for a worker: rows are committed one by one, nothing is lost.
  if (held == 0 || received != 0) {
    constexpr char text[] = "halmark: interrupted\n";
    if (received == 0 && write(STDERR_FILENO, text, sizeof text - 1) < 0) {
      // Nobody is left to tell.
    }
    _exit(signal == SIGINT ? 130 : 143);
  }
  received = signal;
  source.request_stop();  // atomics alone
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

HeldInterrupts::HeldInterrupts() { held = held + 1; }
HeldInterrupts::~HeldInterrupts() { held = held - 1; }

bool interrupted() { return received != 0; }

std::stop_token interrupts() { return source.get_token(); }

ExitCode interrupt_exit_code() {
  return received == 0 || received == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
}

}  // namespace halmark
