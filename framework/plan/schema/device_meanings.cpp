// Keys of device files.
#include "plan/schema/key_meanings.hpp"

namespace halmark {
namespace {

constexpr KeyMeaning device_meanings_list[] = {
    {"id", "how commands name it"},
    {"name", "as the maker writes it"},
    {"kind", "cpu, gpu, npu, tpu or qpu"},
    {"vendor", "the maker"},
    {"aliases", "other names that commands take"},
    {"notes", "sentences for a reader"},
    {"fingerprint", "of the machine, where `halmark peaks` wrote the file"},
    {"is_measured", "the figures were measured, not stated"},
    {"devices_in_part", "devices of what is sold as one part"},
    {"memory_bytes",
     "capacity as its driver reports it to programs, the lower end where sources disagree"},
    {"memory_bytes_high", "the upper end"},
    {"memory_type", "as HBM3"},
    {"memory_source", "where the capacity is from"},
    {"memory_confidence", "how well it is known"},
    {"ring_plateau_bytes", "working set from which rotating operands come from memory"},
    {"clock_hz", "clock that a peak follows from"},
    {"power_w", "watts at most, the lower end where sources disagree"},
    {"power_w_high", "the upper end"},
    {"power_source", "where the power is from"},
    {"power_confidence", "how well it is known"},
    {"usd_per_hour", "US dollars per hour, where comparisons shall use it"},
    {"peak", "FLOP/s of a path and type"},
    {"path", "instruction path, as dense, sparse or dense_bf16_amx"},
    {"dtype", "type of the operands"},
    {"isa", "instruction set of the path"},
    {"threads", "threads that it was measured with; 0 = all"},
    {"units", "units that multiply and add; with fma_per_cycle and clock_hz the peak follows"},
    {"fma_per_cycle", "multiply-adds of one unit and cycle"},
    {"flops_per_s", "FLOP/s, the lower end where sources disagree"},
    {"flops_per_s_q90", "90 % quantile over probes"},
    {"flops_per_s_high", "the upper end"},
    {"rate_over_16_bit", "against the rate of 16-bit types, where only that is stated"},
    {"source", "where the figure is from"},
    {"confidence", "how well it is known"},
    {"is_busy", "other work took the CPUs of the probes: it can raise a figure, and lowers none"},
    {"is_provisional", "seen on one occasion alone"},
    {"occasion", "a run of `halmark peaks`"},
    {"utc", "when, as 2026-11-22T15:04:05Z"},
    {"probes", "probes of that run"},
    {"median", "their median, in the unit of the entry"},
    {"highest", "the highest probe"},
    {"second", "the second highest"},
    {"third", "the third highest"},
    {"bandwidth", "bytes/s of a level of memory"},
    {"level", "of the hierarchy"},
    {"bytes_per_s", "bytes/s, the lower end where sources disagree; of a link one way"},
    {"working_set_bytes", "bytes that the probe went through"},
    {"bytes_per_s_high", "the upper end"},
    {"bus_bits", "width of the memory bus"},
    {"transfers_per_s", "transfers of one bit and second"},
    {"access", "how it was probed: one stream read, copied, or a slice per thread"},
    {"link", "what joins such devices"},
    {"scope", "of the link"},
    {"domain", "devices that it joins"},
    {"in_switch_reduction", "switches add on their way"},
};

}  // namespace

std::span<const KeyMeaning> device_meanings() { return device_meanings_list; }

}  // namespace halmark
