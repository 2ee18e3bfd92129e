// Words of closed sets that options take and results print: phases, schedules, algorithms, classes.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term choice_entries[] = {
    {"prefill", "",
     "Phase: the prompt's tokens are processed at once, which ends with the first token.", "",
     "model, tune, simulate, trace"},
    {"decode", "", "Phase: each sequence in flight gets one token a step (more with drafted ones).",
     "", "model, tune, simulate, trace"},
    {"training", "", "Phase: forward and backward pass of a batch, and the optimizer's step.", "",
     "model, simulate, trace"},
    {"mixed", "", "Of a step of a trace: prompts and single tokens in one batch.", "", "trace"},
    {"none", "",
     "Nothing of the kind: no recomputation, no optimizer, no source of times, no limit.", "",
     "model, simulate"},
    {"selective", "alternate|full",
     "Which activations the backward pass computes a second time: those of attention alone, "
     "every second layer's, or all (--recompute).",
     "", "model, simulate"},
    {"sgd", "momentum|adam|adam8bit",
     "Optimizer (--optimizer): it decides the states that a rank stores per parameter: none, "
     "one, two in f32, or two in 8 bits.",
     "", "model, simulate"},
    {"in-place", "plain",
     "How the loss is computed (--loss): over the memory of the logits, or beside it.", "",
     "model"},
    {"as_stated", "weights_only",
     "Packed weights: as the configuration states them; weights_only: 4-bit integers in groups "
     "of 128, activations in 16 bits (w4a16).",
     "", "model, tune"},
    {"mxfp4", "nvfp4",
     "Packed 4-bit floats: in blocks of 32 with a power of two (mxfp4), or of 16 with an 8-bit "
     "float and one scale for the tensor (nvfp4).",
     "", "model, tune"},
    {"awq", "gptq",
     "Packed 4-bit integers with a scale and a zero point per group, found by activations (AWQ) "
     "or column by column (GPTQ).",
     "", "model, tune"},
    {"1f1b", "zero-bubble|interleaved",
     "Pipeline schedules (--schedule): one forward, one backward; zero-bubble splits the "
     "backward pass to fill waiting slots; interleaved gives each stage several parts of the "
     "model.",
     "", "simulate training"},
    {"forward", "", "Pipeline schedule of a step without a backward pass.", "", "simulate"},
    {"shared", "",
     "Of serving: prefill and decode run on shares of the same device; aggregated mixes them in "
     "one step, disaggregated gives them devices of their own.",
     "", "simulate serving"},
    {"ring", "tree|halving_doubling|one_shot|two_shot|in_switch|hierarchical",
     "Algorithms of a collective: neighbours in a ring; a tree; halving and doubling distances; "
     "every rank reads all others at once, or reduces a part and gathers; the switch reduces; "
     "one algorithm per level of the fabric.",
     "", "fabric collectives, simulate"},
    {"hash", "least_loaded|spray",
     "How flows choose among equal uplinks (ecmp of a fabric): by a hash, the one with the "
     "fewest bytes, or packet by packet over all.",
     "", "fabric, simulate"},
    {"boot", "discover|probe|compile",
     "One-time events before a simulated step: start, search for devices, probes, compilation, "
     "and weights into memory.",
     "", "simulate"},
    {"dispatch", "emit|plan|rebalance|evict",
     "Events of a simulated step or server beside its kernels: work is handed to a device, "
     "tokens leave, a batch is formed, experts or blocks are assigned again, blocks are freed.",
     "", "simulate"},
    {"collective", "p2p",
     "An exchange among all ranks of a group (all_reduce, all_gather, ...); p2p: from one rank "
     "to one other.",
     "", "fabric collectives, simulate"},
    {"matmul", "attention|experts|rotary|routing|activation|normalization|quantization",
     "Classes of operators: matrix products, attention, expert networks, position rotation, "
     "choice of experts, activation functions, norms, conversion to fewer bits.",
     "", "trace, model"},
    {"elementwise", "lookup|movement|creation|cache_store|communication|free|annotation",
     "Classes of operators without a matrix product: element by element, table look-ups, "
     "copies, new tensors, keys and values into the cache, exchanges, views without work, "
     "marks without "
     "work.",
     "", "trace"},
    {"unknown", "",
     "Not stated by anyone: a class, bound, phase or verdict for which nothing was found.", "",
     "trace, bench, model"},
    {"mismatch", "missing in trace|not in model",
     "Of a compared row: the trace and the model state different sizes, or one side has no such "
     "operator.",
     "", "trace"},
    {"host_clock", "device_event",
     "What timed an execution: the clock of the host around it, or events of the device's "
     "queue.",
     "", "bench, devices"},
    {"processes", "repetitions|runs",
     "The independent values of a comparison: medians of processes, of whole runs, of intervals "
     "of one process, or repetitions within a process.",
     "", "compare"},
    {"peak_paths", "clock|copy|slices",
     "Probes of a machine: peaks by instruction set, frequency of a core, copied bytes, and "
     "parts of a device.",
     "", "peaks"},
    {"first", "second", "Of two devices: the one that is ahead, by its place in the command.", "",
     "compare-devices"},
};

}  // namespace

std::span<const Term> choice_terms() { return choice_entries; }

}  // namespace halmark::report
