#include "tensor_map.hpp"

#include <cuda.h>

#include <cstring>

#include "dynamic_library.hpp"

namespace hm_cuda {
namespace {

struct Encoder {
  Encoder() : library("libcuda.so.1") { library.find(encode, "cuTensorMapEncodeTiled"); }

  DynamicLibrary library;
  decltype(cuTensorMapEncodeTiled)* encode = nullptr;
};

const Encoder& encoder() {
  static const Encoder found;
  return found;
}

}  // namespace

const std::string& tensor_map_absence() { return encoder().library.absence(); }

TensorMap map_of_keys(const AttentionProblem& p, void* data) {
  // 16 bits of any type: what lies outside is zero in all of them.
  constexpr cuuint64_t bytes = 2;
  const auto columns = static_cast<cuuint64_t>(p.head_dim);
  const auto rows = static_cast<cuuint64_t>(p.context);
  const cuuint64_t dims[] = {columns, rows, static_cast<cuuint64_t>(p.pairs())};
  const cuuint64_t strides[] = {columns * bytes, columns * rows * bytes};
  const cuuint32_t box[] = {attention_box_columns, attention_box_keys, 1}, every[] = {1, 1, 1};
  CUtensorMap map{};
  const CUresult result =
      encoder().encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, data, dims, strides, box, every,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                       CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw plug::failure(HM_LAUNCH_FAILED,
                        "the driver describes no tensor of keys for the copy engine", result);
  }
  TensorMap out;
  static_assert(sizeof out == sizeof map && alignof(TensorMap) >= alignof(CUtensorMap));
  std::memcpy(&out, &map, sizeof out);
  return out;
}

}  // namespace hm_cuda
