// Packing the head of a model takes 100 ms and more: set 0 is packed, the others are copies, unless
// the plugin forbids copying or every operand has to differ between sets.
#include "worker/staging/staged_constants.hpp"

#include <algorithm>

#include "kernels/staged_inputs.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// The constants of one set in plain layout, as load_constants reads them.
class PlainConstants {
 public:
  PlainConstants(DeviceContext& context, const ArgumentRing& ring, const protocol::Stage& request,
                 bool shared, int set)
      : ring_(ring),
        buffers_(ring.operands().size()),
        handles_(ring.operands().size(), nullptr),
        before_(ring.operands().size(), 0) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const OperandSpec& spec = ring.operands()[i].spec;
      if (spec.role != Role::constant) continue;
      buffers_[i] = *OperandBuffer::create(context.device, context.memory,
                                           static_cast<std::uint64_t>(spec.bytes()), 64,
                                           Fallback::own_mapping);
      fill(buffers_[i], InputPool(request.seed, spec), request.rank,
           source_set(spec.role, request.mode, shared, set), i);
      handles_[i] = buffers_[i].handle();
      before_[i] = buffers_[i].checksum();
    }
  }

  hm_buffer** handles() { return handles_.data(); }

  void require_unchanged() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!handles_[i]) continue;
      if (buffers_[i].canaries_intact() && buffers_[i].checksum() == before_[i]) continue;
      throw RequestFailed(HM_INTERNAL, "pack",
                          "load_constants changed its source " + ring_.operands()[i].spec.name);
    }
  }

 private:
  const ArgumentRing& ring_;
  std::vector<OperandBuffer> buffers_;
  std::vector<hm_buffer*> handles_;
  std::vector<std::uint64_t> before_;  // checksums
};

// Gives the time of the call, wait included.
double pack(DeviceContext& context, PreparedKernels& prepared, ArgumentRing& ring, int set,
            PlainConstants sources) {
  std::vector<hm_buffer*> targets = ring.handles(set);
  const hm_arguments arguments{targets.data(), sources.handles(),
                               static_cast<std::uint32_t>(targets.size()), 0};
  const double begin_ns = context.clock.wall_ns();
  check(prepared.of(set).load_constants(context.stream, arguments), "pack");
  check(context.stream.wait(), "pack");
  const double pack_ns = context.clock.wall_ns() - begin_ns;
  sources.require_unchanged();
  return pack_ns;
}

void copy_from_first(ArgumentRing& ring, int set) {
  for (std::size_t i = 0; i < ring.operands().size(); ++i) {
    const StagedOperand& operand = ring.operands()[i];
    if (operand.spec.role != Role::constant || operand.info.bytes == 0) continue;
    OperandBuffer& source = ring.buffer(0, i);
    if (source.host()) {
      ring.buffer(set, i).write(source.host(), source.bytes());
      continue;
    }
    std::vector<std::byte> packed(source.bytes());
    source.read(packed.data(), packed.size());
    ring.buffer(set, i).write(packed.data(), packed.size());
  }
}

}  // namespace

StagedConstants load_constants(DeviceContext& context, PreparedKernels& prepared,
                               ArgumentRing& ring, const protocol::Stage& request,
                               const ReportPhase& report) {
  if (!prepared.can_load_constants()) {
    throw RequestFailed(
        HM_INTERNAL, "pack",
        "plugin " + context.plugin.plugin().name + " has constant operands but no load_constants");
  }
  const bool compiled_in = prepared.has(HM_PREPARED_CONSTANTS_IN_PREPARED);
  StagedConstants constants;
  constants.shared = !compiled_in && !prepared.has(HM_PREPARED_CONSTANTS_OPAQUE) &&
                     request.mode != CacheMode::rotate_all;
  const auto pack_set = [&](int set) {
    return pack(context, prepared, ring, set, {context, ring, request, constants.shared, set});
  };
  report("pack");
  constants.pack_ns = pack_set(0);
  const bool has_own_outputs =
      std::ranges::all_of(ring.operands(), [](const StagedOperand& operand) {
        return operand.spec.role != Role::output || operand.per_set;
      });
  const int witness = request.witness.value_or(0);
  if (constants.shared && has_own_outputs && witness > 0 && witness < ring.sets()) {
    constants.witness = witness;
  }
  for (int set = 1; set < ring.sets(); ++set) {
    if (set == constants.witness) {
      pack(context, prepared, ring, set, {context, ring, request, false, set});
      continue;
    }
    if (constants.shared) {
      copy_from_first(ring, set);
      continue;
    }
    if (compiled_in) prepared.add();
    pack_set(set);
  }
  return constants;
}

}  // namespace halmark::worker
