#include "model/step/question_checks.hpp"

#include <string>

#include "core/text/error.hpp"

namespace halmark {

void check_question(const StepQuestion& question) {
  const auto ms = question.measured_ms, rate = question.tokens_per_s;
  if (ms && rate) {
    throw refused("--measured-ms and --tokens-per-s are one measurement", {}, "give one of them");
  }
  if (rate && !(*rate >= 1e-6 && *rate <= 1e12)) {
    throw refused("--tokens-per-s is no rate of a step", {},
                  "give tokens of a second over all sequences, 1e-6 to 1e12");
  }
  // As for tables of times: nothing executes in less than 0.1 ns, no step takes eleven days.
  if (ms && !(*ms >= 1e-7 && *ms <= 1e9)) {
    throw refused("--measured-ms is no time of a step", {},
                  "give milliseconds from 1e-7 to 1e9; leave it out where nothing was measured");
  }
  if (question.drafted < 0) throw refused("--mtp must be 0 or more");
  if (!question.acceptance) return;
  const double a = *question.acceptance;
  if (!(a >= 0 && a <= 1)) throw refused("--acceptance must lie in 0..1");
  if (question.drafted == 0) {
    throw refused("--acceptance without drafted tokens", {}, "add --mtp N");
  }
}

void check_peak(const StepQuestion& question, const std::optional<Device>& device) {
  if (question.peak != "measured") return;
  if (device && device->is_measured) return;
  throw refused(device ? "the peaks of '" + device->id + "' are not measured"
                       : std::string("no device whose peaks could have been measured is named"),
                {}, "--device FILE names what halmark peaks wrote; or leave --peak measured out");
}

}  // namespace halmark
