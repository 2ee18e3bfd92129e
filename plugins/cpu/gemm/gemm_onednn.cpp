// gemm by oneDNN's matmul: implementations and weight packing are tunable.
#include <algorithm>
#include <array>

#include "gemm.hpp"
#include "onednn.hpp"

namespace hm_cpu {
namespace {

MatmulShape shape_of(const GemmProblem& problem, bool packed) {
  return {problem.m,         problem.n,         problem.k,         problem.src_dtype,
          problem.wei_dtype, problem.dst_dtype, problem.wei_trans, packed};
}

dnnl::engine cpu_engine() { return {dnnl::engine::kind::cpu, 0}; }

// The library's reference loops are correct and a thousand times slower: never worth a search's
// time while it has anything else.
std::vector<std::string> useful_implementations(const MatmulShape& shape) {
  std::vector<std::string> labels = matmul_implementations(cpu_engine(), shape);
  const auto is_reference = [](const std::string& label) { return label.starts_with("ref"); };
  if (!std::all_of(labels.begin(), labels.end(), is_reference)) std::erase_if(labels, is_reference);
  return labels;
}

class OnednnGemm : public Prepared {
 public:
  OnednnGemm(const GemmProblem& problem, const MatmulShape& shape, const std::string& label)
      : engine_(cpu_engine()), stream_(engine_) {
    const auto chosen = matmul_implementation(engine_, shape, label);
    if (!chosen) unsupported("oneDNN has no implementation '" + label + "' for this layout");
    primitive_ = dnnl::matmul(*chosen);
    plain_ = plain_weights(shape);
    stored_ = chosen->weights_desc();
    src_ = dnnl::memory(chosen->src_desc(), engine_, DNNL_MEMORY_NONE);
    weights_ = dnnl::memory(stored_, engine_, DNNL_MEMORY_NONE);
    dst_ = dnnl::memory(chosen->dst_desc(), engine_, DNNL_MEMORY_NONE);
    scratchpad_ = dnnl::memory(chosen->scratchpad_desc(), engine_, DNNL_MEMORY_NONE);
    operands = gemm_operands(problem);
    if (stored_ != plain_) {
      operands[1].bytes = stored_.get_size();
      operands[1].opaque_layout = "onednn_blocked";
    }
    info.implementation = chosen->impl_info_str();
    info.isa = isa_of_implementation(info.implementation);
    info.library = "oneDNN";
    info.library_version = onednn_version();
    info.workspace_bytes = chosen->scratchpad_desc().get_size();
  }

  // The C entry takes an array; the C++ one would build a map and a vector per call.
  void run(void* const* buffers, void* workspace) override {
    src_.set_data_handle(buffers[0]);
    weights_.set_data_handle(buffers[1]);
    dst_.set_data_handle(buffers[2]);
    std::array<dnnl_exec_arg_t, 4> arguments = {{{DNNL_ARG_SRC, src_.get()},
                                                 {DNNL_ARG_WEIGHTS, weights_.get()},
                                                 {DNNL_ARG_DST, dst_.get()},
                                                 {DNNL_ARG_SCRATCHPAD, scratchpad_.get()}}};
    if (workspace != nullptr) scratchpad_.set_data_handle(workspace);
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                                   workspace != nullptr ? 4 : 3, arguments.data()),
                            "matmul did not execute");
    stream_.wait();
  }

  void load_constants(void* const* packed, const void* const* plain) override {
    if (stored_ == plain_) return Prepared::load_constants(packed, plain);
    dnnl::memory source(plain_, engine_, const_cast<void*>(plain[1]));
    dnnl::memory target(stored_, engine_, packed[1]);
    dnnl::reorder(source, target).execute(stream_, source, target);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul primitive_;
  dnnl::memory::desc plain_, stored_;
  dnnl::memory src_, weights_, dst_, scratchpad_;
};

class OnednnGemmKernel : public Kernel {
 public:
  std::string_view name() const override { return "gemm_onednn"; }
  std::string_view op() const override { return "gemm"; }

  // Implementations are listed for packed weights; a config may find one absent for plain ones.
  std::vector<Domain> domains(const Device&, const Params& params) const override {
    const GemmProblem problem = gemm_problem(params);
    return {domain::categorical("impl", useful_implementations(shape_of(problem, true))),
            domain::ordered("packed", {0, 1}, 1)};
  }

  void require_support(const Device&, const Params& params, const Params& config) const override {
    const GemmProblem problem = gemm_problem(params);
    const bool packed = config.value_or("packed", 1) == 1;
    if (!matmul_implementation(cpu_engine(), shape_of(problem, packed), label(problem, config))) {
      unsupported("oneDNN " + onednn_version() + " has no such matmul of " +
                  std::string(dtype_name(problem.src_dtype)) + " on this machine");
    }
  }

  std::unique_ptr<Prepared> prepare(const Device&, const Params& params, const Params& config,
                                    Comm*) const override {
    const GemmProblem problem = gemm_problem(params);
    const bool packed = config.value_or("packed", 1) == 1;
    return std::make_unique<OnednnGemm>(problem, shape_of(problem, packed), label(problem, config));
  }

 private:
  static std::string label(const GemmProblem& problem, const Params& config) {
    const std::int64_t choice = config.value_or("impl", 0);
    if (choice == 0) return "";
    return useful_implementations(shape_of(problem, true)).at(static_cast<std::size_t>(choice));
  }
};

}  // namespace

const Kernel& gemm_onednn_kernel() {
  static const OnednnGemmKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
