// Shares, percentages and the words around them. Meanings only: the figures themselves come from
// the rooms that compute them. Formulas are those of model/utilisation, roofline, report/run_errors
// and the validity gate.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term figure_entries[] = {
    {"bandwidth share", "of best bandwidth|memory while measuring|memory at|memory at ...",
     "The speed of the memory while a kernel was measured, against the best that was ever seen "
     "on this machine.",
     "probed bytes/s around the samples / best bytes/s of the device file",
     "bench, run, tune, report"},
    {"best bound", "best bound",
     "The least time that a configuration which was not tried can take: kernels that were "
     "measured for others at the low end of their interval, the rest at their lower bound.",
     "the step of max(FLOPs / peak, bytes / bandwidth) of each kernel that was not measured",
     "tune, report"},
    {"bottleneck", "bottleneck|bound|bound by",
     "The resource that the time waits for: compute, memory, launch or communication; with an "
     "operator's name, the one that takes most of it.",
     "the largest of compute, memory and transfer time at the device's peaks",
     "model, run, tune, report"},
    {"bubble share", "bubbles|bubble",
     "The part of all ranks' time in a pipeline that stages wait for each other.",
     "1 - busy rank time / (ranks x step time)", "run, tune, report"},
    {"composition error", "composition error|composition",
     "How far the sum of the measured kernels is from the whole stack that was run beside them "
     "in the same state of the machine.",
     "sum of kernels / run - 1, median over pairs", "run, tune, report"},
    {"datasheet mfu", "of sheet|mfu_datasheet|of datasheet",
     "MFU against the peak that the vendor prints, not the one that was measured; in a table of "
     "peaks, the measured peak itself against it.",
     "FLOPs / (datasheet FLOP/s x time)", "peaks, run, tune, report"},
    {"executed", "executed",
     "The part of the time that the products a rank really executes would take at peak: copies "
     "on several ranks, recomputation and the heaviest rank counted in.",
     "products of the busiest rank at their peaks / time", "model"},
    {"floor", "floor|floor us|floor ms|best|at best",
     "The best time to expect of a device: each operator at the peak or the bandwidth that it "
     "needs, one after the other; nothing was measured.",
     "sum over the busiest rank of max(FLOPs / peak, bytes / bandwidth, transfer / link)", "model"},
    {"flops share", "FLOPs|of FLOPs",
     "The part of a step's floating-point operations that an operator or a layer has, over the "
     "whole model.",
     "FLOPs of the row / FLOPs of the step", "model"},
    {"half-width", "half-width",
     "Half of an interval's width against its middle: how precisely a time is known.",
     "(high - low) / (high + low)", "run, tune, report, aa"},
    {"hfu", "HFU",
     "Hardware FLOPs utilisation: as MFU, with the FLOPs that are recomputed because their "
     "activations were not kept.",
     "(FLOPs of the convention + recomputed) / (devices x peak FLOP/s x time)", "model"},
    {"interval", "interval|intervals|90 % interval",
     "The range that a time lies in with 90 % confidence: of a measurement from independent "
     "processes, of a forecast from cases that its terms were not fitted on.",
     "", "bench, run, tune, report, simulate serving"},
    {"kernel mfu", "MFU of the kernels",
     "MFU of measured kernels alone, every row at the peak of its own type; without the time "
     "between layers.",
     "sum of FLOPs / peak over all rows / sum of times", "model"},
    {"mfu", "MFU|executed MFU",
     "Model FLOPs utilisation: the part of the devices' peak that a step uses for the FLOPs of "
     "the model. Which FLOPs count is the convention, printed beside it; two conventions are "
     "two quantities.",
     "FLOPs of the convention / (devices x peak FLOP/s x time)", "model, bench, run, tune, report"},
    {"noise floor", "noise floor",
     "The largest difference between two measurements of the same kernel that is noise on this "
     "machine.",
     "upper end of the relative differences over pairs of equal measurements", "aa"},
    {"of bound", "of bound",
     "How near a kernel is to the fastest time that its operation permits on this device; above "
     "100 % is impossible and quarantined.",
     "lower bound / time", "run, tune, report"},
    {"of fastest", "of fastest", "A kernel variant's speed against the fastest one's.",
     "fastest time / time", "bench"},
    {"of path", "of path",
     "Utilisation against the peak of the instruction path that the kernel was dispatched to, "
     "not of the fastest path that the device has.",
     "FLOPs / (peak FLOP/s of the path x time)", "bench, run, tune, report"},
    {"of roof", "of roof|roofline",
     "The rate against the roof of the roofline model at this arithmetic intensity; of a step, "
     "its floors against its time.",
     "rate / min(peak FLOP/s, intensity x bandwidth), or floor / time",
     "model, bench, run, tune, report"},
    {"on the front", "on the front|probability",
     "The probability that a configuration is on the Pareto front, given the doubt about its "
     "times and what was not tried: one whose best bound is better leaves at most n / (n + 1), "
     "where n configurations of its phase were tried.",
     "share of joint draws in which nothing beats it: of measured kernels their process "
     "medians, with replacement; of the others what is believed of their times, never below the "
     "bound, from measured kernels of the same op, type, size and shards",
     "tune, report"},
    {"prediction error", "prediction error|prediction",
     "How far what was printed before the run is from the run.", "printed / run - 1",
     "run, tune, report"},
    {"routing skew", "routing skew",
     "How unevenly tokens choose experts: the exponent of a power law, in percent; 0 is even.",
     "P(expert of rank r) ~ r^(-skew / 100)", "model, run, tune"},
    {"set size", "set size of the worker|set size",
     "By how much a worker's proportional set size grew, against the bytes that were staged "
     "into it.",
     "growth / staged - 1", "run, tune, report"},
    {"time share", "of time|of the step",
     "The part of a time that an operator or a layer takes. Where only the step was measured, "
     "its time is shared out by the operators' floors, and the table says so.",
     "time of the row / time of the whole", "model, trace, run, tune, report"},
    {"times from", "from|times from",
     "Where the times come from: measured, journal, imported, interpolated, fabric (what a "
     "collective costs over the links of a topology), roofline, with the part of the time that "
     "each source gave.",
     "time of the source's kernels / time of the step", "tune, report"},
    {"tolerance", "tolerance",
     "The largest relative difference between FLOPs of a trace and of the model that is still "
     "called equal.",
     "|trace - model| / model", "trace"},
};

}  // namespace

std::span<const Term> figure_terms() { return figure_entries; }

}  // namespace halmark::report
