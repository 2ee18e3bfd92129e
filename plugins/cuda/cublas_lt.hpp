// cuBLASLt, looked for at run time: half a gigabyte of library that only matrix products need.
#pragma once

#include <cublasLt.h>

#include <string>
#include <vector>

#include "cuda.hpp"
#include "gemm_layout.hpp"

namespace hm_cuda {

struct CublasLtFunctions {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtGetStatusString) status_text;
  decltype(&cublasLtMatmulDescCreate) matmul_create;
  decltype(&cublasLtMatmulDescDestroy) matmul_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) matmul_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_attribute;
  decltype(&cublasLtMatmul) matmul;
};

struct ProductTypes {
  cudaDataType_t source, result, scale;
  cublasComputeType_t compute;
};

class CublasLt {
 public:
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  const CublasLtFunctions& functions() const { return functions_; }
  cublasLtHandle_t handle() const { return handle_; }
  std::string version() const;  // "13.0.2"
  void check(cublasStatus_t status, const char* what) const;

 private:
  CublasLtFunctions functions_{};
  cublasLtHandle_t handle_ = nullptr;
};

// Descriptors of one product; nothing of a stream or of memory.
class MatmulDescription {
 public:
  MatmulDescription(const CublasLt& library, const ColumnMajorProduct& product,
                    const ProductTypes& types);
  ~MatmulDescription();
  MatmulDescription(const MatmulDescription&) = delete;
  MatmulDescription& operator=(const MatmulDescription&) = delete;

  // What the library would choose with so much workspace, best first; empty = it has nothing for
  // this product.
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms(int count_max,
                                                          std::size_t workspace_max) const;
  void run(const cublasLtMatmulAlgo_t& algorithm, const void* wei, const void* src, void* dst,
           void* workspace, std::size_t workspace_bytes, cudaStream_t stream) const;

 private:
  void destroy();

  const CublasLt& library_;
  ProductTypes types_;
  cublasLtMatmulDesc_t matmul_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, d_ = nullptr;
};

// "algo21_tile20_stages8_splitk1_...": what tells two algorithms apart.
std::string label_of(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm);

}  // namespace hm_cuda
