// What is known about a device: figures measured by `halmark peaks` or carried from a datasheet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "core/fields/fields.hpp"
#include "core/measured/occasion.hpp"

namespace halmark {

// How well a figure is documented: high = printed in a cited public table; medium = one vendor
// page, or derived; low = check it again before a gate depends on it.
enum class Confidence { unstated, low, medium, high };
std::string_view confidence_name(Confidence confidence);  // "" for unstated
std::optional<Confidence> parse_confidence(std::string_view name);
template <>
inline constexpr ClosedSet<Confidence> closed_set<Confidence>{"a confidence", confidence_name,
                                                              parse_confidence};

// peak = units x FMA per cycle and unit x 2 x clock.
struct PeakRule {
  double units = 0;          // tensor cores, matrix cores or CPU cores
  double fma_per_cycle = 0;  // of one unit
  double clock_hz = 0;
  double flops_per_s() const { return units * fma_per_cycle * 2 * clock_hz; }
};
template <class V, Of<PeakRule> M>
void fields(V& v, M& m) {
  v("units", m.units);
  v("fma_per_cycle", m.fma_per_cycle);
  v("clock_hz", m.clock_hz);
}

// One peak: FLOP/s (or OP/s) of an isa path and dtype, with where the figure is from.
// `path` uses the naming of configs/devices: ABI dtype name, plus "_vector", "_matrix", "_fp16acc".
struct Peak {
  std::string path;  // e.g. "bf16_matrix"
  Dtype dtype = Dtype::f32;
  std::string isa;         // "avx512_core_amx"; "" when not applicable
  int threads = 0;         // 0 = whole device
  double flops_per_s = 0;  // the denominator of MFU
  std::optional<double> flops_per_s_q90;
  std::optional<double> flops_per_s_high;  // upper end when sources disagree
  std::string source;                      // "measured 2026-11-21", URL or document
  Confidence confidence = Confidence::unstated;
  std::optional<PeakRule> rule;            // how the figure comes about, where that is known
  bool is_derived = false;                 // flops_per_s is the rule's; nobody printed it
  std::optional<double> rate_over_16_bit;  // of an 8-bit or f16 path that is not the usual 2 or 1
  std::vector<Occasion> occasions;         // of a measured peak: flops_per_s is the best of them
  bool is_provisional = false;             // seen on one occasion, or hardly ever

  // Accumulates in f32, on the device's main engine: what a kernel may expect. Others
  // ("f16_fp16acc", "s8_dla") are asked for by path.
  bool is_general() const;
};
template <class V, Of<Peak> M>
void fields(V& v, M& m) {
  v("path", m.path);
  v("dtype", m.dtype);
  v("isa", m.isa);
  v("threads", m.threads);
  v("flops_per_s", m.flops_per_s);
  v("flops_per_s_q90", m.flops_per_s_q90);
  v("flops_per_s_high", m.flops_per_s_high);
  v.unless_default("is_derived", m.is_derived);
  v.unless_default("rule", m.rule);
  v("provisional", m.is_provisional);
  v.unless_default("occasions", m.occasions);
  v("source", m.source);
  v.unless_default("confidence", m.confidence);
}

struct Bandwidth {
  std::string level;  // "l1", "l2", "l3", "memory"
  int threads = 0;    // 0 = whole device
  double bytes_per_s = 0;
  std::int64_t working_set_bytes = 0;
  std::string access;  // "read", "copy" (both directions count) or "slices"; "" = not stated
  std::string source;
  std::optional<double> bytes_per_s_high;  // upper end when sources disagree
  Confidence confidence = Confidence::unstated;
  std::optional<double> bus_bits, transfers_per_s;  // pins and their rate
  std::vector<Occasion> occasions;  // of a measured bandwidth: bytes_per_s is the best of them
  bool is_provisional = false;
};
template <class V, Of<Bandwidth> M>
void fields(V& v, M& m) {
  v("level", m.level);
  v("threads", m.threads);
  v("bytes_per_s", m.bytes_per_s);
  v("bytes_per_s_high", m.bytes_per_s_high);
  v("working_set_bytes", m.working_set_bytes);
  v("access", m.access);
  v("provisional", m.is_provisional);
  v.unless_default("occasions", m.occasions);
  v("source", m.source);
  v.unless_default("confidence", m.confidence);
}

// To other devices of the same domain without leaving it for a network.
struct Link {
  std::string name;        // "NVLink4 18 links"
  double bytes_per_s = 0;  // one direction, all links of one device
  std::optional<double> bytes_per_s_high;
  std::optional<std::int64_t> domain_devices;  // devices that reach each other
  // The switch between them adds what passes through it (NVLink SHARP): an all-reduce then needs no
  // more of a rank's link than its message once in each direction.
  bool reduces_in_switch = false;
  std::string source;
  Confidence confidence = Confidence::unstated;
  bool operator==(const Link&) const = default;
};
template <class V, Of<Link> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("bytes_per_s", m.bytes_per_s);
  v("bytes_per_s_high", m.bytes_per_s_high);
  v("domain", m.domain_devices);
  v("in_switch_reduction", m.reduces_in_switch);
  v("source", m.source);
  v.unless_default("confidence", m.confidence);
}

struct Device {
  std::string id;  // "cpu:0" for a local one, "h100-sxm" for a known one
  std::string name;
  std::string kind;         // "cpu", "gpu", "npu", ...
  std::string fingerprint;  // of a measured device: model, flags, cores, microcode
  bool is_measured = false;
  // Of a device that was onboarded: where its file lies with its own tables; "" = it has none.
  std::string folder = {};
  std::int64_t memory_bytes = 0;
  std::vector<Peak> peaks;
  std::vector<Bandwidth> bandwidths;
  std::optional<std::int64_t> ring_plateau_bytes;  // longer rings are no colder
  std::optional<double> clock_hz;
  std::optional<double> power_w;
  std::optional<double> usd_per_hour;  // what the owner of the file pays for one device

  // Of devices known by datasheet.
  std::vector<std::string> aliases;
  std::string vendor;
  std::string memory_type;
  int devices_in_part = 1;  // dies that programs see as devices of their own; figures are of all
  std::optional<std::int64_t> memory_bytes_high;
  std::optional<double> power_w_high;
  std::string memory_source, power_source;
  Confidence memory_confidence = Confidence::unstated;
  Confidence power_confidence = Confidence::unstated;
  std::vector<Link> links;
  std::vector<std::string> notes;  // conflicts between sources, and how they were settled

  // `text` is the id or an alias, whatever its case and separators.
  bool is_called(std::string_view text) const;

  // Best general peak for computing in `dtype` with `threads` threads (exact thread count first,
  // else the nearest below scaled by the ratio); nothing when the device has none.
  std::optional<Peak> peak(Dtype compute_dtype, int threads) const;
  std::optional<Peak> path_peak(Dtype compute_dtype, std::string_view isa, int threads) const;
  std::optional<Bandwidth> bandwidth(std::string_view level, int threads) const;
};
template <class V, Of<Device> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v.unless_default("aliases", m.aliases);
  v("name", m.name);
  v.unless_default("vendor", m.vendor);
  v("kind", m.kind);
  v.unless_default("fingerprint", m.fingerprint);
  v.unless_default("devices_in_part", m.devices_in_part, 1);
  v.unless_default("memory_bytes", m.memory_bytes);
  v.unless_default("memory_bytes_high", m.memory_bytes_high);
  v.unless_default("memory_type", m.memory_type);
  v.unless_default("memory_source", m.memory_source);
  v.unless_default("memory_confidence", m.memory_confidence);
  v.unless_default("ring_plateau_bytes", m.ring_plateau_bytes);
  v("clock_hz", m.clock_hz);
  v("power_w", m.power_w);
  v.unless_default("power_w_high", m.power_w_high);
  v.unless_default("power_source", m.power_source);
  v.unless_default("power_confidence", m.power_confidence);
  v.unless_default("usd_per_hour", m.usd_per_hour);
  v("peaks", m.peaks);
  v("bandwidths", m.bandwidths);
  v.unless_default("links", m.links);
  v.unless_default("notes", m.notes);
}

// The figures of two entries that are the same ceiling: path, isa and threads; level, access and
// threads.
bool is_same_ceiling(const Peak& a, const Peak& b);
bool is_same_ceiling(const Bandwidth& a, const Bandwidth& b);

// Adds what was seen of a ceiling to a measured device: its occasions, or its figure where it has
// none. A ceiling that the device does not have yet becomes a new one. Figures become the best of
// their occasions.
void observe(Device& device, const Peak& seen);
void observe(Device& device, const Bandwidth& seen);
// All ceilings of `seen`.
void observe(Device& device, const Device& seen);

// What one thread reaches, more threads reach too, or they were disturbed. A figure of several
// threads below that of one is raised to it (threads of one core share its units); where other work
// was beside all its probes it is no ceiling and is taken out. Names those.
std::vector<std::string> settle_threads(Device& device);

}  // namespace halmark
