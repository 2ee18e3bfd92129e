// What a source is worth: the rows of its kernel under the gates that there are, folded into one
// answer. No gate of its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/measured/measurement.hpp"
#include "core/text/error.hpp"
#include "judge/build.hpp"
#include "report/report.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::judge {

enum class Outcome { accepted, refused, undecided };
std::string_view outcome_name(Outcome outcome);

// Everything that was found out about one source.
struct Judged {
  std::string source, op, entry;  // its path; what the entry is declared as
  Built build;
  std::optional<Measurement> fault;  // of the build or of loading: no kernel was run
  std::vector<Measurement> conformance, rows, baseline;
  std::size_t conformance_problems = 0;
  std::string baseline_reason;  // why there is none
};

struct Verdict {
  Outcome outcome = Outcome::undecided;
  std::string gate;  // that refused it: build, load, correctness, time, bound, containment, ...
  Status status = Status::ok;
  std::string reason;
  std::string problem;  // on which; "" before any was run
  bool is_interrupted = false;
  std::vector<KernelPoint> points;  // of the asked problems, scored
  std::vector<KernelPoint> baseline;
};

// Any wrong answer refuses it; a time that cannot be true where half of the rounds have one.
Verdict verdict_of(const Judged& judged, const tune::ReportingMachine& machine);

// 0 accepted; 2 it does not build; 3 its times are not true; 4 no verdict: it crashed, hung, took
// all memory, or the machine was too busy; 6 wrong answers.
ExitCode exit_code_of(const Verdict& verdict);

}  // namespace halmark::judge
