// Everything is drawn behind the execution that it concerns, from the randomness of the system, so
// that a kernel cannot know which of its answers will be looked at. What is copied leaves caches
// colder than a sample does: an untimed execution follows where that could be seen in the next.
#include "worker/checks/loop_checks.hpp"

#include <algorithm>
#include <random>

#include "core/lists.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// Longer intervals do not show the 25 us that a copy costs at most, and would double a series.
constexpr double settling_interval_ns = 250e3;
// Nor does a copy that leaves most of the nearest cache as it was.
constexpr std::int64_t settling_bytes = 16 << 10;
// Slots beside the executions: of changed rows, and of what lies there when `wait` returned.
constexpr int slots_behind_the_loop = 6;

std::uint64_t seed_of_the_system() {
  std::random_device device;
  return (as_uint64(device()) << 32) ^ device();
}

}  // namespace

LoopChecks::LoopChecks(DeviceContext& context, StagedKernel& kernel,
                       const protocol::OutputChecks& wanted, double expected_ns)
    : context_(context),
      kernel_(kernel),
      ring_(kernel.ring()),
      wanted_(wanted),
      expected_ns_(expected_ns),
      kept_(ring_, wanted.executions, wanted.rows + wanted.redraws + slots_behind_the_loop,
            context.kept_outputs),
      redrawn_(ring_, context.clock, wanted.redraws),
      seed_(wanted.seed != 0 ? wanted.seed : seed_of_the_system()) {
  const bool has_own_outputs = !kept_.operands().empty() && !ring_.has(Role::in_out);
  if (!has_own_outputs) wanted_.executions = 0;
  is_changeable_ = has_own_outputs && !kernel.is_collective();
  settles_ = !kernel.is_collective() && expected_ns < settling_interval_ns &&
             kept_.bytes_per_execution() > settling_bytes;
  if (!is_changeable_ || expected_ns > long_interval_ns) wanted_.rows = 0;
  if (!is_changeable_ || expected_ns > 10 * long_interval_ns) wanted_.redraws = 0;
  next_row_at_ = 1 + as_int64(below(4));
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
    if (redrawn_.is_pending()) {
      check_redrawn(next_set);
      return {};
    }
    if (const auto at = place()) keep_execution(*at, first_set, repeat, next_set);
    if (wanted_.rows > changed_rows_ && seen_ >= next_row_at_) {
      check_row(repeat, next_set);
      next_row_at_ = seen_ + 1 + as_int64(below(as_uint64(seen_) + 2));
    }
  } catch (const RequestFailed& failure) {
    return {.status = failure.failed().code, .message = failure.failed().message};
  }
  return {};
}

PluginError LoopChecks::prepare(int first_set, std::int64_t repeat) {
  const bool may_redraw = wanted_.redraws > 0 && redrawn_.wants_more();
  if (!may_redraw || below(RedrawnInputs::one_of) != 0) return {};
  try {
    const auto row = redrawn_.write(first_set, repeat, draw());
    if (row) rows_.push_back(*row);
    if (!row) wanted_.redraws = 0;
  } catch (const RequestFailed& failure) {
    return {.status = failure.failed().code, .message = failure.failed().message};
  }
  return {};
}

// What was on other inputs is compared with the reference on those.
void LoopChecks::check_redrawn(int& next_set) {
  keep_row(redrawn_.last(), redrawn_.last_set(), false);
  redrawn_.restore(seen_);
  execute(redrawn_.first_set(), redrawn_.repeat(), next_set);
}

void LoopChecks::end_loop(std::span<const TimedSample> series, std::vector<Signal>& signals) {
  int next_set = 0;
  if (redrawn_.is_pending()) {
    ++seen_;
    check_redrawn(next_set);
  }
  redrawn_.add_to(series, signals);
}

// Every execution has the same chance, however many there will be (reservoir sampling).
std::optional<int> LoopChecks::place() {
  ++comparable_;
  if (wanted_.executions == 0) return std::nullopt;
  if (comparable_ <= wanted_.executions) return as_int(comparable_ - 1);
  const std::uint64_t at = below(as_uint64(comparable_));
  if (at >= as_uint64(wanted_.executions)) return std::nullopt;
  return as_int(at);
}

// Of the sets that the last executions wrote, one whose output is known.
std::optional<int> LoopChecks::written_set(int first_set, std::int64_t repeat) {
  const std::int64_t sets = ring_.sets();
  const std::int64_t written = std::min(repeat, sets);
  const std::int64_t last = first_set + repeat - 1;
  const auto skipped = as_int64(below(as_uint64(written)));
  for (std::int64_t i = 0; i < written; ++i) {
    const int set = as_int((last - (skipped + i) % written) % sets);
    if (holds_first_output(set)) return set;
  }
  return std::nullopt;
}

void LoopChecks::execute(int first_set, std::int64_t repeat, int& next_set) {
  ring_.mark_outputs(first_set, repeat);
  const double begin_ns = context_.clock.wall_ns();
  check(kernel_.run(first_set, repeat), "sample");
  executing_ns_ += context_.clock.wall_ns() - begin_ns;
  executions_ += repeat;
  next_set = as_int((first_set + repeat) % ring_.sets());
}

// What repeats is kept behind a drawn number of repeats: behind whole samples, an answer that is
// wrong in each tenth of ten repeats would be looked at always or never.
void LoopChecks::keep_execution(int at, int first_set, std::int64_t repeat, int& next_set) {
  const bool may_execute = !kernel_.is_collective();
  const bool ranks_draw_alike = may_execute || wanted_.seed != 0;
  if (ranks_draw_alike && repeat > 1) {
    first_set = next_set;
    repeat = 1 + as_int64(below(as_uint64(repeat)));
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
  execute(next_set, 1 + as_int64(below(as_uint64(repeat))), next_set);
}

void LoopChecks::check_row(std::int64_t repeat, int& next_set) {
  const auto row = draw_row(ring_, draw());
  if (!row) {
    wanted_.rows = 0;
    return;
  }
  const bool is_own = ring_.operands()[as_size(row->operand)].per_set;
  const std::int64_t count = is_own ? 1 : 1 + as_int64(below(as_uint64(repeat)));
  const int first_set = next_set;
  const int set = as_int((first_set + count - 1) % ring_.sets());
  OverwriteRow overwritten(ring_, set, *row, context_.clock);
  rows_.push_back(*row);
  ++changed_rows_;
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
                .operand = as_int64(operand),
                .begin = as_int64(stretch.begin),
                .bytes = as_int64(stretch.bytes),
                .at_once = at_once,
                .overwritten = std::ssize(rows_) - 1});
  }
}

void LoopChecks::add_to(protocol::Measured& measured) {
  measured.kept = kept_.take();
  measured.overwritten = std::move(rows_);
}

}  // namespace halmark::worker
