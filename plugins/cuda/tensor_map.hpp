// Tensors as Hopper's copy engine takes them, which the driver describes.
#pragma once

#include "attention_problem.hpp"
#include "device/attention.hpp"

namespace hm_cuda {

// Why the driver cannot; empty where it can.
const std::string& tensor_map_absence();

// Keys or values of a problem, in boxes of attention_box_columns x attention_box_keys.
TensorMap map_of_keys(const AttentionProblem& p, void* data);

}  // namespace hm_cuda
