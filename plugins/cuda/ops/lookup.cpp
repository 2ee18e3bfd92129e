// embedding and rope: rows that are looked up, and rows that are turned by their angles.
#include "device/rowwise.hpp"
#include "kernel.hpp"
#include "row_geometry.hpp"

namespace hm_cuda {
namespace {

void require_floats(plug::Params problem) {
  for (const char* name : {"src_dtype", "dst_dtype"}) {
    const std::int64_t dtype = problem.at(name);
    if (dtype != HM_DTYPE_F32 && dtype != HM_DTYPE_BF16 && dtype != HM_DTYPE_F16) {
      unsupported(std::string(name) + " is f32, bf16 or f16, not " +
                  std::string(plug::dtype_name(dtype)));
    }
  }
}

int width_of(plug::Params problem) {
  return row_vector_width(plug::element_bytes(problem.at("src_dtype")),
                          plug::element_bytes(problem.at("dst_dtype")));
}

// What both share: threads of a block, columns in vectors where rows allow it.
class SpreadKernel : public Kernel {
 public:
  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params problem) const override {
    return {plug::domain::ordered("threads", {32, 64, 128, 256, 512, 1024},
                                  spread_threads(vectors(problem)))};
  }

 protected:
  virtual bool is_vector(plug::Params problem) const = 0;
  virtual std::int64_t vectors(plug::Params problem) const = 0;  // of a row

  Launch launch_of(const OpenedDevice& device, plug::Params problem, plug::Params config,
                   DeviceFunction function) const {
    Launch launch;
    launch.function = function;
    const std::int64_t count = vectors(problem);
    spread_rows(launch, problem.extent("rows"), count,
                plug::param_or(config, "threads", spread_threads(count)), device.processors);
    make_ready(launch);
    return launch;
  }
};

class PreparedEmbedding : public Prepared {
 public:
  PreparedEmbedding(plug::Params p, const Launch& launch, bool is_vector) : launch_(launch) {
    task_ = {.table = nullptr,
             .ids = nullptr,
             .dst = nullptr,
             .rows = p.at("rows"),
             .cols = p.at("hidden"),
             .vocab = p.at("vocab")};
    operands = {{"ids", HM_ROLE_INPUT, HM_DTYPE_S32, {task_.rows}},
                {"table", HM_ROLE_CONSTANT, p.at("src_dtype"), {task_.vocab, task_.cols}},
                {"dst", HM_ROLE_OUTPUT, p.at("dst_dtype"), {task_.rows, task_.cols}}};
    implementation = is_vector ? "embedding_vector" : "embedding_scalar";
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    EmbeddingTask task = task_;
    task.ids = static_cast<const std::int32_t*>(address_of(buffers[0]));
    task.table = address_of(buffers[1]);
    task.dst = address_of(buffers[2]);
    start(stream, launch_, task);
  }

 private:
  Launch launch_;
  EmbeddingTask task_{};
};

class Embedding : public SpreadKernel {
 public:
  std::string_view name() const override { return "embedding"; }
  std::string_view op() const override { return "embedding"; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    plug::reject_unknown(problem, {"rows", "vocab", "hidden", "src_dtype", "dst_dtype"});
    for (const char* name : {"rows", "vocab", "hidden"}) problem.extent(name);
    require_floats(problem);
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const auto function =
        embedding_function(problem.at("src_dtype"), problem.at("dst_dtype"), is_vector(problem));
    return std::make_unique<PreparedEmbedding>(
        problem, launch_of(device, problem, config, function), is_vector(problem));
  }

 protected:
  bool is_vector(plug::Params p) const override { return p.at("hidden") % width_of(p) == 0; }
  std::int64_t vectors(plug::Params p) const override {
    return is_vector(p) ? p.at("hidden") / width_of(p) : p.at("hidden");
  }
};

class PreparedRope : public Prepared {
 public:
  PreparedRope(plug::Params p, const Launch& launch, bool is_vector) : launch_(launch) {
    task_.rows = p.at("rows");
    task_.heads = static_cast<std::int32_t>(p.at("heads"));
    task_.head_dim = static_cast<std::int32_t>(p.at("head_dim"));
    task_.half = static_cast<std::int32_t>(p.at("rotary_dim") / 2);
    const std::vector<std::int64_t> dims{task_.rows, task_.heads, task_.head_dim};
    const std::vector<std::int64_t> angles{task_.rows, task_.half};
    operands = {{"src", HM_ROLE_INPUT, p.at("src_dtype"), dims},
                {"cos", HM_ROLE_INPUT, HM_DTYPE_F32, angles},
                {"sin", HM_ROLE_INPUT, HM_DTYPE_F32, angles},
                {"dst", HM_ROLE_OUTPUT, p.at("dst_dtype"), dims}};
    implementation = is_vector ? "rope_vector" : "rope_scalar";
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    RopeTask task = task_;
    task.src = address_of(buffers[0]);
    task.cosine = static_cast<const float*>(address_of(buffers[1]));
    task.sine = static_cast<const float*>(address_of(buffers[2]));
    task.dst = address_of(buffers[3]);
    start(stream, launch_, task);
  }

 private:
  Launch launch_;
  RopeTask task_{};
};

class Rope : public SpreadKernel {
 public:
  std::string_view name() const override { return "rope"; }
  std::string_view op() const override { return "rope"; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    plug::reject_unknown(problem,
                         {"rows", "heads", "head_dim", "rotary_dim", "src_dtype", "dst_dtype"});
    for (const char* name : {"rows", "heads", "head_dim", "rotary_dim"}) problem.extent(name);
    const std::int64_t rotary = problem.at("rotary_dim");
    if (rotary % 2 != 0 || rotary > problem.at("head_dim")) {
      unsupported("rotary_dim must be even and at most head_dim");
    }
    if (problem.at("heads") > INT32_MAX || problem.at("head_dim") > INT32_MAX) {
      unsupported("heads and head_dim must be below 2^31");
    }
    require_floats(problem);
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const auto function =
        rope_function(problem.at("src_dtype"), problem.at("dst_dtype"), is_vector(problem));
    return std::make_unique<PreparedRope>(problem, launch_of(device, problem, config, function),
                                          is_vector(problem));
  }

 protected:
  bool is_vector(plug::Params p) const override {
    const std::int64_t width = width_of(p);
    return p.at("rotary_dim") / 2 % width == 0 && p.at("head_dim") % width == 0;
  }
  std::int64_t vectors(plug::Params p) const override {
    const std::int64_t items = p.at("head_dim") - p.at("rotary_dim") / 2;
    return p.at("heads") * (is_vector(p) ? items / width_of(p) : items);
  }
};

}  // namespace

const Kernel& embedding_kernel() {
  static const Embedding kernel;
  return kernel;
}

const Kernel& rope_kernel() {
  static const Rope kernel;
  return kernel;
}

}  // namespace hm_cuda
