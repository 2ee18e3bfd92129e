// The backend @NAME@: one device that computes in host memory, two ops, one tunable parameter each.
// What is not here (memory, streams, error texts, the C tables) comes with the sugar.
#include <halmark_plugin.hpp>

#include <algorithm>
#include <cstring>

namespace {

namespace hm = halmark::plugin;

constexpr std::int64_t default_columns = 64;
constexpr std::int64_t default_chunk_bytes = 1 << 16;

// One problem, ready to run: describes its operands, then executes launches.
class Prepared {
 public:
  virtual ~Prepared() = default;
  virtual void info(hm_prepared_info& info) const = 0;
  // The order and the names of operands are those of the op's contract.
  virtual void operand(std::uint32_t index, hm_operand& out) const = 0;
  virtual void execute(const hm_arguments& arguments) const = 0;
  // Once per argument set, never timed with the executions: the place to pack weights.
  virtual void load_constants(hm::SynchronousStream&, const hm_arguments&) const {}

  void enqueue(hm::SynchronousStream&, const hm_launch& launch) const {
    hm::for_each_execution(launch, [this](const hm_arguments& set) { execute(set); });
  }
};

// dst[m,n] = src[m,k] wei[k,n] in f32: a block of columns of one row at a time.
class Gemm : public Prepared {
 public:
  Gemm(const hm_problem& problem, hm::Params config)
      : m_(hm::require_param(problem, "m")),
        n_(hm::require_param(problem, "n")),
        k_(hm::require_param(problem, "k")),
        columns_(hm::param_or(config, "columns", default_columns)) {}

  void info(hm_prepared_info& info) const override {
    info.operand_count = 3;
    hm::copy_text(info.implementation, "gemm by blocks of " + std::to_string(columns_));
    hm::copy_text(info.library, "hm_@NAME@");
  }

  void operand(std::uint32_t index, hm_operand& out) const override {
    if (index == 0) hm::plain_operand(out, "src", HM_ROLE_INPUT, HM_DTYPE_F32, {m_, k_});
    if (index == 1) hm::plain_operand(out, "wei", HM_ROLE_CONSTANT, HM_DTYPE_F32, {k_, n_});
    if (index == 2) hm::plain_operand(out, "dst", HM_ROLE_OUTPUT, HM_DTYPE_F32, {m_, n_});
  }

  void load_constants(hm::SynchronousStream&, const hm_arguments& arguments) const override {
    const auto count = static_cast<std::size_t>(k_ * n_);
    std::memcpy(hm::host_pointer<float>(arguments, 1), hm::host_source<float>(arguments, 1),
                count * sizeof(float));
  }

  void execute(const hm_arguments& arguments) const override {
    const float* src = hm::host_pointer<float>(arguments, 0);
    const float* wei = hm::host_pointer<float>(arguments, 1);
    float* dst = hm::host_pointer<float>(arguments, 2);
    for (std::int64_t first = 0; first < n_; first += columns_) {
      const std::int64_t count = std::min(columns_, n_ - first);
      for (std::int64_t row = 0; row < m_; ++row) {
        block(src + row * k_, wei + first, dst + row * n_ + first, count);
      }
    }
  }

 private:
  void block(const float* src, const float* wei, float* dst, std::int64_t count) const {
    std::fill_n(dst, count, 0.0f);
    for (std::int64_t i = 0; i < k_; ++i) {
      for (std::int64_t j = 0; j < count; ++j) dst[j] += src[i] * wei[i * n_ + j];
    }
  }

  std::int64_t m_, n_, k_, columns_;
};

class Copy : public Prepared {
 public:
  Copy(const hm_problem& problem, hm::Params config)
      : bytes_(hm::require_param(problem, "bytes")),
        chunk_bytes_(hm::param_or(config, "chunk_bytes", default_chunk_bytes)) {}

  void info(hm_prepared_info& info) const override {
    info.operand_count = 2;
    hm::copy_text(info.implementation, "memcpy in chunks of " + std::to_string(chunk_bytes_));
    hm::copy_text(info.library, "libc");
  }

  void operand(std::uint32_t index, hm_operand& out) const override {
    const bool is_source = index == 0;
    hm::plain_operand(out, is_source ? "src" : "dst", is_source ? HM_ROLE_INPUT : HM_ROLE_OUTPUT,
                      HM_DTYPE_U8, {bytes_});
  }

  void execute(const hm_arguments& arguments) const override {
    const char* source = hm::host_pointer<char>(arguments, 0);
    char* target = hm::host_pointer<char>(arguments, 1);
    for (std::int64_t at = 0; at < bytes_; at += chunk_bytes_) {
      const std::int64_t count = std::min(chunk_bytes_, bytes_ - at);
      std::memcpy(target + at, source + at, static_cast<std::size_t>(count));
    }
  }

 private:
  std::int64_t bytes_, chunk_bytes_;
};

void require_positive(hm::Params params, const char* name, std::int64_t fallback) {
  if (hm::param_or(params, name, fallback) < 1) {
    throw hm::failure(HM_UNSUPPORTED, std::string(name) + " below 1");
  }
}

void require_gemm(const hm_problem& problem, hm::Params config) {
  hm::reject_unknown(problem, {"m", "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
  hm::reject_unknown(config, {"columns"});
  for (const char* size : {"m", "n", "k"}) require_positive(problem, size, 0);
  require_positive(config, "columns", default_columns);
  for (const char* dtype : {"src_dtype", "wei_dtype", "dst_dtype"}) {
    if (hm::require_param(problem, dtype) != HM_DTYPE_F32) {
      throw hm::failure(HM_UNSUPPORTED, std::string(dtype) + " other than f32");
    }
  }
  if (hm::param_or(problem, "wei_trans", 0) != 0) {
    throw hm::failure(HM_UNSUPPORTED, "transposed weights");
  }
}

void require_copy(const hm_problem& problem, hm::Params config) {
  hm::reject_unknown(problem, {"bytes"});
  hm::reject_unknown(config, {"chunk_bytes"});
  require_positive(problem, "bytes", 0);
  require_positive(config, "chunk_bytes", default_chunk_bytes);
}

// Kernels are numbered; the first that supports a problem is the backend's default for it.
constexpr std::uint32_t gemm_kernel = 0, copy_kernel = 1, kernel_count = 2;

struct HostMemory {
  // What a search may change for this problem. Anything else in a config is refused above.
  std::vector<hm::Domain> domains(std::uint32_t kernel, const hm_problem&) const {
    if (kernel == gemm_kernel) return {hm::domain::pow2("columns", 16, 256, default_columns)};
    return {hm::domain::pow2("chunk_bytes", 1 << 12, 1 << 20, default_chunk_bytes)};
  }

  void require_support(std::uint32_t kernel, const hm_problem& problem, hm::Params config) const {
    kernel == gemm_kernel ? require_gemm(problem, config) : require_copy(problem, config);
  }

  std::unique_ptr<Prepared> prepare(std::uint32_t kernel, const hm_problem& problem,
                                    hm::Params config) const {
    if (kernel == gemm_kernel) return std::make_unique<Gemm>(problem, config);
    return std::make_unique<Copy>(problem, config);
  }
};

struct Backend {
  using Device = HostMemory;
  using Prepared = ::Prepared;
  static constexpr const char* name = "@NAME@";
  static constexpr const char* version = "0.1";

  std::uint32_t device_count() const { return 1; }
  void describe(std::uint32_t, hm_device_info& info) const {
    info.kind = HM_DEVICE_CPU;
    info.timer = HM_TIMER_HOST_CLOCK;
    info.flags = HM_DEVICE_SYNCHRONOUS;
    hm::copy_text(info.id, "0");
    hm::copy_text(info.name, "host memory");
  }
  std::unique_ptr<HostMemory> open(std::uint32_t, hm::Params options) const {
    hm::reject_unknown(options, {"threads"});
    return std::make_unique<HostMemory>();
  }
  std::uint32_t kernel_count() const { return ::kernel_count; }
  void describe_kernel(std::uint32_t kernel, hm_kernel_info& info) const {
    hm::copy_text(info.name, kernel == gemm_kernel ? "blocked_gemm" : "chunked_copy");
    hm::copy_text(info.op, kernel == gemm_kernel ? "gemm" : "copy");
  }
};

}  // namespace

HM_PLUGIN(Backend);
