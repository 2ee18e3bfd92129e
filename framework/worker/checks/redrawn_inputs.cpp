// Whole operands and not single rows, because an answer may be kept by the row, and turned by other
// amounts each time, because several answers may be kept.
#include "worker/checks/redrawn_inputs.hpp"

#include <algorithm>
#include <limits>

#include "core/lists.hpp"

namespace halmark::worker {
namespace {

// More would take longer to write than a sample lasts.
constexpr std::uint64_t bytes_max = 4 << 20;
constexpr std::size_t least_samples = 3;

double ns_of(const TimedSample& sample) { return sample.device_ns.value_or(sample.wall_ns); }

}  // namespace

RedrawnInputs::RedrawnInputs(ArgumentRing& ring, ClockSource& clock, int wanted)
    : ring_(ring), clock_(clock), wanted_(wanted) {}

std::optional<protocol::OverwrittenRow> RedrawnInputs::write(int first_set, std::int64_t repeat,
                                                             std::uint64_t random) {
  const auto row = draw_whole(ring_, random, drawn_);
  if (!row) return std::nullopt;
  drawn_.push_back(*row);
  const auto executed = as_int(std::min<std::int64_t>(repeat, sets()));
  const StagedOperand& operand = ring_.operands()[as_size(row->operand)];
  const int written = operand.per_set ? executed : 1;
  bytes_ = as_uint64(written) * operand.info.bytes;
  if (bytes_ > bytes_max) return std::nullopt;
  first_set_ = first_set;
  repeat_ = repeat;
  new_executions_ = executed;
  const int last = last_set();
  is_apart_ = ring_.buffer(last, as_size(row->operand)).host() == nullptr;
  for (int i = written; i-- > 0;) {
    overwritten_.emplace_back(ring_, (last - i + sets()) % sets(), *row, clock_);
    const double ns = overwritten_.back().write_ns();
    write_ns_ = write_bytes_ == 0 ? ns : std::min(write_ns_, ns);
    write_bytes_ = operand.info.bytes;
  }
  return row;
}

void RedrawnInputs::restore(std::int64_t number) {
  for (OverwriteRow& overwritten : overwritten_) overwritten.restore();
  overwritten_.clear();
  samples_.push_back(number);
}

// Lines that another core wrote come from there, at the rate of a slow link at least.
double RedrawnInputs::allowed_ns(double plain_ns) const {
  constexpr double wake_ns = 10e3, bytes_per_ns = 4, noise = 0.05;
  return wake_ns + as_double(bytes_) / bytes_per_ns + noise * plain_ns;
}

void RedrawnInputs::add_to(std::span<const TimedSample> series,
                           std::vector<Signal>& signals) const {
  double new_ns = std::numeric_limits<double>::infinity(), plain_ns = new_ns;
  std::size_t redrawn = 0, plain = 0;
  const auto is_redrawn = [&](std::size_t at) {
    return std::ranges::binary_search(samples_, as_int64(at) + 1);
  };
  for (const auto i : indices(series)) {
    if (series[i].label == SampleLabel::disturbed) continue;
    const bool is_new = is_redrawn(i);
    const bool is_beside_one = is_redrawn(i + 1) || (i > 0 && is_redrawn(i - 1));
    if (!is_new && !is_beside_one) continue;
    double& shortest_ns = is_new ? new_ns : plain_ns;
    shortest_ns = std::min(shortest_ns, ns_of(series[i]));
    ++(is_new ? redrawn : plain);
  }
  if (redrawn < least_samples || plain < least_samples || !(plain_ns > 0)) return;
  const double more_ns = std::max(0.0, new_ns - plain_ns - allowed_ns(plain_ns));
  const double each_ns = more_ns / as_double(new_executions_);
  const double execution_ns = plain_ns / as_double(repeat_);
  signals.push_back({"new_inputs_cost", 1 + each_ns / execution_ns, {}});
  if (!is_apart_) return;
  signals.push_back({"write_ns", write_ns_, {}});
  signals.push_back({"write_bytes", as_double(write_bytes_), {}});
}

}  // namespace halmark::worker
