// Figures of a row for a reader and for its verdict. Peaks are denominators here; only the bound
// decides about quarantine, because a peak says nothing about bytes.
#include "roofline/row_utilisation.hpp"

#include "core/text/text.hpp"

namespace halmark {

Result<double, std::string> fraction_of_peak(double fraction, std::string_view peak) {
  if (is_within_peak(fraction)) return fraction;
  return number_text(100 * fraction, 4) + " % of " + std::string(peak);
}

namespace {

void fill_mfu(const Work& work, const RowDevices& devices, std::string_view isa,
              RowUtilisation& result) {
  if (work.matmul_flops <= 0) {
    result.mfu_reason = "no matmul FLOPs";
    return;
  }
  const Dtype dtype = work.compute_dtype;
  if (devices.measured == nullptr) {
    result.mfu_reason = "no measured peaks";
  } else if (const auto peak = devices.measured->peak(dtype, devices.threads)) {
    const auto mfu = fraction_of_peak(result.flops_per_s / peak->flops_per_s, measured_peak_name);
    result.mfu = mfu.value;
    result.mfu_reason = mfu.failure;
  } else {
    result.mfu_reason = "no measured peak for " + std::string(dtype_name(dtype));
  }
  if (devices.measured != nullptr && !isa.empty()) {
    if (const auto path = devices.measured->path_peak(dtype, isa, devices.threads)) {
      result.path_fraction = fraction_of_peak(result.flops_per_s / path->flops_per_s, {}).value;
    }
  }
  if (devices.datasheet != nullptr) {
    if (const auto stated = devices.datasheet->peak(dtype, devices.threads)) {
      result.mfu_datasheet = fraction_of_peak(result.flops_per_s / stated->flops_per_s, {}).value;
    }
  }
}

}  // namespace

RowUtilisation row_utilisation(const Work& work, const roofline::Bound& bound,
                               const RowDevices& devices, std::string_view isa,
                               double duration_ns) {
  RowUtilisation result;
  result.flops_per_s = work.matmul_flops / duration_ns * 1e9;
  result.bytes_per_s = work.bytes() / duration_ns * 1e9;
  fill_mfu(work, devices, isa, result);
  const double least_ns = bound.ns();
  if (least_ns <= 0) return result;
  result.lower_bound_ns = least_ns;
  result.limiter = bound.limiter();
  result.roofline_fraction = least_ns / duration_ns;
  result.quarantine = roofline::quarantine(bound, duration_ns).value_or("");
  return result;
}

}  // namespace halmark
