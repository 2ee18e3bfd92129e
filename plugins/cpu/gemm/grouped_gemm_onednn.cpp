// grouped_gemm with many rows per expert: one matmul of oneDNN after the other, each on all
// threads. A primitive belongs to a number of rows, which is only known when the counts arrive; it
// is made the first time a number is seen and kept.
#include <algorithm>
#include <array>
#include <map>

#include "grouped_gemm.hpp"
#include "onednn.hpp"

namespace hm_cpu {
namespace {

using PrimitiveDesc = dnnl::matmul::primitive_desc;

dnnl::engine cpu_engine() { return {dnnl::engine::kind::cpu, 0}; }

MatmulShape shape_of(const GroupedGemmProblem& problem, std::int64_t rows) {
  const GemmProblem& gemm = problem.gemm;
  return {.m = rows,
          .n = gemm.n,
          .k = gemm.k,
          .src_dtype = gemm.src_dtype,
          .wei_dtype = gemm.wei_dtype,
          .dst_dtype = gemm.dst_dtype,
          .wei_trans = gemm.wei_trans,
          .has_own_scratchpad = true};
}

bool is_reference(const PrimitiveDesc& desc) {
  return std::string_view(desc.impl_info_str()).starts_with("ref");
}

// The matmul of `rows` rows on weights in that layout. It must not outlive the engine.
std::optional<PrimitiveDesc> matmul_of(const dnnl::engine& engine,
                                       const GroupedGemmProblem& problem, std::int64_t rows,
                                       const dnnl::memory::desc& weights) {
  MatmulShape shape = shape_of(problem, rows);
  shape.weights = &weights;
  return matmul_implementation(engine, shape, "");
}

// The layout that the library likes best for the average group, if groups of one row and of all
// rows can use it too without its reference loops; else plain. Nothing when it has no such matmul.
std::optional<dnnl::memory::desc> weights_layout(const GroupedGemmProblem& problem) {
  const dnnl::engine engine = cpu_engine();
  const auto preferred = matmul_implementation(engine, shape_of(problem, problem.gemm.m), "");
  if (!preferred) return std::nullopt;
  const dnnl::memory::desc plain = plain_weights(shape_of(problem, 1));
  for (const dnnl::memory::desc& layout : {preferred->weights_desc(), plain}) {
    const auto fits = [&](std::int64_t rows) {
      const auto found = matmul_of(engine, problem, rows, layout);
      return found && !is_reference(*found);
    };
    if (fits(1) && fits(problem.gemm.m) && fits(problem.rows)) return layout;
  }
  // A shape, or a dtype, for which the library has nothing but its reference.
  return matmul_of(engine, problem, problem.gemm.m, plain) ? std::optional(plain) : std::nullopt;
}

class OnednnGroupedGemm : public Prepared {
 public:
  OnednnGroupedGemm(const GroupedGemmProblem& problem, const dnnl::memory::desc& layout)
      : problem_(problem),
        engine_(cpu_engine()),
        stream_(engine_),
        plain_(plain_weights(shape_of(problem, 1))),
        stored_(layout),
        weights_(stored_, engine_, DNNL_MEMORY_NONE) {
    // Each expert's weights begin on a cache line.
    expert_bytes_ = (static_cast<std::int64_t>(stored_.get_size()) + 63) / 64 * 64;
    operands = grouped_gemm_operands(problem_);
    operands[1].bytes = static_cast<std::uint64_t>(problem_.experts * expert_bytes_);
    operands[1].opaque_layout = stored_ == plain_ ? "per_expert" : "onednn_blocked";
    info.implementation = product(problem_.gemm.m).implementation;
    info.isa = isa_of_implementation(info.implementation);
    info.library = "oneDNN";
    info.library_version = onednn_version();
  }

  void run(void* const* buffers, void*) override {
    const GemmProblem& gemm = problem_.gemm;
    const std::int64_t src_row = gemm.k * element_bytes(gemm.src_dtype);
    const std::int64_t dst_row = gemm.n * element_bytes(gemm.dst_dtype);
    std::int64_t first = 0;
    for (std::int64_t expert = 0; expert < problem_.experts; ++expert) {
      const std::int64_t rows = group_rows(problem_, buffers[2], expert, first);
      if (rows == 0) continue;
      Product& group = product(rows);
      group.src.set_data_handle(static_cast<char*>(buffers[0]) + first * src_row);
      weights_.set_data_handle(static_cast<char*>(buffers[1]) + expert * expert_bytes_);
      group.dst.set_data_handle(static_cast<char*>(buffers[3]) + first * dst_row);
      const std::array<dnnl_exec_arg_t, 3> arguments = {{{DNNL_ARG_SRC, group.src.get()},
                                                         {DNNL_ARG_WEIGHTS, weights_.get()},
                                                         {DNNL_ARG_DST, group.dst.get()}}};
      dnnl::error::wrap_c_api(
          dnnl_primitive_execute(group.matmul.get(), stream_.get(), 3, arguments.data()),
          "matmul did not execute");
      first += rows;
    }
    stream_.wait();
  }

  void load_constants(void* const* packed, const void* const* plain) override {
    const std::int64_t plain_bytes = static_cast<std::int64_t>(plain_.get_size());
    for (std::int64_t expert = 0; expert < problem_.experts; ++expert) {
      char* from = static_cast<char*>(const_cast<void*>(plain[1])) + expert * plain_bytes;
      char* to = static_cast<char*>(packed[1]) + expert * expert_bytes_;
      dnnl::memory source(plain_, engine_, from);
      dnnl::memory target(stored_, engine_, to);
      dnnl::reorder(source, target).execute(stream_, source, target);
    }
    stream_.wait();
  }

 private:
  struct Product {
    dnnl::matmul matmul;
    dnnl::memory src, dst;
    std::string implementation;
  };

  Product& product(std::int64_t rows) {
    const auto known = products_.find(rows);
    if (known != products_.end()) return known->second;
    const auto desc = matmul_of(engine_, problem_, rows, stored_);
    if (!desc) unsupported("oneDNN has no matmul of " + std::to_string(rows) + " rows");
    Product made{dnnl::matmul(*desc), dnnl::memory(desc->src_desc(), engine_, DNNL_MEMORY_NONE),
                 dnnl::memory(desc->dst_desc(), engine_, DNNL_MEMORY_NONE), desc->impl_info_str()};
    return products_.emplace(rows, std::move(made)).first->second;
  }

  GroupedGemmProblem problem_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::memory::desc plain_, stored_;
  dnnl::memory weights_;
  std::int64_t expert_bytes_ = 0;
  std::map<std::int64_t, Product> products_;  // by rows
};

class OnednnGroupedGemmKernel : public Kernel {
 public:
  std::string_view name() const override { return "grouped_gemm_onednn"; }
  std::string_view op() const override { return "grouped_gemm"; }

  void require_support(const Device&, const Params& params, const Params&) const override {
    static_cast<void>(layout_of(grouped_gemm_problem(params)));
  }

  std::unique_ptr<Prepared> prepare(const Device&, const Params& params, const Params&,
                                    Comm*) const override {
    const GroupedGemmProblem problem = grouped_gemm_problem(params);
    return std::make_unique<OnednnGroupedGemm>(problem, layout_of(problem));
  }

 private:
  static dnnl::memory::desc layout_of(const GroupedGemmProblem& problem) {
    const auto layout = weights_layout(problem);
    if (!layout) {
      unsupported("oneDNN " + onednn_version() + " has no such matmul of " +
                  std::string(dtype_name(problem.gemm.src_dtype)) + " on this machine");
    }
    return *layout;
  }
};

}  // namespace

const Kernel& grouped_gemm_onednn_kernel() {
  static const OnednnGroupedGemmKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
