// Headings of tables of runs, comparisons and checks.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term table_entries[] = {
    {"a minute", "", "Units of work that a fleet finished within the last minute.", "", "fleet"},
    {"agent", "node|pid|doing",
     "A process that measures on its machine what a fleet's database asks for, where it runs, "
     "and the case at hand.",
     "", "fleet"},
    {"class", "",
     "Hardware class: what two machines share whose figures compare; a unit of work is of one.", "",
     "fleet"},
    {"done", "leased", "Units of work whose rows are stored; leased: that agents have at hand.", "",
     "fleet"},
    {"lost", "",
     "Leases that another agent took because this one was silent for too long; nothing of them "
     "was stored. Of a digest, LOST: a series without a sound row tonight, or without any on a "
     "night when it was due.",
     "", "fleet, history"},
    {"NEW", "", "Of a digest: a series that no earlier night has.", "", "history"},
    {"version", "", "What a plugin says that it is of: its own version.", "", "fleet"},
    {"state", "",
     "What an agent does: idle, measuring, left, refused when it was turned away, or silent "
     "when "
     "it was not heard for three leases.",
     "", "fleet"},
    {"#", "n|number", "Position in the list, or how many values a line is of.", "",
     "report, simulate"},
    {"a unit keeps up", "", "Requests per second that one unit serves within the limits.", "",
     "plan-mix"},
    {"agree", "",
     "Whether two measurements of the same kernel lie within the noise floor of the machine.", "",
     "aa"},
    {"allocated", "", "Bytes that a worker really had, beside those of the model.", "", "report"},
    {"began", "", "When a run was started, in UTC.", "", "history"},
    {"best of all", "of the best", "A backend's speed against the fastest backend.",
     "fastest time / time", "tune"},
    {"calls", "", "Executions that a figure is of.", "", "deploy-check"},
    {"change", "", "How much slower (+) or faster (-) the new build is.", "new / old - 1",
     "compare, history, bisect"},
    {"check", "verdict|what|why|meaning|default",
     "What was looked at, what was found, and what it means or what to do.", "",
     "doctor, trace, ops"},
    {"command", "", "The command line that made the run.", "", "history"},
    {"compute", "", "The part of a step's time in which a device computes.", "", "simulate"},
    {"configurations", "", "Points of the space with a figure.", "", "history"},
    {"ahead", "TIE|open",
     "Of two devices the one that takes less time; TIE: the interval of their ratio holds 1, or "
     "the difference is below the floor; open: intervals do not say.",
     "", "compare-devices"},
    {"cost", "USD/h|USD/M tokens|USD/M",
     "Money: of a job, of a unit per hour, or of a million tokens.", "",
     "plan-mix, rank-qpu, compare-devices"},
    {"deviation", "", "Spread of repeated measurements around their mean.", "", "deploy-check"},
    {"engine", "engine / predicted",
     "A serving engine (vLLM, SGLang, TensorRT-LLM, llama.cpp), and what it took against the "
     "prediction.",
     "engine time / predicted time", "deploy-check, simulate serving"},
    {"here", "", "The same kernel on this device, beside the recorded one.", "", "trace"},
    {"fingerprint", "",
     "What makes a machine's figures comparable: its CPUs, memory and libraries as one digest.", "",
     "report, history"},
    {"front", "pareto|Pareto front",
     "Configurations than which no other is better in every objective.", "", "tune, report"},
    {"goodput", "",
     "Requests per second that are answered within every SLO (TTFT, TPOT, latency) that was "
     "asked for; slower ones do not count.",
     "requests within all SLOs / time", "simulate serving"},
    {"knee", "", "The point of a front that is nearest to the best of every objective at once.", "",
     "tune, export"},
    {"fits", "", "Whether every shard's share lies within the memory of its device.", "",
     "simulate"},
    {"FLOP/s", "",
     "Floating-point operations per second; a multiplication and an addition are two.",
     "FLOPs / time", "bench, report"},
    {"FLOP/J", "FLOP/USD",
     "FLOPs for a joule, metered or at the stated power, and for a dollar at the stated price an "
     "hour.",
     "FLOP/s / power, FLOP/s x 3600 / price", "board"},
    {"bytes/s", "", "Bytes per second that the contract of the op counts, whatever caches do.",
     "bytes / time", "bench, report"},
    {"implementation", "name", "What the plugin dispatched, in its own words.", "",
     "bench, report, winners, devices"},
    {"library", "", "Whose code an implementation is, and its version.", "", "devices"},
    {"fitted", "fitted from|held out|measuring all|of steps",
     "Of an onboarded device: kernels that its forecasts rest on, those that they may be chosen "
     "from, and those kept back to judge them; how long measuring all takes, and which part of the "
     "steps of known models they are at least.",
     "", "onboard"},
    {"in the run", "beside the run",
     "Time of a kernel inside the executed stack, and alone beside it in the same state of the "
     "machine.",
     "", "run, report"},
    {"inside", "scaled",
     "Whether the run lies in the printed interval, or how many kernels do; scaled: after a change "
     "of the machine's "
     "state was taken out.",
     "", "tune, report"},
    {"its kernels", "", "Sum of a configuration's kernels, measured beside its run.", "", "report"},
    {"kernel", "kernels|variant", "One implementation of an op, with its parameters.", "",
     "bench, winners, report"},
    {"least", "", "The smallest of the repeated times.", "", "deploy-check"},
    {"mean", "p50|p90|p99|quantile",
     "Mean and quantiles over requests: p99 is the time that 99 % of them stay within.", "",
     "simulate serving"},
    {"median", "", "The middle value over samples and processes.", "", "bench, winners, peaks"},
    {"model", "", "The figure of the model, or the model's name.", "", "report, import"},
    {"nightly", "",
     "A sweep that is run every night: halmark tune SWEEP --db nights.db, then halmark history "
     "--db nights.db says what changed (exit 3: something became slower; from the sixth night "
     "on). configs/nightly has the timer and the CI workflow; a change is gated by halmark "
     "compare OLD NEW.",
     "", "history, compare"},
    {"objectives", "", "What a search minimises or maximises.", "", "study"},
    {"old", "new|ratio|interval (95 %)",
     "Time of a kernel with the old and the new build, measured interleaved; their ratio with "
     "the "
     "range that it lies in with 95 % confidence.",
     "new / old", "compare"},
    {"P(SLO)", "P(SLO met)",
     "The probability that every level is kept, by the intervals of a forecast or of measured "
     "times; of the levels the one that is least sure decides.",
     "", "tune, simulate serving"},
    {"SLO", "SLOs|service level",
     "A limit that a request has to keep: --ttft, --tpot, or a level of a sweep; P(SLO) is the "
     "probability that all are kept.",
     "", "tune, plan-size, plan-mix, simulate serving"},
    {"point", "points",
     "One configuration by its number on a stored front; * marks the choice, halmark export "
     "--point N writes what an engine starts from.",
     "", "tune, export"},
    {"time 2/1", "",
     "Time of the second device over that of the first, the geometric mean of the kernels of a "
     "row: below 1 the second is faster.",
     "", "compare-devices"},
    {"wins 1:2", "",
     "Kernels of a row in which the first device is ahead, and in which the second is.", "",
     "compare-devices"},
    {"both", "", "Kernels of a row that both devices have a time of.", "", "compare-devices"},
    {"shapes", "", "Kernels of like shapes, which are bound alike: m 1, m 2-16, m > 256.", "",
     "compare-devices"},
    {"and alike", "",
     "Points within 1 % of this one, or within its interval: nothing tells them apart.", "",
     "export"},
    {"forecast", "expected",
     "A time interpolated between kernels that others measured on a known device under an "
     "engine, with a 90 % interval; no measurement of this machine.",
     "", "model, tune, simulate, plan-size, serve"},
    {"provisional", "",
     "Of a peak: seen on one occasion alone; a second one, ten minutes later or more, settles "
     "it.",
     "", "peaks, devices"},
    {"basis", "",
     "What a front rests on: trustworthy, or what speaks against believing it, or where its "
     "times are from if nothing was measured. Of a plan: what its measuring time is estimated "
     "from.",
     "", "tune, report"},
    {"baseline", "T_base",
     "The kernel that another is measured against, interleaved with it (--baseline "
     "BACKEND[:KERNEL]).",
     "", "bench, judge"},
    {"S", "SOL score|score|T_sol",
     "SOL-ExecBench's score of a kernel: 0.5 as fast as the baseline, 1 at the bound T_sol of "
     "the device.",
     "1 / (1 + (T - T_sol) / (T_base - T_sol))", "judge, bench"},
    {"absent", "", "Of a backend: its library or driver is not on this machine.", "",
     "devices, doctor"},
    {"pairs", "unsteady|apart",
     "Interleaved measurements that a comparison is made of; unsteady: they were not all in one "
     "state of the machine; apart: pairs whose two sides were not.",
     "", "compare, aa, report, bisect"},
    {"per s", "", "Requests that arrive or are served per second.", "", "plan-mix"},
    {"revision", "date|title|first changed commit",
     "A commit between the good and the bad one, along first parents; the first changed commit "
     "is the one from which on the figure differs, or one of those beside it that cannot be "
     "measured.",
     "", "bisect"},
    {"probability", "",
     "That a revision is the first changed commit, after all pairs: a bisection by Bayes' rule "
     "with the size of the change and the variance of a pair unknown.",
     "posterior over the revisions and no change, which has one half before the first pair",
     "bisect"},
    {"series", "now|nights|where or why",
     "One kernel, problem, device and mode over all nights; now: its time tonight; nights: how "
     "many have sound rows; where or why: the run of a change, or what hides one.",
     "", "history, compare"},
    {"predicted", "printed", "The time that was printed before the run.", "",
     "deploy-check, report"},
    {"reason", "", "Why a row has no figure, or one that is not to be relied on.", "",
     "tune, report, bench"},
    {"rounds", "", "Independent processes that a figure rests on.", "", "bench, report"},
    {"rows", "", "Stored results of a run, whatever became of them.", "", "history"},
    {"run", "", "Time of the whole stack, executed; or the number of a run in the database.", "",
     "run, report, history"},
    {"setting", "", "What holds for every command, with its value and who said so.", "",
     "config show"},
    {"share", "",
     "A part in percent: of a step's time or FLOPs for an operator, of a machine's peak for a "
     "kernel, of the load for a device type.",
     "part / whole", "model, trace, plan-mix, report"},
    {"spread", "", "Range of repeated measurements.", "", "import"},
    {"status", "", "What became of the row; halmark explain lists the statuses.", "",
     "bench, run, tune, report"},
    {"study", "", "A search with its space, stored so that Optuna can open it.", "", "study"},
    {"trials", "trial",
     "Points of a study that were proposed: each has a state (waiting, running, complete, "
     "pruned, failed) and, once complete, its values.",
     "", "study, tune"},
    {"sweep", "", "The name of what was searched, as its TOML file has it.", "", "tune, report"},
    {"tied", "", "Variants that cannot be told apart from the fastest.", "", "winners"},
    {"time", "", "Median time of one execution, or of all of a step.", "", "bench, report"},
    {"unit", "value", "What a figure is in, or a device group that a mix is made of.", "",
     "plan-size, plan-mix"},
    {"of", "", "What the figure to the left is a part of or was measured on.", "",
     "deploy-check, import"},
    {"why they differ", "", "The known reasons for which allocated and modelled bytes differ.", "",
     "report"},
    {"winner", "", "The fastest variant of a kernel, stored for later runs.", "", "winners"},
};

}  // namespace

std::span<const Term> table_terms() { return table_entries; }

}  // namespace halmark::report
