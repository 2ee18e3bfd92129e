// Buffers of every argument set, checked against the contract: what a plugin says about its
// operands is foreign, so names, roles and sizes are compared before a byte is written.
#include "worker/staging/argument_ring.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "kernels/staged_inputs.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// Devices that compile weights in pay seconds and gigabytes per prepared.
constexpr int prepared_sets_max = 8;
constexpr std::uint64_t shared_output_bytes = 2u << 20;
constexpr std::int64_t workspace_alignment = 4096;

bool is_per_set(Role role, CacheMode mode) {
  switch (role) {
    case Role::input:
      return mode == CacheMode::rotate_all;
    case Role::output:
    case Role::in_out:
    case Role::constant:
    case Role::state:
      return true;
  }
  return true;
}

[[noreturn]] void foreign_operand(const PluginInstance& plugin, const OperandSpec& spec,
                                  const std::string& what) {
  throw RequestFailed(HM_INTERNAL, "create",
                      "plugin " + plugin.plugin().name + ", operand " + spec.name + ": " + what +
                          "; its conformance test would show this");
}

// Everything but a packed constant is plain memory of the contract's size.
void check_operand(const PluginInstance& plugin, const OperandSpec& spec, const OperandInfo& info) {
  if (info.name != spec.name) foreign_operand(plugin, spec, "is called '" + info.name + "'");
  if (info.role != as_int(spec.role)) {
    foreign_operand(plugin, spec, "has role " + std::to_string(info.role));
  }
  if (spec.role == Role::constant) return;
  if (info.dtype != spec.dtype) {
    foreign_operand(plugin, spec,
                    "is " + std::string(dtype_name(info.dtype)) + ", the contract " +
                        std::string(dtype_name(spec.dtype)));
  }
  if (info.bytes != as_uint64(spec.bytes())) {
    foreign_operand(plugin, spec,
                    "wants " + std::to_string(info.bytes) + " bytes, the contract " +
                        std::to_string(spec.bytes()));
  }
}

}  // namespace

void fill(OperandBuffer& target, const InputPool& pool, int rank, int set, std::size_t operand) {
  if (target.host()) {
    pool.fill(rank, set, operand, target.host());
    return;
  }
  std::vector<std::byte> plain(target.bytes());
  pool.fill(rank, set, operand, plain.data());
  target.write(plain.data(), plain.size());
}

ArgumentRing::ArgumentRing(DeviceContext& context, PreparedKernels& prepared,
                           const Problem& problem, const protocol::Stage& request)
    : mode_(request.mode), seed_(request.seed), rank_(request.rank) {
  read_operands(context, prepared, problem);
  share_large_outputs(prepared);
  const bool one_set = mode_ == CacheMode::hot || mode_ == CacheMode::flush;
  make_buffers(context, prepared, one_set ? 1 : std::max(1, request.sets));
  build_arguments();
}

void ArgumentRing::read_operands(DeviceContext& context, PreparedKernels& prepared,
                                 const Problem& problem) {
  const std::vector<OperandSpec> specs = find_contract(problem.op)->operands(problem.params);
  if (prepared.info().operand_count != specs.size()) {
    throw RequestFailed(HM_INTERNAL, "create",
                        "plugin " + context.plugin.plugin().name + " returned " +
                            std::to_string(prepared.info().operand_count) + " operands for " +
                            problem.op + ", the contract has " + std::to_string(specs.size()));
  }
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    StagedOperand operand{.spec = specs[i], .info = prepared.operand(i)};
    check_operand(context.plugin, operand.spec, operand.info);
    operand.per_set = is_per_set(operand.spec.role, mode_);
    operands_.push_back(std::move(operand));
  }
}

// A large activation is written in place again, as a runtime reuses its memory: a fresh buffer per
// set would make the output cold. Only where every set gives the same output, so that each can
// still be verified. Such a call lasts longer than the shortest sample, so repeats, whose outputs
// must be told apart, do not occur.
void ArgumentRing::share_large_outputs(const PreparedKernels& prepared) {
  constexpr std::uint32_t sets_differ =
      HM_PREPARED_CONSTANTS_OPAQUE | HM_PREPARED_CONSTANTS_IN_PREPARED;
  if (mode_ != CacheMode::rotate_const || has(Role::state) || prepared.has(sets_differ)) return;
  for (StagedOperand& operand : operands_) {
    if (operand.spec.role == Role::output && operand.info.bytes >= shared_output_bytes) {
      operand.per_set = false;
    }
  }
}

void ArgumentRing::make_buffers(DeviceContext& context, const PreparedKernels& prepared,
                                int wanted_sets) {
  if (prepared.has(HM_PREPARED_CONSTANTS_IN_PREPARED)) {
    wanted_sets = std::min(wanted_sets, prepared_sets_max);
  }
  if (prepared.info().workspace_bytes > 0) {
    workspace_ =
        *OperandBuffer::create(context.device, context.memory, prepared.info().workspace_bytes,
                               workspace_alignment, Fallback::own_mapping);
  }
  while (sets() < wanted_sets && add_set(context)) {
  }
}

// False when memory is full. Set 0 always fits or the case fails.
bool ArgumentRing::add_set(DeviceContext& context) {
  const bool is_first = buffers_.empty();
  std::vector<OperandBuffer> row(operands_.size());
  for (const auto i : indices(operands_)) {
    const StagedOperand& operand = operands_[i];
    if (operand.info.bytes == 0 || (!is_first && !operand.per_set)) continue;
    try {
      auto made = OperandBuffer::create(context.device, context.memory, operand.info.bytes,
                                        operand.info.alignment,
                                        is_first ? Fallback::own_mapping : Fallback::none);
      if (!made) return false;
      row[i] = std::move(*made);
    } catch (const RequestFailed& failure) {
      if (is_first || failure.failed().code != HM_OUT_OF_MEMORY) throw;
      return false;
    }
  }
  buffers_.push_back(std::move(row));
  return true;
}

void ArgumentRing::build_arguments() {
  const auto count = as_uint32(operands_.size());
  for (const int set : below(sets())) {
    std::vector<hm_buffer*> row =
        mapped(indices(operands_), [&](const auto i) { return buffer(set, i).handle(); });
    handles_.push_back(std::move(row));
  }
  for (const int i : below(2 * sets())) {
    std::vector<hm_buffer*>& row = handles_[as_size(i % sets())];
    arguments_.push_back({row.data(), nullptr, count, 0});
  }
}

bool ArgumentRing::has(Role role) const {
  return std::ranges::any_of(operands_,
                             [&](const StagedOperand& o) { return o.spec.role == role; });
}

std::vector<protocol::StagedMemory> ArgumentRing::memory() const {
  std::vector<protocol::StagedMemory> out;
  for (const auto i : indices(operands_)) {
    const OperandInfo& info = operands_[i].info;
    protocol::StagedMemory& entry = out.emplace_back();
    entry.operand = as_int64(i);
    entry.bytes = as_int64(info.bytes);
    entry.alignment = as_int64(info.alignment);
    for (const std::vector<OperandBuffer>& row : buffers_) {
      if (row[i].handle() == nullptr) continue;
      entry.buffers += 1;
      entry.allocated_bytes += as_int64(row[i].allocated_bytes());
      entry.is_host = row[i].host() != nullptr;
    }
  }
  if (workspace_.handle() != nullptr) {
    out.push_back({.operand = protocol::StagedMemory::workspace,
                   .bytes = as_int64(workspace_.bytes()),
                   .alignment = workspace_alignment,
                   .buffers = 1,
                   .allocated_bytes = as_int64(workspace_.allocated_bytes()),
                   .is_host = workspace_.host() != nullptr});
  }
  return out;
}

OperandBuffer& ArgumentRing::buffer(int set, std::size_t operand) {
  const std::size_t row = operands_[operand].per_set ? as_size(set) : 0;
  return buffers_[row][operand];
}

void ArgumentRing::fill_inputs() {
  for (const auto i : indices(operands_)) {
    const Role role = operands_[i].spec.role;
    if (role == Role::output || role == Role::constant) continue;
    const int copies = operands_[i].per_set ? sets() : 1;
    for (const int set : below(copies)) {
      fill_operand(set, i, source_set(role, mode_, true, set));
    }
  }
}

void ArgumentRing::fill_operand(int set, std::size_t operand, int from_set) {
  fill(buffer(set, operand), InputPool(seed_, operands_[operand].spec), rank_, from_set, operand);
}

void ArgumentRing::fill_other(OperandBuffer& other, std::size_t operand, int from_set) const {
  fill(other, InputPool(seed_, operands_[operand].spec), rank_, from_set, operand);
}

hm_launch ArgumentRing::launch(int first_set, std::int64_t repeat) noexcept {
  return {.struct_size = sizeof(hm_launch),
          .set_count = as_uint32(sets()),
          .repeat = as_uint64(repeat),
          .sets = arguments_.data() + first_set,
          .workspace = workspace_.handle()};
}

hm_launch ArgumentRing::launch_on(const hm_arguments& arguments) noexcept {
  return {.struct_size = sizeof(hm_launch),
          .set_count = 1,
          .repeat = 1,
          .sets = &arguments,
          .workspace = workspace_.handle()};
}

std::vector<Activation> ArgumentRing::outputs_of(int set) {
  std::vector<Activation> out;
  for (const auto i : indices(operands_)) {
    if (operands_[i].spec.role != Role::output) continue;
    out.push_back({i, operands_[i].spec.dtype, operands_[i].info.bytes, buffer(set, i).handle()});
  }
  return out;
}

std::vector<Activation> ArgumentRing::replaceable_inputs(int set) {
  std::vector<Activation> out;
  for (const auto i : indices(operands_)) {
    const OperandSpec& spec = operands_[i].spec;
    const bool is_address =
        spec.distribution == Distribution::indices || spec.distribution == Distribution::given;
    if (spec.role != Role::input || is_address) continue;
    out.push_back({i, spec.dtype, operands_[i].info.bytes, buffer(set, i).handle()});
  }
  return out;
}

void ArgumentRing::poison_outputs() {
  for (const int set : below(sets())) {
    for (const auto i : indices(operands_)) {
      if (operands_[i].spec.role == Role::output) buffer(set, i).poison();
    }
  }
}

std::uint64_t ArgumentRing::marked_at(std::uint64_t bytes) const {
  return bytes == 0 ? 0 : mark_offset_ % bytes / line_bytes * line_bytes;
}

void ArgumentRing::mark_outputs(int first_set, std::int64_t repeat) {
  constexpr std::uint64_t step = 64 * 17;  // another line every time, whatever the size
  mark_offset_ += step;
  const int count = as_int(std::min<std::int64_t>(repeat, sets()));
  for (const int i : below(count)) {
    const int set = (first_set + i) % sets();
    for (const auto operand : indices(operands_)) {
      if (operands_[operand].spec.role != Role::output) continue;
      buffer(set, operand).poison_line(mark_offset_);
    }
  }
}

}  // namespace halmark::worker
