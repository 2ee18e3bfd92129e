// Counted is what is mapped for this process to write, touched or not: a library that reserves
// address space without access pays nothing for it.
#include "worker/data_limit.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <thread>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "core/version.hpp"
#include "host/process/out_of_memory.hpp"

namespace halmark::worker {
namespace {

constexpr double mib = 1 << 20;

std::string mib_text(std::int64_t bytes) { return number_text(as_double(bytes) / mib, 4) + " MiB"; }

// Whoever writes to what malloc could not give dies of it: that is said where hardly anything is
// left, and the process dies as it would have.
void say_what_is_left(int) {
  constexpr std::size_t little = 64 << 20;
  void* const mapped =
      ::mmap(nullptr, little, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED) return;
  [[maybe_unused]] const auto said =
      ::write(STDERR_FILENO, out_of_memory_mark.data(), out_of_memory_mark.size());
}

void watch_crashes() {
  struct sigaction action {};
  action.sa_handler = say_what_is_left;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  ::sigaction(SIGSEGV, &action, nullptr);
}

// Of as many threads as this process may start on its CPUs.
std::int64_t stacks_bytes() {
  constexpr std::int64_t usual = 8 << 20, most = 64 << 20;
  rlimit stack{};
  const bool is_known = ::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const std::int64_t each = is_known ? std::min(most, as_int64(stack.rlim_cur)) : usual;
  return each * std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

std::int64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view key = "VmData:";
  for (std::string word; status >> word;) {
    std::int64_t kib = 0;
    if (word == key && status >> kib) return kib * 1024;
  }
  return 0;
}

void raise_data_limit(std::int64_t bytes) {
  rlimit limits{};
  if (::getrlimit(RLIMIT_DATA, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY) return;
  limits.rlim_cur = std::min(limits.rlim_max, limits.rlim_cur + static_cast<rlim_t>(bytes));
  ::setrlimit(RLIMIT_DATA, &limits);
}

DataLimit::DataLimit(bool is_of_cpu) : is_on_(is_of_cpu && build_sanitizer[0] == '\0') {}

void DataLimit::allow(std::int64_t tensor_bytes, Call call) {
  const std::int64_t held = data_bytes();
  if (!is_on_ || held == 0) return;
  const std::int64_t stacks = call == Call::warm ? 0 : stacks_bytes();
  const std::int64_t base = call == Call::discarded ? first_bytes : base_bytes;
  constexpr std::int64_t tensors_max = std::numeric_limits<std::int64_t>::max() / (4 * factor);
  tensor_bytes = std::clamp<std::int64_t>(tensor_bytes, 0, tensors_max);
  watch_crashes();
  // What is staged already keeps its own, which may be higher.
  const std::int64_t bytes = held + stacks + factor * tensor_bytes + base;
  if (call != Call::discarded && bytes <= bytes_ && !is_discarded_) return;
  is_discarded_ = call == Call::discarded;
  set(bytes);
  text_ = "at most " + mib_text(bytes_) + ": " + mib_text(held) + " held before, " +
          (stacks == 0 ? "" : mib_text(stacks) + " of stacks, ") + std::to_string(factor) + " x " +
          mib_text(tensor_bytes) + " of tensors, " + mib_text(base);
}

void DataLimit::without(const std::function<void()>& host) {
  if (bytes_ == 0) return host();
  rlimit limits{};
  ::getrlimit(RLIMIT_DATA, &limits);
  const std::int64_t before = data_bytes(), limit = as_int64(limits.rlim_cur);
  lift();
  host();
  set(limit + std::max<std::int64_t>(0, data_bytes() - before));
}

void DataLimit::lift() const {
  rlimit limits{};
  if (bytes_ == 0 || ::getrlimit(RLIMIT_DATA, &limits) != 0) return;
  limits.rlim_cur = limits.rlim_max;
  ::setrlimit(RLIMIT_DATA, &limits);
}

void DataLimit::set(std::int64_t bytes) {
  rlimit limits{};
  if (::getrlimit(RLIMIT_DATA, &limits) != 0) return;
  bytes_ = bytes;
  limits.rlim_cur = std::min(limits.rlim_max, static_cast<rlim_t>(bytes));
  ::setrlimit(RLIMIT_DATA, &limits);
}

}  // namespace halmark::worker
