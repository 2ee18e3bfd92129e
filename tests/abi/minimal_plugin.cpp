#include <halmark_plugin.hpp>

namespace {

using namespace halmark::plugin;

struct Copy {
  explicit Copy(std::int64_t bytes) : bytes(bytes) {}
  std::int64_t bytes;

  void info(hm_prepared_info& info) const {
    info.operand_count = 2;
    copy_text(info.implementation, "memcpy");
    copy_text(info.library, "minimal");
  }
  void operand(std::uint32_t index, hm_operand& out) const {
    plain_operand(out, index == 0 ? "src" : "dst", index == 0 ? HM_ROLE_INPUT : HM_ROLE_OUTPUT,
                  HM_DTYPE_U8, {bytes});
  }
  void enqueue(SynchronousStream&, const hm_launch& launch) const {
    for_each_execution(launch, [&](const hm_arguments& set) {
      std::memcpy(host_pointer<char>(set, 1), host_pointer<char>(set, 0),
                  static_cast<std::size_t>(bytes));
    });
  }
};

struct Cpu {
  void require_support(std::uint32_t, const hm_problem& problem, Params config) const {
    reject_unknown(problem, {"bytes"});
    reject_unknown(config, {});
    if (require_param(problem, "bytes") < 1) throw failure(HM_UNSUPPORTED, "bytes below 1");
  }
  std::unique_ptr<Copy> prepare(std::uint32_t, const hm_problem& problem, Params) const {
    return std::make_unique<Copy>(require_param(problem, "bytes"));
  }
};

struct Minimal {
  using Device = Cpu;
  using Prepared = Copy;
  static constexpr const char* name = "minimal";
  static constexpr const char* version = "1.0";

  std::uint32_t device_count() const { return 1; }
  void describe(std::uint32_t, hm_device_info& info) const {
    info.kind = HM_DEVICE_CPU;
    info.timer = HM_TIMER_HOST_CLOCK;
    info.flags = HM_DEVICE_SYNCHRONOUS;
    copy_text(info.id, "0");
    copy_text(info.name, "host memory");
  }
  std::unique_ptr<Cpu> open(std::uint32_t, Params options) const {
    reject_unknown(options, {"threads"});
    return std::make_unique<Cpu>();
  }
  std::uint32_t kernel_count() const { return 1; }
  void describe_kernel(std::uint32_t, hm_kernel_info& info) const {
    copy_text(info.name, "copy");
    copy_text(info.op, "copy");
  }
};

}  // namespace

HM_PLUGIN(Minimal);
