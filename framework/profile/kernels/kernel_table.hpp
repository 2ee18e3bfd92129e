// Tables of measured kernel times, as values: what a profiler or a person wrote down for one layer
// or several. Owns reading and checking them; which operator a row is, is kernel_binding.hpp's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "core/json/json_type.hpp"

namespace halmark {

// Times are whole picoseconds, so that sums are exact: a microsecond with six decimals.
inline constexpr double ps_per_us = 1e6;

enum class LayerHalf { unstated, attention, feed_forward };

struct ProfiledKernel {
  std::string where;  // "flow.json: layers[0].kernels[3]"
  std::string name;
  std::string category;
  LayerHalf half = LayerHalf::unstated;
  std::int64_t duration_ps = 0;    // of all launches together
  std::int64_t count = 1;          // launches
  bool is_category_total = false;  // everything of its category in one layer, not one kernel
  // Stated by whoever wrote the table; found out where absent.
  std::vector<std::string> operators;
  std::optional<std::array<std::int64_t, 3>> shape;  // m, n, k of a matrix product on one rank
  std::optional<Dtype> dtype;
  std::optional<double> flops, bytes;  // of all launches, on one rank
};

// The kernels of one execution of one layer on one rank.
struct KernelLayer {
  std::string where;
  std::string layer_type;  // "" = found from the following
  std::optional<std::int64_t> layer_id;
  std::optional<std::int64_t> compress_ratio;  // DeepSeek-V4: 0, 4 or 128
  std::optional<std::int64_t> cached;          // tokens in the cache before this step
  std::optional<std::int64_t> total_ps;        // stated; what no row covers is overhead
  std::vector<ProfiledKernel> kernels;

  std::int64_t kernels_ps() const;
};

struct KernelProfile {
  std::vector<KernelLayer> layers;
};

// Kernel flow, one layer:
//   {"metadata": {"layer_id", "compress_ratio", "total_dur_us"},
//    "kernels": [{"name", "simplified_name", "category", "half": "attn"|"ffn", "dur_us"}],
//    "category_summary": {category: {"dur_us" | "dur", "count"}}}
// and what this program adds: {"layers": [such objects]}; in metadata "layer_type",
// "cached"; in rows "operator" (a name or a list), "shape" [m, n, k], "dtype", "flops", "bytes",
// "count". Throws Error (exit 2): malformed, negative or absent times, a summary that is more than
// 0.1 % away from its rows (summary_mismatch), a slip of the pen in a key. Other keys are left
// alone: profilers write more than this.
KernelProfile read_kernel_flow(const Json& json, std::string_view where);

// A flat object category -> milliseconds of one layer.
KernelProfile read_kernel_ms(const Json& json, std::string_view where);

}  // namespace halmark
