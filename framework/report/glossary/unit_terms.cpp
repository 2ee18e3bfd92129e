// Units, as they stand behind figures.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term unit_entries[] = {
    {"ms", "s|us|ns|min|h|milliseconds|ms each",
     "Time in thousandths of a second (us: millionths, ns: billionths), for all executions of a "
     "row or for each.",
     "", "every command"},
    {"GiB", "B|KiB|MiB|TiB",
     "Memory in powers of 1024, as drivers and engines report it: 1 GiB is 1,073,741,824 "
     "bytes.",
     "", "every command"},
    {"GB", "KB|MB|TB|kB", "Powers of 1000, as datasheets state capacities: 80 GB are 74.5 GiB.", "",
     "devices"},
    {"GB/s", "B/s|MB/s|TB/s", "Bandwidth, in powers of 1000 bytes per second.", "bytes / time",
     "bench, devices, fabric"},
    {"GbE", "Gbit/s", "Ethernet by its rate in gigabits per second: 25 GbE carry 3.1 GB/s.", "",
     "fabric"},
    {"GFLOP/s", "MFLOP/s|TFLOP/s|PFLOP/s|TFLOPS",
     "Billions (T: trillions) of floating-point operations per second; a multiplication and an "
     "addition are two.",
     "FLOPs / time", "bench, devices, model"},
    {"FLOP", "TFLOP", "Floating-point operations: an amount of work, no rate.", "", "model, trace"},
    {"FLOP/byte", "arithmetic intensity",
     "Operations per byte that a kernel moves; below peak / bandwidth it is bound by memory.",
     "FLOPs / bytes", "report, model"},
    {"W", "kW|mW", "Power: watts that devices draw.", "", "simulate, devices"},
    {"J", "mJ|kJ|kWh|Wh", "Energy: joules; a kilowatt-hour is 3,600,000 of them.", "power x time",
     "simulate, plan-size, tune"},
    {"g", "kg|t", "Mass of carbon dioxide that energy and manufacture stand for.",
     "energy x carbon of the grid", "simulate, plan-size"},
    {"USD", "$", "US dollars, from --price or a device file's usd_per_hour.", "",
     "plan-size, plan-mix, compare-devices"},
    {"GHz", "MHz|Hz", "Clock of a core or device, in cycles per second.", "", "devices, peaks"},
};

}  // namespace

std::span<const Term> unit_terms() { return unit_entries; }

}  // namespace halmark::report
