// Work: what one execution of a kernel costs, whoever says so.
#pragma once

#include "core/dtype.hpp"

namespace halmark {

// How the ranks of a collective exchange their message (Work::message_bytes, S, of n ranks).
enum class Exchange {
  none,      // no collective
  reduce,    // all_reduce: everyone receives the sum of all
  gather,    // all_gather, reduce_scatter: S / n between every pair
  personal,  // all_to_all: S / n between every pair, all of them different
  copy,      // broadcast: everyone receives what one has
  shift,     // send_recv: everyone passes S on to the next
};

// What one execution costs on one rank. matmul_flops is what MFU counts (multiply and add both).
struct Work {
  double matmul_flops = 0;
  double vector_flops = 0;    // element-wise, never in MFU
  double bytes_read = 0;      // each input read once
  double bytes_written = 0;   // each output written once
  double constant_bytes = 0;  // the part of bytes_read that rotates (constant and state operands)
  double message_bytes = 0;   // collectives: the size that nccl-tests reports
  double transfer_bytes = 0;  // collectives: message_bytes x bus factor; what the bus has to move
  Dtype compute_dtype = Dtype::f32;  // whose peak applies
  Exchange exchange = Exchange::none;
  double flops() const { return matmul_flops + vector_flops; }
  double bytes() const { return bytes_read + bytes_written; }
};

}  // namespace halmark
