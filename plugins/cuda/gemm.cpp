// Matrix product through cuBLASLt; its candidates for a problem are the domain `algorithm`.
#include <array>
#include <set>

#include "cublas_lt.hpp"
#include "kernel.hpp"
#include "kernels.hpp"

namespace hm_cuda {
namespace {

// How many algorithms the heuristic is asked for with so much workspace, the usual limit on this
// architecture first: its first answer is the default. Less and more workspace bring others (split
// sums need room for their parts).
struct Question {
  std::size_t workspace_max;
  int count_max;
};
constexpr std::array<Question, 3> questions{{{32u << 20, 24}, {0, 8}, {256u << 20, 8}}};

struct Combination {
  std::int64_t src, wei, dst;
  ProductTypes types;
};

constexpr ProductTypes floats(cudaDataType_t source, cudaDataType_t result) {
  return {source, result, CUDA_R_32F, CUBLAS_COMPUTE_32F};
}

// f32 is computed in f32: with TF32 a product keeps 11 bits, which the contract of f32 refuses.
constexpr std::array<Combination, 9> combinations{{
    {HM_DTYPE_F32, HM_DTYPE_F32, HM_DTYPE_F32, floats(CUDA_R_32F, CUDA_R_32F)},
    {HM_DTYPE_BF16, HM_DTYPE_BF16, HM_DTYPE_BF16, floats(CUDA_R_16BF, CUDA_R_16BF)},
    {HM_DTYPE_BF16, HM_DTYPE_BF16, HM_DTYPE_F32, floats(CUDA_R_16BF, CUDA_R_32F)},
    {HM_DTYPE_F16, HM_DTYPE_F16, HM_DTYPE_F16, floats(CUDA_R_16F, CUDA_R_16F)},
    {HM_DTYPE_F16, HM_DTYPE_F16, HM_DTYPE_F32, floats(CUDA_R_16F, CUDA_R_32F)},
    {HM_DTYPE_F8_E4M3FN, HM_DTYPE_F8_E4M3FN, HM_DTYPE_F32, floats(CUDA_R_8F_E4M3, CUDA_R_32F)},
    {HM_DTYPE_F8_E4M3FN, HM_DTYPE_F8_E4M3FN, HM_DTYPE_BF16, floats(CUDA_R_8F_E4M3, CUDA_R_16BF)},
    {HM_DTYPE_F8_E4M3FN, HM_DTYPE_F8_E4M3FN, HM_DTYPE_F16, floats(CUDA_R_8F_E4M3, CUDA_R_16F)},
    {HM_DTYPE_S8,
     HM_DTYPE_S8,
     HM_DTYPE_S32,
     {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I}},
}};

const Combination* combination_of(plug::Params problem) {
  for (const Combination& known : combinations) {
    if (known.src == plug::require_param(problem, "src_dtype") &&
        known.wei == plug::require_param(problem, "wei_dtype") &&
        known.dst == plug::require_param(problem, "dst_dtype")) {
      return &known;
    }
  }
  return nullptr;
}

struct Product {
  std::int64_t m, n, k;
  bool wei_is_nk, turns_wei;
  const Combination* combination;

  explicit Product(plug::Params problem)
      : m(plug::require_param(problem, "m")),
        n(plug::require_param(problem, "n")),
        k(plug::require_param(problem, "k")),
        wei_is_nk(plug::param_or(problem, "wei_trans", 0) != 0),
        turns_wei(false),
        combination(combination_of(problem)) {
    // The library multiplies bytes only where both operands run along k: weights stored the other
    // way are turned once, when they are loaded.
    turns_wei = combination != nullptr && plug::dtype_bits(combination->wei) == 8 && !wei_is_nk;
  }

  ColumnMajorProduct layouts() const { return column_major(m, n, k, wei_is_nk || turns_wei); }
};

struct Candidate {
  std::string label;
  cublasLtMatmulAlgo_t algorithm;
  std::size_t workspace_bytes;
};

// All that the heuristic offers, each once, by labels that tell them apart.
std::vector<Candidate> candidates_of(const CublasLt& library, const Product& product) {
  const MatmulDescription description(library, product.layouts(), product.combination->types);
  std::vector<Candidate> found;
  std::set<std::string> seen;
  for (const Question& question : questions) {
    std::set<std::string> of_this_answer;
    for (const auto& result : description.algorithms(question.count_max, question.workspace_max)) {
      std::string label = label_of(library, result.algo);
      // Two candidates of one answer may differ in what the library does not tell.
      const std::string plain = label;
      for (int i = 2; !of_this_answer.insert(label).second; ++i) {
        label = plain + '#' + std::to_string(i);
      }
      if (seen.insert(label).second) found.push_back({label, result.algo, result.workspaceSize});
    }
  }
  return found;
}

class PreparedGemm : public Prepared {
 public:
  PreparedGemm(const CublasLt& library_used, const Product& product, const Candidate& candidate)
      : product_(product),
        description_(library_used, product.layouts(), product.combination->types),
        algorithm_(candidate.algorithm) {
    workspace_bytes = candidate.workspace_bytes;
    implementation = "cublasLt:" + candidate.label;
    library = "cuBLASLt";
    library_version = library_used.version();
    operands = {
        {"src", HM_ROLE_INPUT, product.combination->src, {product.m, product.k}},
        {"wei", HM_ROLE_CONSTANT, product.combination->wei,
         product.wei_is_nk ? std::vector{product.n, product.k} : std::vector{product.k, product.n},
         product.turns_wei},
        {"dst", HM_ROLE_OUTPUT, product.combination->dst, {product.m, product.n}}};
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void* workspace) override {
    description_.run(algorithm_, address_of(buffers[1]), address_of(buffers[0]),
                     address_of(buffers[2]), workspace, workspace_bytes, stream);
  }

  void load_constant(cudaStream_t stream, std::uint32_t operand, const void* plain,
                     void* packed) override {
    if (!product_.turns_wei) return Prepared::load_constant(stream, operand, plain, packed);
    check(launch_transpose_bytes(stream, plain, packed, static_cast<std::uint64_t>(product_.k),
                                 static_cast<std::uint64_t>(product_.n)),
          "the turning of weights");
  }

 private:
  Product product_;
  MatmulDescription description_;
  cublasLtMatmulAlgo_t algorithm_{};
};

class Gemm : public Kernel {
 public:
  std::string_view name() const override { return "gemm_cublaslt"; }
  std::string_view op() const override { return "gemm"; }

  void require_support(OpenedDevice& device, plug::Params problem) const override {
    plug::reject_unknown(problem,
                         {"m", "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
    if (combination_of(problem) == nullptr) {
      unsupported(
          "gemm of these dtypes; f32, bf16 -> bf16|f32, f16 -> f16|f32, f8_e4m3fn -> f32|bf16|f16, "
          "s8 -> s32");
    }
    if (candidates(device, problem).empty()) {
      unsupported("cuBLASLt has no algorithm for this product on " + device.architecture +
                  " (8-bit products want sizes that are multiples of 16)");
    }
  }

  std::vector<plug::Domain> domains(OpenedDevice& device, plug::Params problem) const override {
    std::vector<std::string> labels;
    for (const Candidate& candidate : candidates(device, problem)) {
      labels.push_back(candidate.label);
    }
    return {plug::domain::categorical("algorithm", labels)};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const auto found = candidates(device, problem);
    const auto index = static_cast<std::size_t>(plug::param_or(config, "algorithm", 0));
    if (index >= found.size()) unsupported("cuBLASLt no longer offers this algorithm");
    return std::make_unique<PreparedGemm>(device.cublas_lt(), Product(problem), found[index]);
  }

 private:
  static std::vector<Candidate> candidates(OpenedDevice& device, plug::Params problem) {
    device.activate();
    return candidates_of(device.cublas_lt(), Product(problem));
  }
};

}  // namespace

const Kernel& gemm_kernel() {
  static const Gemm kernel;
  return kernel;
}

}  // namespace hm_cuda
