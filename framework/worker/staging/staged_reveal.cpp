// What a staged kernel shows of itself: outputs, canaries, and whether it left its inputs alone.
// The parent draws the sets after sampling, so that a plugin cannot prepare an answer for them.
#include <algorithm>
#include <limits>
#include <thread>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "worker/request_failed.hpp"
#include "worker/staging/staged_constants.hpp"
#include "worker/staging/staged_kernel.hpp"

namespace halmark::worker {

void StagedKernel::require_sets(const std::vector<int>& sets) const {
  for (const int set : sets) {
    if (set >= 0 && set < ring_.sets()) continue;
    throw RequestFailed(HM_INVALID_ARGUMENT, "reveal",
                        "set " + std::to_string(set) + " of " + std::to_string(ring_.sets()));
  }
}

double StagedKernel::execute_afresh(const std::vector<int>& sets, int inputs_from) {
  if (ring_.has(Role::in_out) || is_collective()) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "reveal",
                        "new inputs for a kernel that accumulates or works with other ranks");
  }
  double longest_ns = 0;
  for (const int set : sets) longest_ns = std::max(longest_ns, time_on_inputs(set, inputs_from));
  return longest_ns;
}

// Whether or not it has seen them, they are written, so that caches are as warm; then the thread
// spins, because a core that waited for memory (inputs never drawn before) starts its wide units
// anew, 2 us that an execution of 1 us would be blamed for. Writing inputs uses up a time slice,
// and beside a busy neighbour the execution behind it would be the one that waits: after `rest` the
// thread has a slice of its own.
double StagedKernel::time_on_inputs(int set, int inputs_from, std::chrono::milliseconds rest) {
  for (const auto i : indices(ring_.operands())) {
    const Role role = ring_.operands()[i].spec.role;
    if (role == Role::input) ring_.fill_operand(set, i, inputs_from);
    if (role == Role::output) ring_.buffer(set, i).poison();
  }
  return time_after(rest, set);
}

double StagedKernel::time_after(std::chrono::milliseconds rest, int set) {
  if (rest.count() > 0) std::this_thread::sleep_for(rest);
  constexpr std::chrono::microseconds settling{50};
  const auto settled = SteadyClock::now() + settling;
  while (SteadyClock::now() < settled) {
  }
  const double begin_ns = context_.clock.wall_ns();
  check(run(set, 1), "reveal");
  return context_.clock.wall_ns() - begin_ns;
}

// A kernel that remembers its answers by all of its inputs gives right ones to any: only what new
// inputs cost shows it. Where inputs are addresses, others may lie elsewhere. The shortest of each
// kind are compared: what waited for a CPU is never the shortest of several, neither of the new
// ones, which would blame an honest kernel, nor of the old ones, which would clear a false one. A
// kernel that forgets when somebody writes pays for the same inputs too, and not behind no writing
// at all, which leaves caches warmer: what fetching the lines and waking may take is allowed. A try
// without a rest may have to wait for a CPU, and one behind a rest finds caches that a neighbour
// emptied: both happen to a kind of try as a whole, so there are many of each.
std::optional<double> StagedKernel::cost_of_new_inputs(int set, int inputs_from) {
  constexpr int tries = 30, least_tries = 3, longest_rest = 7;
  constexpr double plain = 1.25;
  const auto inputs = std::ranges::count_if(
      ring_.operands(), [](const StagedOperand& o) { return o.spec.role == Role::input; });
  if (inputs == 0 || inputs != std::ssize(ring_.replaceable_inputs(set))) return std::nullopt;
  constexpr double wake_ns = 10e3, bytes_per_ns = 4;
  double written_bytes = 0;
  for (const StagedOperand& o : ring_.operands()) {
    const bool is_written = o.spec.role == Role::input || o.spec.role == Role::output;
    if (is_written) written_bytes += as_double(o.info.bytes);
  }
  const double allowed_ns = wake_ns + written_bytes / bytes_per_ns;
  double new_ns = std::numeric_limits<double>::infinity(), again_ns = new_ns, plain_ns = new_ns;
  double cost = new_ns;
  for (int i = 1; i <= tries && (i <= least_tries || cost > plain); ++i) {
    const std::chrono::milliseconds rest(i % 2 == 1 ? 0 : std::min(i / 2, longest_rest));
    new_ns = std::min(new_ns, time_on_inputs(set, inputs_from + i, rest));
    again_ns = std::min(again_ns, time_on_inputs(set, inputs_from + i, rest));
    plain_ns = std::min(plain_ns, time_after(rest, set));
    cost = new_ns / std::max(1.0, std::min(again_ns, plain_ns + allowed_ns));
  }
  (void)time_on_inputs(set, inputs_from);  // what was asked for is there again
  return cost;
}

// Sums of the outputs of one execution.
std::vector<std::uint64_t> StagedKernel::answers_of(int set) {
  check(run(set, 1), "sample");
  return mapped(ring_.outputs_of(set), [&](const Activation& output) {
    return ring_.buffer(set, output.operand).checksum();
  });
}

std::optional<bool> StagedKernel::keeps_constants() {
  constexpr std::uint64_t bytes_max = 16 << 20;
  constexpr std::uint32_t not_to_copy =
      HM_PREPARED_CONSTANTS_OPAQUE | HM_PREPARED_CONSTANTS_IN_PREPARED;
  std::uint64_t bytes = 0;
  for (const StagedOperand& o : ring_.operands()) {
    if (o.spec.role == Role::constant) bytes += o.info.bytes;
  }
  const bool is_askable = !is_collective() && !prepared_.has(not_to_copy) &&
                          !ring_.has(Role::in_out) && !ring_.outputs_of(0).empty();
  if (!is_askable || bytes == 0 || bytes > bytes_max) return std::nullopt;
  const std::vector<std::uint64_t> own = answers_of(0);
  if (own != answers_of(0)) return std::nullopt;  // it never gives the same twice
  ReplacedConstants replaced(context_, prepared_, ring_, 0, ring_.sets() + 1);
  const bool keeps = own == answers_of(0);
  replaced.restore();
  (void)answers_of(0);
  return keeps;
}

StagedKernel::Shown StagedKernel::reveal(const protocol::Reveal& request) {
  require_sets(request.sets);
  Shown shown;
  shown.answer.id = staged_.id;
  check_->note_damage(shown.answer);
  double afresh_ns = 0;
  if (request.inputs_from) afresh_ns = execute_afresh(request.sets, *request.inputs_from);
  std::int64_t total = 0;
  for (const int set : request.sets) {
    for (const auto i : indices(ring_.operands())) {
      if (!ring_.operands()[i].is_written()) continue;
      const auto bytes = as_int64(ring_.operands()[i].info.bytes);
      shown.answer.parts.push_back({set, as_int64(i), total, bytes});
      total += (bytes + 63) / 64 * 64;
    }
  }
  shown.memory = SharedMemory::create("halmark-reveal", std::max<std::int64_t>(total, 1), false);
  for (const protocol::RevealedPart& part : shown.answer.parts) {
    ring_.buffer(part.set, as_size(part.operand))
        .read(shown.memory.data() + part.offset, as_uint64(part.bytes));
  }
  // Last, because what still works when `wait` has returned must not be given time.
  if (request.inputs_from && request.plain_ns > 0) {
    shown.answer.new_inputs_cost =
        afresh_ns <= request.plain_ns
            ? 1
            : cost_of_new_inputs(request.sets.front(), *request.inputs_from);
  }
  if (request.inputs_from) check_->renew_inputs();
  return shown;
}

}  // namespace halmark::worker
