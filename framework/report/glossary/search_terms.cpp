// Samplers, rules to stop, modes of caches, strategies of shards, and where times come from.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term search_entries[] = {
    {"aborted", "", "Why sampling stopped: an execution failed.", "", "bench, tune"},
    {"aggregated", "", "Of serving: the same devices do prefill and decode.", "", "tune, simulate"},
    {"anneal", "", "Sampler: simulated annealing, for rugged single objectives.", "",
     "tune, study"},
    {"auto", "",
     "Sampler chosen by the size of the space and the budget; as a rule to stop, the first of "
     "ci_width, noise_settled and budget.",
     "", "tune, study, bench"},
    {"budget", "", "Why sampling stopped: its time per case and process was over.", "",
     "bench, tune"},
    {"certify", "",
     "Sampler that proves its front: bounds leave out what cannot be better, and the proof can "
     "be checked.",
     "", "tune"},
    {"ci_width", "", "Why sampling stopped: the interval of the median was narrow enough.", "",
     "bench, tune"},
    {"context", "",
     "Strategy: tokens of one sequence on several ranks (cp); as a figure, the keys that the "
     "last query sees.",
     "", "model, simulate, tune"},
    {"count", "",
     "Why sampling stopped: the number of samples that was asked for; in tables, how often "
     "something occurs.",
     "", "bench, model"},
    {"data", "", "Strategy: sequences of the batch on several replicas (dp).", "",
     "model, simulate, tune"},
    {"deadline", "", "Why sampling stopped: the wall cap of the case.", "", "bench, tune"},
    {"disaggregated", "",
     "Of serving: prefill and decode on devices of their own, with the cache sent between them.",
     "", "tune, simulate"},
    {"expert", "", "Strategy: experts of a mixture on several ranks (ep).", "",
     "model, simulate, tune"},
    {"fabric", "",
     "A time over the links of a topology, from latency and bandwidth of each; as a file, the "
     "topology.",
     "", "tune, fabric"},
    {"flush", "flushed", "Cache mode: caches are emptied before every sample.", "", "bench"},
    {"foreign_trials", "", "Finished trials of a study that others added while it was served.", "",
     "study serve"},
    {"gp", "", "Sampler: Gaussian processes and expected improvement, for few, expensive trials.",
     "", "tune, study"},
    {"grid", "", "Sampler: every valid point once, evenly spread when cut off.", "", "tune, study"},
    {"hot", "", "Cache mode: the same operands again and again, as warm as they get.", "", "bench"},
    {"imported", "", "A time from a table that another tool measured.", "", "tune, simulate"},
    {"in_stack", "",
     "Cache mode: the kernel in a layer stack, with the kernels before and after it.", "",
     "run, tune"},
    {"interpolated", "", "A time between measured points of the same op, never far from them.", "",
     "tune"},
    {"isa", "",
     "The instruction set that a kernel was dispatched to: amx, avx512, avx2, scalar, or the "
     "architecture of a device.",
     "", "bench, devices, report"},
    {"journal", "", "A time from rows of a results database.", "", "tune"},
    {"max_samples", "", "Why sampling stopped: no more samples are kept of one process.", "",
     "bench, tune"},
    {"measured", "measured_ms|engine measured",
     "A time that was measured on this machine in this run.", "", "tune, report, deploy-check"},
    {"mode", "",
     "How operands lie in caches while a kernel is measured: hot, rotate_const, rotate_all, "
     "flush or in_stack.",
     "", "bench, report"},
    {"nlopt", "", "Sampler: continuous relaxation of the ordered parameters, by NLopt.", "",
     "tune, study"},
    {"noise_settled", "", "Why sampling stopped: further samples no longer change the spread.", "",
     "bench, tune"},
    {"nsga2", "", "Sampler: evolution by rank and crowding, for many cheap trials.", "",
     "tune, study"},
    {"nsga3", "", "Sampler: evolution by reference directions, for four objectives and more.", "",
     "tune, study"},
    {"parts", "",
     "Into how many parts the CPU is cut; a part is one shard, with processors and memory of "
     "its own.",
     "", "bench"},
    {"pilot", "",
     "Why sampling stopped: only a few executions were asked for, to see how long one takes.", "",
     "bench, tune"},
    {"pipeline", "", "Strategy: layers on several stages, one after another (pp).", "",
     "model, simulate, tune"},
    {"pls", "", "Sampler: local search around the front, for polishing.", "", "tune, study"},
    {"random", "", "Sampler: uniform over the valid points, without replacement.", "",
     "tune, study"},
    {"regret", "regret|expected loss|expected to be lost",
     "The share of a front's hypervolume that reporting only what was measured is expected to "
     "lose; a sweep's key of that name ends measuring when no front is expected to lose more.",
     "mean over joint draws of 1 - hypervolume of the reported front / of the best one, from a "
     "tenth of its extent beyond its worst values",
     "tune"},
    {"replicate", "", "Strategy: every rank of the group holds and computes the whole tensor.", "",
     "simulate, tune"},
    {"ring plateau", "ring_plateau_bytes",
     "The working set from which operands in rotation are read from memory and no longer from "
     "a cache.",
     "", "bench, peaks"},
    {"rotate_all", "",
     "Cache mode: weights and activations in rotation over several sets, so that none is warm.", "",
     "bench"},
    {"rotate_const", "",
     "Cache mode: weights in rotation, activations the same, as in a step of a model.", "",
     "bench, tune"},
    {"sampler", "",
     "What proposes the next point of a search and learns from the values; halmark tune --help "
     "lists them.",
     "", "tune, study"},
    {"sequence", "", "Strategy: tokens between tensor-parallel products on several ranks.", "",
     "simulate"},
    {"sets", "", "How many copies of the operands a rotating cache mode goes through.", "",
     "bench"},
    {"sobol", "", "Sampler: quasi-random points that fill wide spaces evenly.", "", "tune, study"},
    {"tensor", "",
     "Strategy: heads, columns or rows of one product on several ranks (tp); in tables, a "
     "weight or a state of the model.",
     "", "model, simulate, tune"},
    {"tensor_column", "",
     "Strategy of a tensor: its output columns or heads on several ranks; no exchange before "
     "it.",
     "", "simulate"},
    {"tensor_row", "",
     "Strategy of a tensor: its input rows on several ranks; the sums are exchanged behind it.", "",
     "simulate"},
    {"tpe", "", "Sampler: Parzen estimators of good, rest and failures, for mixed spaces.", "",
     "tune, study"},
    {"transferred", "", "A time of another device, scaled by what bounds the kernel on both.", "",
     "tune"},
    {"vocab", "", "Strategy of a tensor: rows of the vocabulary on several ranks.", "", "simulate"},
    {"what would change this choice", "what would change this choice",
     "The nearest rival of the front's best point by the first objective: how far behind it is, "
     "with which probability it is better, and how long measuring would take to decide it, when "
     "the difference is to be two of its deviations.",
     "", "tune, report"},
    {"zero1", "", "Strategy of training: states of the optimizer on several replicas.", "",
     "simulate, model"},
    {"zero2", "", "Strategy of training: states and gradients on several replicas.", "",
     "simulate, model"},
    {"zero3", "", "Strategy of training: states, gradients and weights on several replicas.", "",
     "simulate, model"},
};

}  // namespace

std::span<const Term> search_terms() { return search_entries; }

}  // namespace halmark::report
