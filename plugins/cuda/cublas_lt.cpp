#include "cublas_lt.hpp"

#include "dynamic_library.hpp"

namespace hm_cuda {
namespace {

// Sums of split products in f32 or s32: through the result's own type they would round twice.
constexpr std::uint32_t reductions_allowed = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;

// Addresses of buffers are multiples of this; of the contract's operands none starts inside one.
constexpr std::uint32_t operand_alignment_bytes = 256;

template <class T>
std::int64_t attribute_of(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm,
                          cublasLtMatmulAlgoConfigAttributes_t name) {
  T value{};
  std::size_t written = 0;
  const auto status =
      library.functions().algorithm_attribute(&algorithm, name, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS ? static_cast<std::int64_t>(value) : -1;
}

}  // namespace

CublasLt::CublasLt() {
  DynamicLibrary library("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR));
  library.find(functions_.create, "cublasLtCreate");
  library.find(functions_.destroy, "cublasLtDestroy");
  library.find(functions_.version, "cublasLtGetVersion");
  library.find(functions_.status_text, "cublasLtGetStatusString");
  library.find(functions_.matmul_create, "cublasLtMatmulDescCreate");
  library.find(functions_.matmul_destroy, "cublasLtMatmulDescDestroy");
  library.find(functions_.matmul_set, "cublasLtMatmulDescSetAttribute");
  library.find(functions_.layout_create, "cublasLtMatrixLayoutCreate");
  library.find(functions_.layout_destroy, "cublasLtMatrixLayoutDestroy");
  library.find(functions_.preference_create, "cublasLtMatmulPreferenceCreate");
  library.find(functions_.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  library.find(functions_.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  library.find(functions_.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.find(functions_.algorithm_attribute, "cublasLtMatmulAlgoConfigGetAttribute");
  library.find(functions_.matmul, "cublasLtMatmul");
  if (!library.absence().empty()) unsupported("gemm needs cuBLASLt: " + library.absence());
  check(functions_.create(&handle_), "cublasLtCreate");
}

CublasLt::~CublasLt() {
  if (handle_ != nullptr) functions_.destroy(handle_);
}

std::string CublasLt::version() const {
  const std::size_t version = functions_.version();  // 130002 = 13.0.2
  return std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100) + '.' +
         std::to_string(version % 100);
}

void CublasLt::check(cublasStatus_t status, const char* what) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::int32_t code = status == CUBLAS_STATUS_ALLOC_FAILED    ? HM_OUT_OF_MEMORY
                            : status == CUBLAS_STATUS_NOT_SUPPORTED ? HM_UNSUPPORTED
                                                                    : HM_LAUNCH_FAILED;
  throw plug::failure(code, std::string(what) + ": " + functions_.status_text(status), status);
}

MatmulDescription::MatmulDescription(const CublasLt& library, const ColumnMajorProduct& product,
                                     const ProductTypes& types)
    : library_(library), types_(types) {
  const CublasLtFunctions& lt = library.functions();
  const auto make_layout = [&](cublasLtMatrixLayout_t& out, cudaDataType_t type,
                               const Layout& layout) {
    library.check(lt.layout_create(&out, type, static_cast<std::uint64_t>(layout.rows),
                                   static_cast<std::uint64_t>(layout.columns), layout.leading),
                  "a matrix layout");
  };
  try {
    library.check(lt.matmul_create(&matmul_, types.compute, types.scale), "a product description");
    const cublasOperation_t operation = product.transposes_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    library.check(lt.matmul_set(matmul_, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation),
                  "a transposition");
    make_layout(a_, types.source, product.a);
    make_layout(b_, types.source, product.b);
    make_layout(d_, types.result, product.d);
  } catch (...) {
    destroy();
    throw;
  }
}

MatmulDescription::~MatmulDescription() { destroy(); }

void MatmulDescription::destroy() {
  const CublasLtFunctions& lt = library_.functions();
  for (cublasLtMatrixLayout_t layout : {a_, b_, d_}) {
    if (layout != nullptr) lt.layout_destroy(layout);
  }
  if (matmul_ != nullptr) lt.matmul_destroy(matmul_);
}

std::vector<cublasLtMatmulHeuristicResult_t> MatmulDescription::algorithms(
    int count_max, std::size_t workspace_max) const {
  const CublasLtFunctions& lt = library_.functions();
  cublasLtMatmulPreference_t preference = nullptr;
  library_.check(lt.preference_create(&preference), "a preference");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t name, const auto& value) {
    return lt.preference_set(preference, name, &value, sizeof value);
  };
  cublasStatus_t status = prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_max);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions_allowed);
  }
  for (const auto name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    if (status == CUBLAS_STATUS_SUCCESS) status = prefer(name, operand_alignment_bytes);
  }
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(count_max));
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = lt.heuristic(library_.handle(), matmul_, a_, b_, d_, d_, preference, count_max,
                          found.data(), &count);
  }
  lt.preference_destroy(preference);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
  library_.check(status, "the choice of algorithms");
  found.resize(static_cast<std::size_t>(count));
  std::erase_if(found, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

void MatmulDescription::run(const cublasLtMatmulAlgo_t& algorithm, const void* wei, const void* src,
                            void* dst, void* workspace, std::size_t workspace_bytes,
                            cudaStream_t stream) const {
  static constexpr float one = 1, zero = 0;
  static constexpr std::int32_t one_s32 = 1, zero_s32 = 0;
  const bool is_integer = types_.scale == CUDA_R_32I;
  const void* alpha = is_integer ? static_cast<const void*>(&one_s32) : &one;
  const void* beta = is_integer ? static_cast<const void*>(&zero_s32) : &zero;
  library_.check(
      library_.functions().matmul(library_.handle(), matmul_, alpha, wei, a_, src, b_, beta, dst,
                                  d_, dst, d_, &algorithm, workspace, workspace_bytes, stream),
      "cublasLtMatmul");
}

std::string label_of(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm) {
  const auto text = [](const char* name, std::int64_t value) {
    return std::string(name) + std::to_string(value);
  };
  return text("algo", attribute_of<std::int32_t>(library, algorithm, CUBLASLT_ALGO_CONFIG_ID)) +
         text("_tile",
              attribute_of<std::uint32_t>(library, algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID)) +
         text("_stages",
              attribute_of<std::uint32_t>(library, algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID)) +
         text("_splitk",
              attribute_of<std::int32_t>(library, algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM)) +
         text("_swizzle",
              attribute_of<std::uint32_t>(library, algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING)) +
         text("_custom",
              attribute_of<std::uint32_t>(library, algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION)) +
         text("_inner", attribute_of<std::uint16_t>(library, algorithm,
                                                    CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID)) +
         text("_cluster", attribute_of<std::uint16_t>(library, algorithm,
                                                      CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

}  // namespace hm_cuda
