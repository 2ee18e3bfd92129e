// Headings of tables of models, steps, traces and simulations.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term model_entries[] = {
    {"a shard", "of a shard", "What one shard holds of a tensor, in bytes or as its shape.", "",
     "simulate"},
    {"a step", "", "Bytes that are exchanged for the tensor in one step.", "", "simulate"},
    {"acceptance", "acceptance rate",
     "The probability that a drafted token is accepted when those before it were "
     "(--acceptance). "
     "Engines report another figure of the same drafts, accepted over drafted tokens, which is "
     "lower: what stands behind a rejected token was drafted too.",
     "a; accepted over drafted = (a + a^2 + ... + a^N) / N with N drafted", "model"},
    {"active parameters", "active B",
     "Parameters that one token uses, in 1e9: of a mixture, its chosen experts and what all "
     "tokens share.",
     "", "models"},
    {"architecture", "", "The class that the model's config names, as libraries know it.", "",
     "models"},
    {"assumption", "",
     "A figure that nothing states, with its value and where it is from; options of the "
     "command change it.",
     "", "plan-size"},
    {"batch", "", "Sequences in flight over the whole deployment.", "", "model, tune, import"},
    {"blocks at most", "", "The most KV blocks of an engine that were in use at once.", "",
     "simulate serving"},
    {"busy", "", "The part of the time in which an engine executed steps.",
     "busy time / whole time", "simulate serving"},
    {"closed form", "",
     "The same figure by queueing theory, where it has one, beside the simulated one.", "",
     "simulate serving"},
    {"recomputed", "", "Tokens whose cache was evicted and that were computed a second time.", "",
     "simulate serving"},
    {"concurrency", "in flight|users",
     "Requests in flight at once: each client asks again as it is answered (x16 in a name).", "",
     "tune, plan-mix, simulate serving"},
    {"configuration", "config",
     "What is chosen: batch (b), new tokens (n), context (c), precision, and data (dp), tensor "
     "(tp), pipeline (pp), expert (ep), context (cp) parallel ranks.",
     "", "tune, report"},
    {"dtype", "type|types",
     "The number format of a kernel or tensor; bf16, f8_e4m3fn, int8 and the like.", "",
     "every command"},
    {"evicted", "",
     "KV blocks that were given up for others while something could still have used them.", "",
     "simulate serving"},
    {"exchange", "",
     "What shards send each other for the tensor: all_reduce, all_gather, all_to_all and the "
     "like.",
     "", "simulate"},
    {"family", "", "The reader of model configs that made the graph.", "", "models"},
    {"gigaflop", "GFLOP|GFLOP/rank|model FLOPs|trace FLOPs",
     "Floating-point operations in 1e9; a multiplication and an addition are two. Of the whole "
     "model, of its heaviest rank, or as a trace recorded them.",
     "", "model, trace"},
    {"layer", "layers|layer type|one layer of",
     "A block of the model, or its kind where several are alike.", "", "model, simulate, trace"},
    {"layout", "",
     "How many ranks of which kind of parallelism: dp2 tp4 is two replicas of four "
     "tensor-parallel ranks.",
     "", "tune, simulate"},
    {"module", "module, operator|category|pass|stage",
     "Where in the model a kernel of a trace belongs: its module, its part of the step, its "
     "stage.",
     "", "trace"},
    {"moved bytes", "in|MiB/rank|bytes",
     "Bytes that an operator reads (in), writes (out), or moves in all.", "", "model, simulate"},
    {"operator", "operators|op|ops|operator of the model|operand|parameter|role|shape|values",
     "A product, norm or exchange of the graph, or the op of a kernel, with its operands and "
     "parameters; halmark ops lists them.",
     "", "model, bench, ops, report"},
    {"phase", "", "prefill (the prompt at once), decode (a token per sequence) or training.", "",
     "model, tune, report"},
    {"profile", "", "Which limits and checks a fabric is held to.", "", "fabric"},
    {"preempted", "",
     "How often a running request lost its KV blocks, because none were free, and was "
     "scheduled again later.",
     "", "simulate serving"},
    {"rank", "ranks", "One device of a deployment by its number.", "", "model, fabric, report"},
    {"requests", "request",
     "What a user sends: input tokens in, output tokens out; as a figure, the time from sending "
     "to the last token.",
     "TTFT + TPOT x (output tokens - 1)", "plan-mix, simulate serving"},
    {"reused", "", "KV blocks that a later request found already written (prefix caching).", "",
     "simulate serving"},
    {"shard", "shards", "One device, or the part of a CPU that was cut for it.", "",
     "tune, simulate"},
    {"simulated time", "take, simulated|last ends, simulated",
     "What a rank's kernels take, and when its last ends, in the simulated timeline, beside "
     "the executed one.",
     "", "simulate, run"},
    {"split", "", "How an operator is divided over ranks.", "", "model"},
    {"step", "steps",
     "One pass through the model: a prefill, one decoded token per sequence, or one training "
     "update.",
     "", "model, run, tune"},
    {"strategy", "",
     "How a kernel or tensor is divided: replicate, data, tensor, pipeline, expert, sequence, "
     "context, vocab or zero1-3.",
     "", "tune, simulate, report"},
    {"tokens", "", "Pieces of text as the model counts them.", "", "model, import"},
    {"tokens/s", "throughput|rate|/device|tokens/s per device",
     "Generated tokens per second of the whole deployment; /device divides by its devices.",
     "tokens of a step / time of a step", "tune, report, model"},
    {"total parameters", "total B", "All parameters of a model, in 1e9.", "", "models"},
    {"TPOT", "ITL|inter-token latency|time per later token",
     "Time per output token after the first: what a user waits between two tokens.",
     "(latency of the request - TTFT) / (output tokens - 1)", "tune, plan-mix, simulate serving"},
    {"trace", "in the trace",
     "Figures as a torch-profiler trace recorded them, beside the model's.", "", "trace"},
    {"TTFT", "time to the first token",
     "Time to the first token of a request: waiting in the queue and prefill.", "",
     "tune, plan-mix, simulate serving"},
    {"utilisation", "", "The part of a link, a unit or a rate that is used.", "used / available",
     "simulate, plan-mix"},
    {"workload", "", "A phase with its batch, new tokens and context.", "", "tune"},
    {"written", "", "KV blocks that an engine wrote.", "", "simulate serving"},
};

}  // namespace

std::span<const Term> model_terms() { return model_entries; }

}  // namespace halmark::report
