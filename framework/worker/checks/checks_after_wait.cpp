// What is looked at behind the loop: what lies there at once when `wait` returns, the executions
// that a short series left out, threads that still work, reads that work is left for.
#include <algorithm>
#include <chrono>
#include <thread>

#include "core/lists.hpp"
#include "worker/checks/loop_checks.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

constexpr std::int64_t lines_at_once = 32;

}  // namespace

void LoopChecks::run_poisoned(int first_set, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const int set = as_int((first_set + i) % ring_.sets());
    for (const std::size_t operand : kept_.operands()) ring_.buffer(set, operand).poison();
  }
  check(kernel_.run(first_set, count), "sample");
}

// Drawn lines first: what a thread still writes comes later than they do.
void LoopChecks::keep_lines(int first_set, std::int64_t count) {
  const std::int64_t lines =
      std::max<std::int64_t>(1, lines_at_once / (count * as_int64(kept_.operands().size())));
  for (std::int64_t i = 0; i < lines * count; ++i) {
    const int set = as_int((first_set + i % count) % ring_.sets());
    for (const std::size_t operand : kept_.operands()) {
      const std::uint64_t bytes = ring_.operands()[operand].info.bytes;
      const std::uint64_t begin = below((bytes + line_bytes - 1) / line_bytes) * line_bytes;
      kept_.keep({.set = set,
                  .operand = as_int64(operand),
                  .begin = as_int64(begin),
                  .bytes = as_int64(std::min(line_bytes, bytes - begin)),
                  .at_once = true});
    }
  }
}

void LoopChecks::check_after_wait(std::int64_t repeat, std::vector<Signal>& signals) {
  if (!is_changeable_) return;
  keep_the_rest(repeat);
  check_at_once(repeat);
  note_kept_state(signals);
  watch_idle(signals);
  const bool is_apart = ring_.buffer(0, kept_.operands().front()).host() == nullptr;
  if (is_apart) time_reads(0, signals);
}

// A series that ended soon has fewer samples than are to be compared: short executions follow.
void LoopChecks::keep_the_rest(std::int64_t repeat) {
  constexpr double short_interval_ns = 1e6;
  if (expected_ns_ > short_interval_ns) return;
  int next_set = as_int(below(as_uint64(ring_.sets())));
  while (comparable_ < wanted_.executions) {
    const int first_set = next_set;
    const auto count = 1 + as_int64(below(as_uint64(repeat)));
    execute(first_set, count, next_set);
    auto set = written_set(first_set, count);
    if (!set) {
      int behind = 0;
      execute(0, 1, behind);
      set = 0;
    }
    const int at = as_int(comparable_++);
    kept_.keep_execution(at, ++seen_, *set, draw());
  }
}

// Slow kernels are looked at in the same way when the parent has one executed on new inputs.
void LoopChecks::check_at_once(std::int64_t repeat) {
  if (expected_ns_ > long_interval_ns) return;
  const auto sets = as_int64(ring_.sets());
  const int first_set = as_int(below(as_uint64(sets)));
  const bool shares_outputs = std::ranges::none_of(
      kept_.operands(), [&](std::size_t i) { return ring_.operands()[i].per_set; });
  const std::int64_t count = shares_outputs ? 1 : std::min({repeat, sets, lines_at_once});
  const int last_set = as_int((first_set + count - 1) % sets);
  const auto row = draw_row(ring_, draw());
  std::optional<OverwriteRow> overwritten;
  if (row) {
    overwritten.emplace(ring_, last_set, *row, context_.clock);
    rows_.push_back(*row);
  }
  run_poisoned(first_set, count);
  keep_lines(first_set, count);
  if (overwritten) {
    keep_row(*overwritten, last_set, true);
    overwritten->restore();
    check(kernel_.run(first_set, count), "sample");  // as behind any other sample
  }
}

// Fair where constants stay as they are, as those of a model do; whoever changes them in place
// would get the old answers.
void LoopChecks::note_kept_state(std::vector<Signal>& signals) {
  if (expected_ns_ > 10 * long_interval_ns || !kernel_.keeps_constants().value_or(false)) return;
  signals.push_back({"keeps_state", 1,
                     "answers stay when constants are changed in place: packed once by address"});
}

// A device whose memory the host does not see could work when it is read. The first read of an
// output is compared with the second, and with one of what the host wrote, whose caches are as
// warm; the least of three tries counts.
void LoopChecks::time_reads(int set, std::vector<Signal>& signals) {
  constexpr std::uint64_t read_max = 1 << 20;
  const std::size_t operand = kept_.operands().front();
  OperandBuffer& buffer = ring_.buffer(set, operand);
  std::vector<std::byte> target(std::min(buffer.bytes(), read_max));
  const auto read_ns = [&] {
    const double begin_ns = context_.clock.wall_ns();
    buffer.read_at(0, target.data(), target.size());
    return context_.clock.wall_ns() - begin_ns;
  };
  constexpr int tries = 3;
  std::vector<double> again, excess;
  double with_read_ns = 0, plain_ns = 0;
  do {
    buffer.poison();
    (void)read_ns();
    const double control_ns = read_ns();
    buffer.poison();
    const double written_ns = read_ns();
    const double begin_ns = context_.clock.wall_ns();
    check(kernel_.run(set, 1), "sample");
    const double first_ns = read_ns();
    const double whole_ns = context_.clock.wall_ns() - begin_ns;
    again.push_back(read_ns());
    excess.push_back(first_ns - std::max({again.back(), control_ns, written_ns}));
    plain_ns = again.size() == 1 ? control_ns : std::min(plain_ns, control_ns);
    with_read_ns = again.size() == 1 ? whole_ns : std::min(with_read_ns, whole_ns);
  } while (again.size() < tries && excess.back() > 0);
  const auto [least, most] = std::ranges::minmax(again);
  signals.push_back({"read_excess_ns", std::ranges::min(excess), {}});
  signals.push_back({"read_spread_ns", most - least, {}});
  signals.push_back({"timed_with_read_ns", with_read_ns, {}});
  signals.push_back({"read_ns", plain_ns, {}});
  signals.push_back({"read_bytes", as_double(target.size()), {}});
}

// Threads of a library spin for a while behind their last call; those that never sleep may be at
// work for the next one. The share of one CPU in the quieter pair of gaps: in a single one somebody
// else may have had the CPU.
void LoopChecks::watch_idle(std::vector<Signal>& signals) {
  constexpr auto gap = std::chrono::microseconds(300);
  constexpr int gaps = 12;
  constexpr double idle_share = 0.05;
  double before = 1, share = 1;
  for (int i = 0; i < gaps && share > idle_share; ++i) {
    const double begin_ns = context_.clock.wall_ns(), cpu_begin_ns = context_.clock.cpu_ns();
    std::this_thread::sleep_for(gap);
    const double cpu_ns = context_.clock.cpu_ns() - cpu_begin_ns;
    const double wall_ns = context_.clock.wall_ns() - begin_ns;
    const double now = cpu_ns / std::max(wall_ns, 1.0);
    share = std::min(share, std::max(before, now));
    before = now;
  }
  signals.push_back({"cpu_share_after_wait", share, {}});
}

}  // namespace halmark::worker
