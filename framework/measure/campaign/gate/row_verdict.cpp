// The bound is asked last, because a time that is invalid for another reason says nothing about the
// roofline.
#include "measure/campaign/gate/row_verdict.hpp"

#include <algorithm>
#include <optional>

#include "core/lists.hpp"
#include "core/text/text.hpp"

#include "measure/campaign/fresh_probe.hpp"
#include "measure/campaign/gate/impossible_time.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {
namespace {

class RowVerdict {
 public:
  RowVerdict(Measurement& row, const Work& work, const RowJudging& judging)
      : row_(row), work_(work), judging_(judging) {}

  void judge() {
    const bool is_memory_bound = has_peaks() && bound().limiter() == Limiter::memory;
    const Verdict verdict = judge_validity(row_, thresholds(), is_memory_bound);
    end(verdict.status, verdict.reason);
    if (verdict.status == Status::quarantined) return;
    if (has_peaks()) judge_by_bound();
    if (row_.status == Status::quarantined) return;
    if (const auto why =
            impossible_time(row_, device(), judging_.crew.host_threads(judging_.shard))) {
      return end(Status::quarantined, std::string(timer_reason) + *why);
    }
    if (const auto why = uncertain_time(row_); why && row_.status != Status::invalid) {
      end(Status::invalid, std::string(timer_reason) + *why);
    }
    judge_idle();
    judge_transfers("read", "reading", "when outputs are read");
    judge_transfers("write", "writing", "when inputs are written");
    judge_unbounded();
  }

 private:
  void end(Status status, std::string reason) {
    row_.status = status;
    row_.reason = std::move(reason);
  }

  // What moves the clock and the memory of the host's CPU moves no clock of a device apart from it.
  ValidityThresholds thresholds() const {
    ValidityThresholds out = judging_.thresholds;
    if (!device().is_apart()) return out;
    constexpr Limit shown{ValidityThresholds::never, ValidityThresholds::never};
    out.clock_moved = out.peak_moved = out.bandwidth_moved = shown;
    return out;
  }

  const protocol::DeviceDescription& device() const { return judging_.crew.device(judging_.shard); }
  bool is_timed_by_host() const { return device().timer == protocol::Timer::host_clock; }

  bool has_own_peaks() const { return judging_.peaks != nullptr && judging_.peaks->are_apart(); }

  // Other measured peaks are those of the CPUs that the workers run on. What the host's clock times
  // runs on them too, as far as anybody knows, unless it says that it is a device and keeps what it
  // works on to itself.
  bool has_peaks() const {
    if (judging_.peaks == nullptr) return false;
    if (has_own_peaks()) return true;
    const bool may_be_apart = device().kind == "gpu" || device().kind == "npu";
    return device().kind == "cpu" ||
           (is_timed_by_host() && (judging_.is_in_host_memory || !may_be_apart));
  }

  std::optional<double> signal(std::string_view name) const {
    const auto* found = find_or_null(row_.signals, name, &Signal::name);
    return !found ? std::nullopt : found->value;
  }

  // No link of a device is so slow; a plugin whose every read is hides the one that works, and one
  // that works when its inputs come in has its answers when it is timed.
  void judge_transfers(const std::string& what, const std::string& verb, const std::string& when) {
    constexpr double latency_ns = 200e3, bytes_per_ns = 0.5;
    const auto ns = signal(what + "_ns"), bytes = signal(what + "_bytes");
    if (!ns || !bytes || row_.status != Status::ok) return;
    if (*ns <= std::max(latency_ns + *bytes / bytes_per_ns, row_.duration_ns_median)) return;
    end(Status::suspect, verb + " " + number_text(*bytes, 7) + " bytes takes " + figure(*ns) +
                             ", longer than the kernel: work may be done " + when);
  }

  // A time that nothing contradicts, because nothing could.
  void judge_unbounded() {
    if (has_peaks()) return;
    const bool is_apart = judging_.peaks != nullptr && is_timed_by_host();
    const std::string why = is_apart ? "the host's clock times a " + device().kind +
                                           " with memory of its own: no measured peak bounds it"
                                     : "no peaks of the device are known";
    if (is_apart) row_.signals.push_back({"bound", std::nullopt, why});
    if (!judging_.asks_bound || row_.status != Status::ok) return;
    const KernelCase& c = row_.kernel_case;
    const std::string of =
        device().kind == "cpu" ? "" : " --backend " + c.backend + " --device " + c.device;
    end(Status::suspect,
        std::string(unbounded_reason) + why + "; halmark peaks" + of + " measures them");
  }

  // No proof of a false time, but against the contract: what they do may belong to the next call.
  void judge_idle() {
    constexpr double busy_share = 0.5;
    const auto share = signal("cpu_share_after_wait");
    if (!share || *share <= busy_share || row_.status != Status::ok) return;
    end(Status::suspect, "threads of the plugin use " + number_text(100 * *share, 3) +
                             " % of a CPU 4 ms after wait has returned");
  }

  static std::string figure(double ns) { return number_text(ns, 4) + " ns"; }

  roofline::Bound bound() const {
    return roofline::case_bound(work_, row_.kernel_case,
                                judging_.peaks->ceilings(judging_.crew.threads(judging_.shard),
                                                         row_.kernel_case.shards_at_once));
  }

  void judge_by_bound() {
    const roofline::Bound stored = bound();
    const auto stored_why = roofline::quarantine(stored, row_.duration_ns_median);
    if (!stored_why) return;
    if (has_own_peaks()) {
      return end(Status::quarantined, *stored_why + "; halmark peaks --backend " +
                                          row_.kernel_case.backend + " --device " +
                                          row_.kernel_case.device + " measures the ceiling again");
    }
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

bool is_in_host_memory(const protocol::Staged& staged) {
  return std::ranges::any_of(staged.memory, &protocol::StagedMemory::is_host);
}

void judge_row(Measurement& row, const Work& work, const RowJudging& judging) {
  RowVerdict(row, work, judging).judge();
}

}  // namespace halmark
