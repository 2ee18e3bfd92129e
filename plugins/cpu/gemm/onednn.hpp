// The one place that knows which oneDNN this is (2.x or 3.x): descriptors, ISA ceiling, matmul.
#pragma once

#include <dnnl_version.h>
#include <dnnl.hpp>

#include <optional>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace hm_cpu {

std::string onednn_version();  // of the library that runs, e.g. "2.6.3"

// Sets the process-wide ISA ceiling and returns what the library uses from now on. Its first use
// fixes it: unsupported() when this process already runs under another one.
Isa limit_onednn(Isa ceiling);

// The normalised isa path in an implementation string; "" = unknown.
std::string isa_of_implementation(const std::string& implementation);

// A matmul problem: dst[m,n] = src[m,k] wei[k,n], wei stored [n,k] when transposed.
struct MatmulShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int32_t src_dtype = 0, wei_dtype = 0, dst_dtype = 0;
  bool wei_trans = false;
  bool packed = true;
  const dnnl::memory::desc* weights = nullptr;  // this layout, whatever `packed` says
  bool has_own_scratchpad = false;              // the primitive keeps one; else the caller gives it
};

dnnl::memory::data_type onednn_dtype(std::int32_t dtype);
dnnl::memory::desc plain_weights(const MatmulShape& shape);

// The implementation of that name, or the library's first when `label` is empty; nothing when it
// has none.
std::optional<dnnl::matmul::primitive_desc> matmul_implementation(const dnnl::engine& engine,
                                                                  const MatmulShape& shape,
                                                                  const std::string& label);
// All implementation strings in the library's order; empty when the library refuses the shape.
std::vector<std::string> matmul_implementations(const dnnl::engine& engine,
                                                const MatmulShape& shape);

}  // namespace hm_cpu
