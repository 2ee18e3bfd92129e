// Packing the head of a model takes 100 ms and more: set 0 is packed, the others are copies, unless
// the plugin forbids copying or every operand has to differ between sets.
#include "worker/staging/staged_constants.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "kernels/staged_inputs.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// Constants in plain layout, as load_constants reads them: those of set `from_set` of the inputs.
class PlainConstants {
 public:
  PlainConstants(DeviceContext& context, const ArgumentRing& ring, int from_set)
      : ring_(ring),
        buffers_(ring.operands().size()),
        handles_(ring.operands().size(), nullptr),
        before_(ring.operands().size(), 0) {
    for (const auto i : indices(buffers_)) {
      const OperandSpec& spec = ring.operands()[i].spec;
      if (spec.role != Role::constant) continue;
      buffers_[i] = *OperandBuffer::create(context.device, context.memory, as_uint64(spec.bytes()),
                                           64, Fallback::own_mapping);
      ring.fill_other(buffers_[i], i, from_set);
      handles_[i] = buffers_[i].handle();
      before_[i] = buffers_[i].checksum();
    }
  }

  hm_buffer** handles() { return handles_.data(); }

  void require_unchanged() {
    for (const auto i : indices(buffers_)) {
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
double pack(DeviceContext& context, PreparedKernels& prepared, int set,
            std::vector<hm_buffer*> targets, PlainConstants sources) {
  const hm_arguments arguments{targets.data(), sources.handles(), as_uint32(targets.size()), 0};
  const double begin_ns = context.clock.wall_ns();
  check(prepared.of(set).load_constants(context.stream, arguments), "pack");
  check(context.stream.wait(), "pack");
  const double pack_ns = context.clock.wall_ns() - begin_ns;
  sources.require_unchanged();
  return pack_ns;
}

void copy_from_first(ArgumentRing& ring, int set) {
  for (const auto i : indices(ring.operands())) {
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
    const int from_set = source_set(Role::constant, request.mode, constants.shared, set);
    return pack(context, prepared, set, ring.handles(set), {context, ring, from_set});
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
      const int from_set = source_set(Role::constant, request.mode, false, set);
      pack(context, prepared, set, ring.handles(set), {context, ring, from_set});
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

ReplacedConstants::ReplacedConstants(DeviceContext& context, PreparedKernels& prepared,
                                     ArgumentRing& ring, int set, int from_set)
    : ring_(ring), set_(set), before_(ring.operands().size()) {
  std::vector<OperandBuffer> packed(before_.size());
  std::vector<hm_buffer*> targets = ring.handles(set);
  for (const auto i : indices(packed)) {
    const StagedOperand& operand = ring.operands()[i];
    if (operand.spec.role != Role::constant || operand.info.bytes == 0) continue;
    packed[i] = *OperandBuffer::create(context.device, context.memory, operand.info.bytes,
                                       operand.info.alignment, Fallback::own_mapping);
    targets[i] = packed[i].handle();
  }
  pack(context, prepared, set, std::move(targets), {context, ring, from_set});
  for (const auto i : indices(packed)) {
    if (packed[i].handle() == nullptr) continue;
    before_[i].resize(packed[i].bytes());
    ring.buffer(set, i).read(before_[i].data(), before_[i].size());
    std::vector<std::byte> others(packed[i].bytes());
    packed[i].read(others.data(), others.size());
    ring.buffer(set, i).write(others.data(), others.size());
  }
}

void ReplacedConstants::restore() {
  for (const auto i : indices(before_)) {
    if (!before_[i].empty()) ring_.buffer(set_, i).write(before_[i].data(), before_[i].size());
  }
}

}  // namespace halmark::worker
