// What became of a row, a command, a trial or a check.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term status_entries[] = {
    {"cancelled", "",
     "The trial was given up before it ended: the command was interrupted, or its time was "
     "over.",
     "", "bench, run, tune, report"},
    {"certain", "",
     "On the Pareto front whatever the times are within their intervals, and however fast what "
     "was not tried may be.",
     "", "tune, report"},
    {"compile_failed", "",
     "The backend could not compile its kernel for this problem; the reason has its message.", "",
     "bench, run, tune, report"},
    {"complete", "", "A trial of a study whose values are known.", "", "study"},
    {"crashed", "",
     "The worker that ran the plugin ended by a signal or an exit of its own; a new one "
     "continued the sweep.",
     "", "bench, run, tune, report"},
    {"device_lost", "",
     "The device stopped answering while the kernel ran; nothing further was tried on it.", "",
     "bench, run, tune, report"},
    {"error", "",
     "Of a figure: how far it is from the run, as the composition error says. Of a command: "
     "something failed that is no refusal; the line says what (exit 1).",
     "", "run, tune, report; every command with --json"},
    {"FASTER", "",
     "A series takes less time than before: beyond the floor and beyond chance. SLOWER is the "
     "same the other way.",
     "", "compare, history"},
    {"failed", "FAIL",
     "Rows or trials without a usable figure because something broke; unsupported, invalid, "
     "refused and cancelled ones are not counted. Of a series, FAILED: it computed before and "
     "breaks now. Exit 3.",
     "", "history, compare, study, bench, tune"},
    {"gate_failed", "",
     "Of a command: a comparison or a judgement found what it is there to find. Exit 3.", "",
     "compare, doctor, history"},
    {"incorrect", "", "Of a command: a kernel computed something else than its reference. Exit 6.",
     "", "bench, judge"},
    {"interrupted", "",
     "Of a command: ended by Ctrl-C (130) or a request to end (143); finished rows are stored "
     "and the same command resumes.",
     "", "every command with --json"},
    {"invalid", "",
     "The validity gate does not believe the measurement: something disturbed it beyond the "
     "second limit. It is stored and shown, and in no front. Of a series, INVALID: a side of "
     "the comparison, or tonight, has no usable rows.",
     "a signal above its limit for invalid", "bench, run, tune, report, compare, history"},
    {"launch_failed", "", "The device refused to start the kernel.", "",
     "bench, run, tune, report"},
    {"missing", "",
     "Of a check: it is not there, and something cannot be done without it; the line names the "
     "command that gets it.",
     "", "doctor"},
    {"nan_result", "",
     "The kernel wrote a value that is not a number, or is infinite, where its reference has a "
     "number.",
     "", "bench, run, tune, report"},
    {"note", "", "Of a check: nothing is wrong, but something could be better.", "", "doctor"},
    {"ok", "rows ok",
     "Nothing was found against the figure; of a command, it did all that was asked (exit 0).", "",
     "every command"},
    {"out", "",
     "Of a front: beaten whatever the times are within their intervals. Of an operator: the "
     "bytes that it writes.",
     "", "tune, report, model"},
    {"out_of_memory", "",
     "The kernel, or the staging of its operands, needed more memory than the device or the "
     "limit of the worker has.",
     "", "bench, run, tune, report"},
    {"partial", "",
     "Of a command: a part of what was asked could not be done, the rest was. Exit 4.", "",
     "every command with --json"},
    {"possible", "", "Of a front: on it for some times within the intervals, beaten for others.",
     "", "tune, report"},
    {"pruned", "", "A trial of a study that its evaluator stopped early.", "", "study"},
    {"quarantined", "",
     "A figure that contradicts a bound or a clock: it is shown, and nothing is made of it.",
     "time < fastest possible time of the same work", "model, bench, run, tune, report"},
    {"RECOVERED", "",
     "Of a digest: a series that was SLOWER and is back at the level before it, or that was "
     "LOST and is measured again.",
     "", "history"},
    {"refused", "",
     "Not tried: of a command, the input was wrong (exit 2); of a row, the plugin or the host "
     "declined before running; of a check, a plugin that is not loaded, with the reason.",
     "", "every command"},
    {"running", "", "A trial of a study that a worker evaluates at this moment.", "", "study"},
    {"SAME", "", "The whole interval of what a series may have changed lies within the floor.", "",
     "compare, history"},
    {"SLOWER", "",
     "A series takes more time than before: beyond the floor and beyond chance. Exit 3.", "",
     "compare, history"},
    {"SATURATED", "",
     "Of a server: more requests arrive than it serves, so that waiting only grows while they "
     "do.",
     "requests/s offered > requests/s served", "simulate serving"},
    {"suspect", "",
     "The validity gate has a doubt: something disturbed the measurement beyond the first "
     "limit, or no peaks of the device bound its time. The figure counts, and is marked.",
     "a signal above its limit for suspect", "bench, run, tune, report"},
    {"timed_out", "",
     "The worker did not answer within the limit of its phase (--phase-limit) and was ended.", "",
     "bench, run, tune, report"},
    {"UNDECIDED", "",
     "The figures do not say whether something changed, as the reason says; more of them may.", "",
     "compare, history, run, tune, report"},
    {"trustworthy", "",
     "Of a front: every time is of a row that passed the validity gate, whole stacks of it were "
     "run undisturbed, and neither the composition error nor what was printed before is beyond "
     "its limit.",
     "composition error: median <= 5 %, worst <= 15 %; |prediction error| <= 15 %", "tune, report"},
    {"unfit", "", "Of a command: this machine cannot do it; the line says what is missing. Exit 5.",
     "", "every command with --json"},
    {"unsupported", "", "The backend has no kernel for this op, type or shape.", "",
     "bench, run, tune, report"},
    {"waiting", "",
     "A trial of a study that was enqueued and that no worker has taken. Of a series, WAITING: "
     "it has "
     "too "
     "few nights with sound rows for a verdict, or was not measured tonight.",
     "", "study, history"},
    {"worker_lost", "", "The worker ended without an answer and without a signal that explains it.",
     "", "bench, run, tune, report"},
    {"wrong_result", "",
     "The output differs from the fp64 reference by more than the tolerance of the op.",
     "|output - reference| > tolerance", "bench, run, tune, report"},
};

}  // namespace

std::span<const Term> status_terms() { return status_entries; }

}  // namespace halmark::report
