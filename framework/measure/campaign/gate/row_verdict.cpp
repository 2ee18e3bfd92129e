// The bound is asked last, because a time that is invalid for another reason says nothing about the
// roofline.
#include "measure/campaign/gate/row_verdict.hpp"

#include <optional>

#include "measure/campaign/fresh_probe.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {
namespace {

class RowVerdict {
 public:
  RowVerdict(Measurement& row, const Work& work, const RowJudging& judging)
      : row_(row), work_(work), judging_(judging) {}

  void judge() {
    const bool is_memory_bound = has_peaks() && bound().limiter() == Limiter::memory;
    const Verdict verdict = judge_validity(row_, judging_.thresholds, is_memory_bound);
    end(verdict.status, verdict.reason);
    if (row_.duration_ns_median <= 0) {
      end(Status::quarantined, "timer: the median is not above 0 ns");
    } else if (has_peaks() && verdict.status != Status::quarantined) {
      judge_by_bound();
    }
  }

 private:
  void end(Status status, std::string reason) {
    row_.status = status;
    row_.reason = std::move(reason);
  }

  // Measured peaks are those of the CPUs that the workers run on.
  bool has_peaks() const {
    return judging_.peaks != nullptr && judging_.crew.device().kind == "cpu";
  }

  roofline::Bound bound() const {
    return roofline::case_bound(
        work_, row_.kernel_case,
        judging_.peaks->ceilings(judging_.crew.threads(), row_.kernel_case.shards_at_once));
  }

  void judge_by_bound() {
    const roofline::Bound stored = bound();
    if (!roofline::quarantine(stored, row_.duration_ns_median)) return;
    judging_.free_memory();
    const std::string probed =
        probe_afresh(judging_.crew, *judging_.peaks, work_, stored, row_.duration_ns_median);
    if (const auto why = roofline::quarantine(bound(), row_.duration_ns_median)) {
      end(Status::quarantined, *why + "; " + probed);
    } else {
      row_.signals.push_back({.name = fresh_probe_signal, .value = {}, .reason = probed});
    }
  }

  Measurement& row_;
  const Work& work_;
  const RowJudging& judging_;
};

}  // namespace

void judge_row(Measurement& row, const Work& work, const RowJudging& judging) {
  RowVerdict(row, work, judging).judge();
}

}  // namespace halmark
