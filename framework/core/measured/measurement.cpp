#include "core/measured/measurement.hpp"

#include <algorithm>
#include <iterator>

#include "core/numeric/cast.hpp"
#include "core/text/enum_names.hpp"

namespace halmark {
namespace {

constexpr auto status_names =
    enum_names<Status>("ok", "suspect", "invalid", "unsupported", "out_of_memory", "compile_failed",
                       "launch_failed", "device_lost", "wrong_result", "nan_result", "quarantined",
                       "crashed", "timed_out", "worker_lost", "refused", "cancelled");

}  // namespace

std::string_view status_name(Status status) { return status_names.of(status); }

std::optional<Status> parse_status(std::string_view text) { return status_names.parse(text); }

bool has_latency(Status status) { return status == Status::ok || status == Status::suspect; }

bool counts_as_failure(Status status) {
  switch (status) {
    case Status::ok:
    case Status::suspect:
    case Status::unsupported:
    case Status::invalid:
    case Status::refused:
    case Status::cancelled:
      return false;
    default:
      return true;
  }
}

bool is_broken(Status status) { return counts_as_failure(status) && status != Status::quarantined; }

std::vector<Sample> counted_samples(std::span<const Sample> samples) {
  std::vector<Sample> out;
  std::ranges::copy_if(samples, std::back_inserter(out),
                       [](const Sample& s) { return s.label != SampleLabel::disturbed; });
  if (out.empty()) out.assign(samples.begin(), samples.end());
  return out;
}

std::optional<double> disturbed_share(std::span<const Sample> samples) {
  const auto labelled = std::ranges::count_if(
      samples, [](const Sample& s) { return s.label != SampleLabel::unlabelled; });
  if (labelled == 0) return std::nullopt;
  const auto disturbed = std::ranges::count(samples, SampleLabel::disturbed, &Sample::label);
  return as_double(disturbed) / as_double(labelled);
}

}  // namespace halmark
