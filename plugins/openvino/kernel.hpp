// What a kernel of this backend is: the operands of a problem, and the graph that computes it.
#pragma once

#include <halmark_plugin_values.hpp>

#include <span>
#include <string>
#include <vector>

#include "ir.hpp"

namespace hm_openvino {

namespace plug = halmark::plugin;

// One entry of the table; plain functions of the problem's parameters.
struct Kernel {
  const char* name;  // unique in the plugin
  const char* op;
  // Operands in contract order. Throws plug::failure(HM_UNSUPPORTED) with the reason; no allocation
  // of the size of the problem.
  std::vector<plug::Operand> (*operands)(const plug::Params& problem);
  // Parameters are named as the operands. Weights refer to operands by index.
  void (*build)(const plug::Params& problem, Graph& graph);
  // What the device is asked to compute in: HM_DTYPE_F32, BF16 or F16.
  std::int32_t (*precision)(const plug::Params& problem);
};

std::span<const Kernel> kernel_table();

// Parts that several kernels share.
inline std::int32_t in_f32(const plug::Params&) { return HM_DTYPE_F32; }
// f32, bf16 and f16 of the same type, and each of them to and from f32: the pairs of row-wise ops.
void require_float_pair(const plug::Params& problem);

}  // namespace hm_openvino
