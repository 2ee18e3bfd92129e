// Everything is drawn behind the execution that it concerns, from the randomness of the system, so
// that a kernel cannot know which of its answers will be looked at. What is copied leaves caches
// colder than a sample does: an untimed execution follows where that could be seen in the next.
#include "worker/checks/loop_checks.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// Longer intervals do not show the 25 us that a copy costs at most, and would double a series.
constexpr double settling_interval_ns = 250e3;
// Nor does a copy that leaves most of the nearest cache as it was.
constexpr std::int64_t settling_bytes = 16 << 10;
// Longer ones are executed as seldom as they can be.
constexpr double long_interval_ns = 2e6;
constexpr std::int64_t lines_at_once = 32;
// Slots beside the executions: of changed rows, and of what lies there when `wait` returned.
constexpr int slots_behind_the_loop = 6;

std::uint64_t seed_of_the_system() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) ^ device();
}

}  // namespace

LoopChecks::LoopChecks(DeviceContext& context, StagedKernel& kernel,
                       const protocol::OutputChecks& wanted, double expected_ns)
    : context_(context),
      kernel_(kernel),
      ring_(kernel.ring()),
      wanted_(wanted),
      expected_ns_(expected_ns),
      kept_(ring_, wanted.executions, wanted.rows + slots_behind_the_loop, context.kept_outputs),
      seed_(wanted.seed != 0 ? wanted.seed : seed_of_the_system()) {
  const bool has_own_outputs = !kept_.operands().empty() && !ring_.has(Role::in_out);
  if (!has_own_outputs) wanted_.executions = 0;
  is_changeable_ = has_own_outputs && !kernel.is_collective();
  settles_ = !kernel.is_collective() && expected_ns < settling_interval_ns &&
             kept_.bytes_per_execution() > settling_bytes;
  if (!is_changeable_ || expected_ns > long_interval_ns) wanted_.rows = 0;
  next_row_at_ = 1 + static_cast<std::int64_t>(below(4));
}

// The output that the gate accepted is that of set 0: others have it where their values are its.
bool LoopChecks::holds_first_output(int set) const {
  if (set == 0) return true;
  const bool has_constants = ring_.has(Role::constant);
  return ring_.mode() != CacheMode::rotate_all && !ring_.has(Role::state) &&
         (!has_constants || kernel_.staged().constants_shared) && set != kernel_.staged().witness;
}

PluginError LoopChecks::act(int first_set, std::int64_t repeat, int& next_set) {
  ++seen_;
  try {
    if (const auto at = place()) keep_execution(*at, first_set, repeat, next_set);
    if (wanted_.rows > static_cast<int>(rows_.size()) && seen_ >= next_row_at_) {
      check_row(repeat, next_set);
      next_row_at_ =
          seen_ + 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(seen_) + 2));
    }
  } catch (const RequestFailed& failure) {
    return {.status = failure.failed().code, .message = failure.failed().message};
  }
  return {};
}

// Every execution has the same chance, however many there will be (reservoir sampling).
std::optional<int> LoopChecks::place() {
  if (wanted_.executions == 0) return std::nullopt;
  if (seen_ <= wanted_.executions) return static_cast<int>(seen_ - 1);
  const std::uint64_t at = below(static_cast<std::uint64_t>(seen_));
  if (at >= static_cast<std::uint64_t>(wanted_.executions)) return std::nullopt;
  return static_cast<int>(at);
}

// Of the sets that the last executions wrote, one whose output is known.
std::optional<int> LoopChecks::written_set(int first_set, std::int64_t repeat) {
  const std::int64_t sets = ring_.sets();
  const std::int64_t written = std::min(repeat, sets);
  const std::int64_t last = first_set + repeat - 1;
  const auto skipped = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(written)));
  for (std::int64_t i = 0; i < written; ++i) {
    const int set = static_cast<int>((last - (skipped + i) % written) % sets);
    if (holds_first_output(set)) return set;
  }
  return std::nullopt;
}

void LoopChecks::execute(int first_set, std::int64_t repeat, int& next_set) {
  ring_.mark_outputs(first_set, repeat);
  check(kernel_.run(first_set, repeat), "sample");
  next_set = static_cast<int>((first_set + repeat) % ring_.sets());
}

// Some of what repeats is kept behind a drawn number of repeats, so that no period hides.
void LoopChecks::keep_execution(int at, int first_set, std::int64_t repeat, int& next_set) {
  const bool may_execute = !kernel_.is_collective();
  const bool ranks_draw_alike = may_execute || wanted_.seed != 0;
  const std::uint64_t one_of = seen_ <= wanted_.executions ? 2 : 4;
  if (ranks_draw_alike && repeat > 1 && draw() % one_of == 0) {
    first_set = next_set;
    repeat = 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(repeat)));
    execute(first_set, repeat, next_set);
  }
  auto set = written_set(first_set, repeat);
  if (!set && may_execute && expected_ns_ <= long_interval_ns) {
    int behind = 0;
    execute(0, 1, behind);
    set = 0;
  }
  if (set) kept_.keep_execution(at, seen_, *set, draw());
  if (!settles()) return;
  execute(next_set, 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(repeat))),
          next_set);
}

void LoopChecks::check_row(std::int64_t repeat, int& next_set) {
  const auto row = draw_row(ring_, draw());
  if (!row) {
    wanted_.rows = 0;
    return;
  }
  const bool is_own = ring_.operands()[static_cast<std::size_t>(row->operand)].per_set;
  const std::int64_t count =
      is_own ? 1 : 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(repeat)));
  const int first_set = next_set;
  const int set = static_cast<int>((first_set + count - 1) % ring_.sets());
  OverwriteRow overwritten(ring_, set, *row);
  rows_.push_back(*row);
  execute(first_set, count, next_set);
  keep_row(overwritten, set, false);
  overwritten.restore();
  execute(first_set, count, next_set);  // outputs are those of the staged inputs again
}

void LoopChecks::keep_row(const OverwriteRow& overwritten, int set, bool at_once) {
  for (const std::size_t operand : kept_.operands()) {
    const OverwriteRow::Stretch stretch = overwritten.of_output(operand);
    kept_.keep({.sample = at_once ? -1 : seen_,
                .set = set,
                .operand = static_cast<std::int64_t>(operand),
                .begin = static_cast<std::int64_t>(stretch.begin),
                .bytes = static_cast<std::int64_t>(stretch.bytes),
                .at_once = at_once,
                .overwritten = static_cast<std::int64_t>(rows_.size()) - 1});
  }
}

void LoopChecks::run_poisoned(int first_set, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const int set = static_cast<int>((first_set + i) % ring_.sets());
    for (const std::size_t operand : kept_.operands()) ring_.buffer(set, operand).poison();
  }
  check(kernel_.run(first_set, count), "sample");
}

// Drawn lines first: what a thread still writes comes later than they do.
void LoopChecks::keep_lines(int first_set, std::int64_t count) {
  const std::int64_t lines = std::max<std::int64_t>(
      1, lines_at_once / (count * static_cast<std::int64_t>(kept_.operands().size())));
  for (std::int64_t i = 0; i < lines * count; ++i) {
    const int set = static_cast<int>((first_set + i % count) % ring_.sets());
    for (const std::size_t operand : kept_.operands()) {
      const std::uint64_t bytes = ring_.operands()[operand].info.bytes;
      const std::uint64_t begin = below((bytes + line_bytes - 1) / line_bytes) * line_bytes;
      kept_.keep({.set = set,
                  .operand = static_cast<std::int64_t>(operand),
                  .begin = static_cast<std::int64_t>(begin),
                  .bytes = static_cast<std::int64_t>(std::min(line_bytes, bytes - begin)),
                  .at_once = true});
    }
  }
}

void LoopChecks::check_after_wait(std::int64_t repeat, std::vector<Signal>& signals) {
  if (!is_changeable_) return;
  keep_the_rest(repeat);
  check_at_once(repeat);
  watch_idle(signals);
  const bool is_apart = ring_.buffer(0, kept_.operands().front()).host() == nullptr;
  if (is_apart) time_reads(0, signals);
}

// A series that ended soon has fewer samples than are to be compared: short executions follow.
void LoopChecks::keep_the_rest(std::int64_t repeat) {
  constexpr double short_interval_ns = 1e6;
  if (expected_ns_ > short_interval_ns) return;
  int next_set = static_cast<int>(below(static_cast<std::uint64_t>(ring_.sets())));
  while (seen_ < wanted_.executions) {
    const int first_set = next_set;
    const auto count = 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(repeat)));
    execute(first_set, count, next_set);
    auto set = written_set(first_set, count);
    if (!set) {
      int behind = 0;
      execute(0, 1, behind);
      set = 0;
    }
    const int at = static_cast<int>(seen_++);
    kept_.keep_execution(at, seen_, *set, draw());
  }
}

// Slow kernels are looked at in the same way when the parent has one executed on new inputs.
void LoopChecks::check_at_once(std::int64_t repeat) {
  if (expected_ns_ > long_interval_ns) return;
  const auto sets = static_cast<std::int64_t>(ring_.sets());
  const int first_set = static_cast<int>(below(static_cast<std::uint64_t>(sets)));
  const bool shares_outputs = std::ranges::none_of(
      kept_.operands(), [&](std::size_t i) { return ring_.operands()[i].per_set; });
  const std::int64_t count = shares_outputs ? 1 : std::min({repeat, sets, lines_at_once});
  const int last_set = static_cast<int>((first_set + count - 1) % sets);
  const auto row = draw_row(ring_, draw());
  std::optional<OverwriteRow> overwritten;
  if (row) {
    overwritten.emplace(ring_, last_set, *row);
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
  signals.push_back({"read_bytes", static_cast<double>(target.size()), {}});
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

void LoopChecks::add_to(protocol::Measured& measured) {
  measured.kept = kept_.take();
  measured.overwritten = std::move(rows_);
}

}  // namespace halmark::worker
