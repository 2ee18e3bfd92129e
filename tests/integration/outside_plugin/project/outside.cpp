// A whole backend: one device, one op (copy), one tunable parameter. Everything that is not here
// (memory, streams, error texts, the C tables) comes with the sugar.
#include <halmark_plugin.hpp>

namespace {

namespace hm = halmark::plugin;

// One problem, ready to run: describes its operands, then executes launches.
class Copy {
 public:
  Copy(std::int64_t bytes, std::int64_t chunk_bytes) : bytes_(bytes), chunk_bytes_(chunk_bytes) {}

  void info(hm_prepared_info& info) const {
    info.operand_count = 2;
    hm::copy_text(info.implementation, "memcpy in chunks of " + std::to_string(chunk_bytes_));
    hm::copy_text(info.library, "libc");
  }

  // The order and the names of operands are those of the op's contract.
  void operand(std::uint32_t index, hm_operand& out) const {
    const bool is_source = index == 0;
    hm::plain_operand(out, is_source ? "src" : "dst", is_source ? HM_ROLE_INPUT : HM_ROLE_OUTPUT,
                      HM_DTYPE_U8, {bytes_});
  }

  void enqueue(hm::SynchronousStream&, const hm_launch& launch) const {
    hm::for_each_execution(launch, [this](const hm_arguments& set) {
      const char* source = hm::host_pointer<char>(set, 0);
      char* target = hm::host_pointer<char>(set, 1);
      for (std::int64_t at = 0; at < bytes_; at += chunk_bytes_) {
        const std::int64_t count = std::min(chunk_bytes_, bytes_ - at);
        std::memcpy(target + at, source + at, static_cast<std::size_t>(count));
      }
    });
  }

 private:
  std::int64_t bytes_, chunk_bytes_;
};

struct HostMemory {
  static constexpr std::int64_t default_chunk_bytes = 1 << 16;

  // What a search may change for this problem. Anything else in a config is refused below.
  std::vector<hm::Domain> domains(std::uint32_t, const hm_problem&) const {
    return {hm::domain::pow2("chunk_bytes", 1 << 12, 1 << 20, default_chunk_bytes)};
  }

  void require_support(std::uint32_t, const hm_problem& problem, hm::Params config) const {
    hm::reject_unknown(problem, {"bytes"});
    hm::reject_unknown(config, {"chunk_bytes"});
    if (hm::require_param(problem, "bytes") < 1) {
      throw hm::failure(HM_UNSUPPORTED, "bytes below 1");
    }
    if (hm::param_or(config, "chunk_bytes", default_chunk_bytes) < 1) {
      throw hm::failure(HM_UNSUPPORTED, "chunk_bytes below 1");
    }
  }

  std::unique_ptr<Copy> prepare(std::uint32_t, const hm_problem& problem, hm::Params config) const {
    return std::make_unique<Copy>(hm::require_param(problem, "bytes"),
                                  hm::param_or(config, "chunk_bytes", default_chunk_bytes));
  }
};

struct Outside {
  using Device = HostMemory;
  using Prepared = Copy;
  static constexpr const char* name = "outside";
  static constexpr const char* version = "1.0";

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
  std::uint32_t kernel_count() const { return 1; }
  void describe_kernel(std::uint32_t, hm_kernel_info& info) const {
    hm::copy_text(info.name, "chunked_copy");
    hm::copy_text(info.op, "copy");
  }
};

}  // namespace

HM_PLUGIN(Outside);
