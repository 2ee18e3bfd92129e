// Signals of the validity gate, as reasons name them and as rows store them, and why figures are
// refused.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term gate_entries[] = {
    {"bandwidth moved by", "",
     "Relative difference of the probed memory bandwidth before and after the samples; judged "
     "for kernels that the memory bounds.",
     "|before - after| / max(before, after)", "bench, run, tune, report"},
    {"clean_share", "", "The part of the labelled samples that nothing disturbed.",
     "clean samples / labelled samples", "bench, run, tune, report"},
    {"clock moved by", "",
     "Relative difference of the probed core clock before and after the samples.",
     "|before - after| / max(before, after)", "bench, run, tune, report"},
    {"cpus_used", "",
     "CPU time of all threads of the worker over wall time, at least: less a tick of the "
     "kernel per further CPU. More than were given to it is a sign of tampering.",
     "CPU time / wall time", "bench, run, tune, report"},
    {"device clock moved by", "",
     "Relative difference of the core clock that the device states, before and after the "
     "samples.",
     "|before - after| / max(before, after)", "bench, run, tune, report"},
    {"device_slowed_down", "",
     "The device said that heat or its own hardware slowed it down while it was measured.", "",
     "bench, run, tune, report"},
    {"disturbed samples", "share of disturbed samples",
     "The part of all labelled samples in which the counters show that others had the "
     "processor; these are set aside.",
     "disturbed samples / labelled samples", "bench, run, tune, report"},
    {"impossible time", "",
     "Refused because no device can be so fast: below the bound of its peaks, below the launch "
     "cost, or refuted by another clock.",
     "", "bench, run, tune, report"},
    {"involuntary switches", "involuntary switches per second|involuntary_switches_per_s",
     "How often per second the system took the processor away from the worker while it had "
     "work.",
     "", "bench, run, tune, report"},
    {"load per CPU", "load_per_cpu",
     "One-minute load average over online CPUs. Shown, not judged: what it does to a sample, "
     "the counters say.",
     "", "bench, run, tune, report"},
    {"loop wall/CPU time", "wall/CPU time of the loop|wall_cpu_ratio",
     "Wall time over CPU time of the sampling thread over all clean chunks; above 1 it did not "
     "have the processor all the time.",
     "wall / CPU", "bench, run, tune, report"},
    {"median wall/CPU time", "", "Median over samples of wall time over CPU time of the worker.",
     "median of wall / CPU", "bench, run, tune, report"},
    {"peak moved by", "",
     "Relative difference of the probed peak FLOP/s before and after the samples.",
     "|before - after| / max(before, after)", "bench, run, tune, report"},
    {"remembered answers", "",
     "Refused because new inputs take much longer than the same ones again, or than none: the "
     "kernel keeps its results.",
     "new inputs / same inputs", "bench, run, tune, report"},
    {"run-queue delay", "run_delay_fraction",
     "The part of the time in which threads of the worker were ready and waited for a "
     "processor.",
     "waiting time / wall time", "bench, run, tune, report"},
    {"skipped repeats", "",
     "Refused because twice the repeats do not take twice the time: executions are left out.", "",
     "bench, run, tune, report"},
    {"slope", "slope_disagreement",
     "Time per further execution, from samples of several lengths; the device's own timer must "
     "agree with the host's.",
     "", "bench, run, tune"},
    {"start_skew_ns", "",
     "Of ranks on several nodes: no two of them began a sample further apart than this, by the "
     "parent's clock, in 95 % of the samples. Over the repeat it widens the row's interval.",
     "last answer to a start - first message that let a rank go", "bench"},
    {"steal", "steal_fraction",
     "The part of all CPU time that the hypervisor gave to other guests.",
     "stolen ticks / all ticks", "bench, run, tune, report"},
    {"throttled periods", "periods in which the cgroup was throttled|throttled_periods",
     "Periods in which a CPU quota of the cgroup stopped the worker.", "",
     "bench, run, tune, report"},
    {"timer disagreement", "",
     "Quarantined because the device's own timer and the wall clock disagree about one further "
     "execution.",
     "", "bench, run, tune, report"},
    {"unread outputs", "",
     "Refused or suspect because the first read of an output takes longer than the second: "
     "work is done when it is read.",
     "", "bench, run, tune, report"},
    {"unsynchronised samples", "samples that did not overlap",
     "Samples of shards measured at once that did not run beside those of the others; they are "
     "dropped.",
     "dropped / all samples", "bench, run, tune, report"},
    {"wall cap", "",
     "The limit of wall time of one case and process ended sampling before its interval was "
     "tight.",
     "", "bench, tune"},
};

}  // namespace

std::span<const Term> gate_terms() { return gate_entries; }

}  // namespace halmark::report
