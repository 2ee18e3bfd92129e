// What is known about a device: figures measured by `halmark peaks` or carried from a datasheet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace halmark {

// One peak: FLOP/s (or OP/s) of an isa path and dtype, with where the figure is from.
// `path` uses the naming of configs/devices: ABI dtype name, plus "_vector", "_matrix", "_fp16acc".
struct Peak {
  std::string path;  // e.g. "bf16_matrix"
  Dtype dtype = Dtype::f32;
  std::string isa;         // "avx512_core_amx"; "" when not applicable
  int threads = 0;         // 0 = whole device
  double flops_per_s = 0;  // maximum; the denominator of MFU
  std::optional<double> flops_per_s_q90;
  std::optional<double> flops_per_s_high;  // upper end when sources disagree
  std::string source;                      // "measured 2026-11-21", URL or document
};

struct Bandwidth {
  std::string level;  // "l1", "l2", "l3", "memory"
  int threads = 0;    // 0 = whole device
  double bytes_per_s = 0;
  std::int64_t working_set_bytes = 0;
  std::string source;
};

struct Device {
  std::string id;  // "cpu:0" for a local one, "h100-sxm" for a known one
  std::string name;
  std::string kind;         // "cpu", "gpu", "npu", ...
  std::string fingerprint;  // of a measured device: model, flags, cores, microcode
  bool is_measured = false;
  std::int64_t memory_bytes = 0;
  std::vector<Peak> peaks;
  std::vector<Bandwidth> bandwidths;
  std::optional<std::int64_t> ring_plateau_bytes;  // decision 9
  std::optional<double> clock_hz;
  std::optional<double> power_w;

  // Best peak for computing in `dtype` with `threads` threads (exact thread count first, else the
  // nearest below scaled by the ratio); nothing when the device has none.
  std::optional<Peak> peak(Dtype compute_dtype, int threads) const;
  std::optional<Peak> path_peak(Dtype compute_dtype, std::string_view isa, int threads) const;
  std::optional<Bandwidth> bandwidth(std::string_view level, int threads) const;
};

}  // namespace halmark
