// What the sanitizers' runtimes ask a program at its start; compiled into every program of a build
// with HALMARK_SANITIZE. ASAN_OPTIONS and the like still win.

extern "C" {

// Signals keep their own meaning: the parent tells a worker's SIGSEGV from its exit, and a report
// ends a process with SIGABRT instead of an exit code that could be a test's.
const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:abort_on_error=1:"
         "strict_string_checks=1:detect_stack_use_after_return=1";
}

const char* __ubsan_default_options() { return "print_stacktrace=1:abort_on_error=1"; }

const char* __tsan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:abort_on_error=1:"
         "halt_on_error=1";
}

}  // extern "C"
