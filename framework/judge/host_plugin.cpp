// The plugin around a kernel that computes in host memory: one device, one op, the problems behind
// the end of its own file. `halmark judge` links the object with the source that it calls.
#include <halmark_judged.hpp>
#include <halmark_plugin.hpp>

#include <cstring>

// Casts and calls the source's entry; generated for the op's operands.
extern "C" void hm_judged_run(void* const* operands, const std::int64_t* sizes);

namespace {

namespace hm = halmark::plugin;

class Prepared {
 public:
  explicit Prepared(const hm::judged::Problem& problem) : problem_(problem) {}

  void info(hm_prepared_info& out) const {
    hm::describe({.implementation = "judged " + hm::judged::carried().source,
                  .isa = {},
                  .library = {},
                  .library_version = {}},
                 problem_.operands, out);
  }

  void operand(std::uint32_t index, hm_operand& out) const {
    hm::describe(problem_.operands[index], out);
  }

  void load_constants(hm::SynchronousStream&, const hm_arguments& arguments) const {
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      if (problem_.operands[i].role != HM_ROLE_CONSTANT) continue;
      std::memcpy(hm::host_pointer<char>(arguments, i), hm::host_source<char>(arguments, i),
                  hm::plain_bytes(problem_.operands[i]));
    }
  }

  void enqueue(hm::SynchronousStream&, const hm_launch& launch) {
    hm::for_each_execution(launch, [this](const hm_arguments& set) {
      for (std::uint32_t i = 0; i < set.count; ++i) addresses_[i] = hm::host_pointer<void>(set, i);
      hm_judged_run(addresses_.data(), problem_.sizes.data());
    });
  }

 private:
  const hm::judged::Problem& problem_;
  std::vector<void*> addresses_ = std::vector<void*>(problem_.operands.size());
};

struct HostMemory {
  void require_support(std::uint32_t, const hm_problem& problem, hm::Params config) const {
    const hm::judged::Carried& kernel = hm::judged::carried();
    if (problem.op != kernel.op) hm::unsupported("the source implements op '" + kernel.op + "'");
    hm::reject_unknown(config, {});
    kernel.at(problem);
  }
  std::unique_ptr<Prepared> prepare(std::uint32_t, const hm_problem& problem, hm::Params) const {
    return std::make_unique<Prepared>(hm::judged::carried().at(problem));
  }
};

struct Backend {
  using Device = HostMemory;
  using Prepared = ::Prepared;
  static constexpr const char* name = hm::judged::backend_name;
  static constexpr const char* version = "1";

  std::uint32_t device_count() const { return hm::judged::carried().is_there() ? 1 : 0; }
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
    hm::copy_text(info.name, hm::judged::carried().kernel);
    hm::copy_text(info.op, hm::judged::carried().op);
  }
};

}  // namespace

HM_PLUGIN(Backend);
