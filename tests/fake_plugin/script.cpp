#include "script.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fake {
namespace {

constexpr std::array known_keys = {
    "after",
    "async",
    "busy",
    "bytes_per_s",
    "claims_synchronous",
    "clock_hz",
    "constants_in_prepared",
    "constants_opaque",
    "crash",
    "close_fds",
    "device_lost_at",
    "devices",
    "devour",
    "devour_bytes",
    "elapsed",
    "elapsed_offset_ns",
    "elapsed_scale",
    "kind",
    "device_name",
    "core_hz",
    "core_hz_later",
    "throttle",
    "watts",
    "escape",
    "exit",
    "flood",
    "foreign_cpus",
    "free_buffer",
    "hang",
    "hoard_bytes",
    "latency_ns",
    "slow",
    "memoise",
    "memory_bytes",
    "mutate_inputs",
    "nap",
    "nap_every",
    "nap_ns",
    "noise",
    "nondeterministic",
    "once_file",
    "oom",
    "overrun",
    "pid_file",
    "read_ns",
    "seed",
    "signal",
    "stop",
    "throw",
    "timer",
    "underrun",
    "unsupported",
    "workspace_bytes",
    "wrong",
};

// Blocks every signal that can be blocked, so that only SIGKILL ends it.
[[noreturn]] void hang() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  for (;;) pause();
}

[[noreturn]] void crash(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  _exit(1);
}

// A descendant in a session of its own that ignores SIGTERM: a process group kill does not reach
// it.
void escape(const std::string& pid_file) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  signal(SIGTERM, SIG_IGN);
  const std::string pid = std::to_string(getpid());
  const std::string unfinished = pid_file + ".part";
  std::ofstream(unfinished) << pid;
  std::rename(unfinished.c_str(), pid_file.c_str());
  for (;;) pause();
}

[[noreturn]] void devour(std::int64_t limit_bytes) {
  constexpr std::size_t step = 16u << 20;
  std::vector<std::unique_ptr<char[]>> held;
  for (std::int64_t taken = 0; taken < limit_bytes; taken += static_cast<std::int64_t>(step)) {
    held.emplace_back(new char[step]);
    for (std::size_t at = 0; at < step; at += 4096) {
      static_cast<volatile char*>(held.back().get())[at] = 1;
    }
  }
  throw std::bad_alloc();
}

void flood() {
  const std::string line(4095, 'x');
  for (int i = 0; i < 1024; ++i) std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// What a copy of this file says behind its end: a build with a script of its own.
std::string trailer_of_this_library() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&flood), &self) == 0) return {};
  constexpr std::streamoff bytes_max = 256;
  constexpr std::string_view mark = "\nHALMARK_FAKE_SCRIPT=";
  std::ifstream file(self.dli_fname, std::ios::binary);
  file.seekg(-bytes_max, std::ios::end);
  const std::string end{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = end.rfind(mark);
  return at == std::string::npos ? std::string() : end.substr(at + mark.size());
}

}  // namespace

Script::Script(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    if (equals == std::string_view::npos ||
        std::find(known_keys.begin(), known_keys.end(), key) == known_keys.end()) {
      throw std::invalid_argument("HALMARK_FAKE_SCRIPT: unknown part '" + std::string(part) + "'");
    }
    values_[key] = part.substr(equals + 1);
  }
}

Script Script::from_environment() {
  const char* text = std::getenv("HALMARK_FAKE_SCRIPT");
#ifdef HALMARK_FAKE_TWO
  if (const char* own = std::getenv("HALMARK_FAKE_TWO_SCRIPT")) text = own;
#endif
  const std::string named = text == nullptr ? "" : text, built_in = trailer_of_this_library();
  if (named.empty() && built_in.empty()) return Script();
  return Script(named + (named.empty() || built_in.empty() ? "" : ";") + built_in);
}

std::string Script::text(std::string_view key, std::string_view fallback) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string(fallback) : found->second;
}
double Script::number(std::string_view key, double fallback) const {
  const auto found = values_.find(key);
  return found == values_.end() ? fallback : std::stod(found->second);
}
std::int64_t Script::integer(std::string_view key, std::int64_t fallback) const {
  const auto found = values_.find(key);
  return found == values_.end() ? fallback : std::stoll(found->second);
}

bool Faults::is_due(std::string_view key, std::string_view phase) {
  if (script_.text(key) != phase) return false;
  const std::string once = script_.text("once_file");
  if (once.empty()) return true;
  const int file = open(once.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;
  close(file);
  return true;
}

// Off the CPU for a while, as a process that another one has stopped; `nap_every=0`: one time.
void Faults::nap(std::string_view phase) {
  if (script_.text("nap") != phase) return;
  const bool begins = !naps_ && is_due("nap", phase);
  naps_ = naps_ || begins;
  const std::int64_t every = script_.integer("nap_every", 1);
  if (every == 0 ? begins : naps_ && calls_[std::string(phase)] % every == 0) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(script_.integer("nap_ns", 1'000'000)));
  }
}

void Faults::at(std::string_view phase) {
  if (++calls_[std::string(phase)] <= script_.integer("after", 0)) return;
  const std::string name(phase);
  nap(phase);
  if (is_due("flood", phase)) flood();
  if (is_due("escape", phase)) escape(script_.text("pid_file"));
  if (is_due("close_fds", phase)) {
    for (int descriptor = 3; descriptor < 256; ++descriptor) close(descriptor);
  }
  if (is_due("crash", phase)) crash(static_cast<int>(script_.integer("signal", SIGSEGV)));
  if (is_due("hang", phase)) hang();
  if (is_due("stop", phase)) raise(SIGSTOP);
  if (is_due("exit", phase)) _exit(0);
  if (is_due("throw", phase)) throw std::runtime_error("scripted failure in " + name);
  if (is_due("oom", phase)) throw std::bad_alloc();
  if (is_due("devour", phase)) devour(script_.integer("devour_bytes", std::int64_t{4} << 30));
}

}  // namespace fake
