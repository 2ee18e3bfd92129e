// Headings of tables of devices, links, memories and QPUs.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term machine_entries[] = {
    {"access", "",
     "How a bandwidth was probed: read (one stream), copy (read and write) or slices (each "
     "thread its own).",
     "", "peaks, devices"},
    {"all together", "alone|set by|floor of one device",
     "The best time of one device by each of its ceilings alone, and with all of them at once; "
     "set by names the ceiling that decides.",
     "", "plan-size"},
    {"backend", "plugin",
     "The plugin that runs kernels: cpu, cuda, opencl, openvino, qpu or one of your own.", "",
     "devices, bench, winners"},
    {"bandwidth", "bandwidth, one way|read|write|one flow|per rank|memory bandwidth",
     "Bytes per second: of a memory, or one way over a link; of one flow, or what each rank "
     "gets when all send.",
     "", "devices, fabric, peaks"},
    {"bits", "", "Qubits that a result is read from, or classical bits of a circuit.", "",
     "rank-qpu"},
    {"as measured systems behave, us", "90 % within, us",
     "Time of a collective by curves through NCCL tables of systems with such links, and their "
     "90 % interval; us alone is the bound of the links.",
     "", "fabric collectives"},
    {"bound/time", "", "How near a collective comes to what its links allow.",
     "bound / time of the fastest algorithm", "fabric collectives"},
    {"busbw", "busbw GB/s|algbw",
     "Bandwidth of a collective as nccl-tests define it: algbw is bytes / time, busbw that "
     "times "
     "a factor per collective, so that it compares with a link's.",
     "algbw x 2 (n - 1) / n of an all_reduce", "bench, fabric collectives"},
    {"by", "", "The algorithm that is fastest at this size: ring, tree, one_shot and others.", "",
     "fabric collectives"},
    {"confidence", "low|medium|high",
     "How well a stated figure is known: high (measured or of the maker), medium, low "
     "(derived).",
     "", "devices"},
    {"device", "devices|id|aliases",
     "A processor by its id: one of configs/devices, or of this machine as backend:number; "
     "cpu:0@2 is cpu:0 on each of two nodes, whose ranks exchange over the network.",
     "", "every command"},
    {"fidelity", "",
     "Probability that a circuit runs without an error, from the errors that the maker states.",
     "product of (1 - error) over gates and readouts", "rank-qpu"},
    {"groups", "of each",
     "Ranks that a level of a fabric joins, and how many such groups there are.", "", "fabric"},
    {"hops", "", "Links on the way between two ranks.", "", "fabric"},
    {"kind", "", "cpu, gpu, npu or the like; of a key, what its value is.", "", "devices"},
    {"latency", "latency, one way",
     "Of a step or request, its time; of a link, the time of an empty message one way.", "",
     "fabric, tune, report"},
    {"level", "levels",
     "A step of the hierarchy: l1 to memory of a device; NUMA domain, node, rack of a fabric.", "",
     "devices, fabric"},
    {"link", "links|link, one way",
     "What joins two devices: its name, and what it carries one way.", "", "devices, fabric"},
    {"link domain", "",
     "The devices that a fast link joins: those of a node, or of an NVLink rack; beyond it a "
     "network does.",
     "", "tune, fabric"},
    {"lacks", "classes",
     "What other records of a board have and this one has not: ops and types, sizes, steps, a "
     "meter or a stated power, a price; classes counts those that it has.",
     "", "board"},
    {"machine", "",
     "The device of a record, with its rank by the share of its own peaks that it reaches.", "",
     "board"},
    {"memory", "size|capacity|rank mem",
     "Bytes of a device or tier; of a configuration, the bytes of the shard that needs most.", "",
     "devices, fabric, tune, report"},
    {"narrowest", "", "The link of the level that limits it.", "", "fabric"},
    {"occasions", "", "Separate runs of halmark peaks that a ceiling was seen in.", "", "peaks"},
    {"over-subscription", "",
     "How many times more the links below a switch carry than those above it.",
     "bandwidth below / bandwidth above", "fabric"},
    {"path", "",
     "The instruction path of a peak or a kernel (dense_bf16_amx and the like); in a column of "
     "percent, utilisation against its peak.",
     "", "devices, bench, report"},
    {"peak", "peaks", "The most FLOP/s that was measured or stated for a path and a type.", "",
     "peaks, devices, report"},
    {"power", "", "Watt that a device takes at most, or while it was measured.", "", "devices"},
    {"problem", "problem on device, mode|place",
     "Op and sizes of a kernel, with the device, the parts and the cache mode that it was "
     "measured in.",
     "", "bench, report, winners"},
    {"q90", "", "The 90 % quantile of a peak over its probes: what most of them reach.", "",
     "report"},
    {"QPU", "", "A quantum processor of configs/qpus.", "", "rank-qpu"},
    {"source", "", "Where a stated figure is from.", "", "devices, fabric, models"},
    {"switches", "", "Switches of a fabric.", "", "fabric"},
    {"threads", "", "Threads that a ceiling was measured with; all = every core of the device.", "",
     "peaks, report"},
    {"time per shot", "", "Time of one execution of a circuit with reset and readout.", "",
     "rank-qpu"},
    {"tokens per joule", "J/token",
     "Energy: tokens that one joule of the devices generates; J/token is the inverse.",
     "tokens / joules", "tune, plan-size"},
    {"transport", "",
     "How a link carries data: nvlink, pcie, ib, roce, tcp and the like; each has a least "
     "latency.",
     "", "fabric"},
    {"working set", "",
     "Bytes that a probe goes through: what fits into a cache measures that cache.", "",
     "peaks, report"},
};

}  // namespace

std::span<const Term> machine_terms() { return machine_entries; }

}  // namespace halmark::report
