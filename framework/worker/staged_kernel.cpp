#include "worker/staged_kernel.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/inputs.hpp"
#include "kernels/staged_inputs.hpp"
#include "worker/kernel_choice.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

// Devices that compile weights in pay seconds and gigabytes per prepared.
constexpr int prepared_sets_max = 8;
constexpr std::uint64_t shared_output_bytes = 2u << 20;

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
  if (info.role != static_cast<std::int32_t>(spec.role)) {
    foreign_operand(plugin, spec, "has role " + std::to_string(info.role));
  }
  if (spec.role == Role::constant) return;
  if (info.dtype != spec.dtype) {
    foreign_operand(plugin, spec,
                    "is " + std::string(dtype_name(info.dtype)) + ", the contract " +
                        std::string(dtype_name(spec.dtype)));
  }
  if (info.bytes != static_cast<std::uint64_t>(spec.bytes())) {
    foreign_operand(plugin, spec,
                    "wants " + std::to_string(info.bytes) + " bytes, the contract " +
                        std::to_string(spec.bytes()));
  }
}

void fill(OperandBuffer& target, const InputPool& pool, int rank, int set, std::size_t operand) {
  if (target.host()) {
    pool.fill(rank, set, operand, target.host());
    return;
  }
  std::vector<std::byte> plain(target.bytes());
  pool.fill(rank, set, operand, plain.data());
  target.write(plain.data(), plain.size());
}

}  // namespace

StagedKernel::StagedKernel(DeviceContext& context, const protocol::Stage& request,
                           const ReportPhase& report)
    : context_(context), mode_(request.mode), seed_(request.seed), rank_(request.rank) {
  contract_ = find_contract(request.problem.op);
  problem_ = complete_problem(request.problem);
  work_ = contract_->work(problem_.params);
  staged_.id = request.id;
  report("create");
  prepare(request);
  read_operands();
  const bool one_set = mode_ == CacheMode::hot || mode_ == CacheMode::flush;
  make_buffers(one_set ? 1 : std::max(1, request.sets));
  fill_inputs();
  if (has_constants()) load_constants(request.seed, request.rank, report);
  build_arguments();
  poison_outputs();
  remember_checksums();
  first_call(report);
}

void StagedKernel::prepare(const protocol::Stage& request) {
  const KernelChoice choice = choose_kernel(context_, request.kernel, problem_, request.config);
  kernel_index_ = choice.index;
  config_ = choice.config;
  is_collective_ = choice.communicator != nullptr && problem_.params.value_or("ranks", 1) > 1;
  const bool has_config = !config_.params.empty();
  const double begin_ns = context_.clock.wall_ns();
  prepared_.push_back(
      take(context_.device.prepare(kernel_index_, problem_, has_config ? &config_ : nullptr,
                                   choice.communicator),
           "create"));
  staged_.one_time.create_ns = context_.clock.wall_ns() - begin_ns;
  const PreparedInfo info = take(prepared_.front().info(), "create");
  flags_ = info.flags;
  staged_.kernel = choice.name;
  staged_.implementation = info.implementation;
  staged_.workspace_bytes = static_cast<std::int64_t>(info.workspace_bytes);
  staged_.constant_bytes = static_cast<std::int64_t>(info.constant_bytes);
  staged_.nondeterministic = (flags_ & HM_PREPARED_NONDETERMINISTIC) != 0;
  staged_.constants_opaque = (flags_ & HM_PREPARED_CONSTANTS_OPAQUE) != 0;
}

void StagedKernel::read_operands() {
  const std::vector<OperandSpec> specs = contract_->operands(problem_.params);
  const PreparedInfo info = take(prepared_.front().info(), "create");
  if (info.operand_count != specs.size()) {
    throw RequestFailed(HM_INTERNAL, "create",
                        "plugin " + context_.plugin.plugin().name + " returned " +
                            std::to_string(info.operand_count) + " operands for " + problem_.op +
                            ", the contract has " + std::to_string(specs.size()));
  }
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    Operand operand{.spec = specs[i], .info = take(prepared_.front().operand(i), "create")};
    check_operand(context_.plugin, operand.spec, operand.info);
    operand.per_set = is_per_set(operand.spec.role, mode_);
    operands_.push_back(std::move(operand));
  }
  share_large_outputs();
}

// A large activation is written in place again, as a runtime reuses its memory: a fresh buffer per
// set would make the output cold. Only where every set gives the same output, so that each can
// still be verified. Such a call lasts longer than the shortest sample, so repeats, whose outputs
// must be told apart, do not occur.
void StagedKernel::share_large_outputs() {
  constexpr std::uint32_t sets_differ =
      HM_PREPARED_CONSTANTS_OPAQUE | HM_PREPARED_CONSTANTS_IN_PREPARED;
  const bool has_state =
      std::ranges::any_of(operands_, [](const Operand& o) { return o.spec.role == Role::state; });
  if (mode_ != CacheMode::rotate_const || has_state || (flags_ & sets_differ) != 0) return;
  for (Operand& operand : operands_) {
    if (operand.spec.role == Role::output && operand.info.bytes >= shared_output_bytes) {
      operand.per_set = false;
    }
  }
}

// Set 0 always; further sets as long as memory lasts. The row says how many there really are.
void StagedKernel::make_buffers(int wanted_sets) {
  if (flags_ & HM_PREPARED_CONSTANTS_IN_PREPARED) {
    wanted_sets = std::min(wanted_sets, prepared_sets_max);
  }
  if (staged_.workspace_bytes > 0) {
    workspace_ = *OperandBuffer::create(context_.device, context_.memory,
                                        static_cast<std::uint64_t>(staged_.workspace_bytes), 4096,
                                        Fallback::own_mapping);
  }
  for (int set = 0; set < wanted_sets; ++set) {
    std::vector<OperandBuffer> row(operands_.size());
    bool complete = true;
    for (std::size_t i = 0; i < operands_.size() && complete; ++i) {
      const Operand& operand = operands_[i];
      if (operand.info.bytes == 0 || (set > 0 && !operand.per_set)) continue;
      try {
        auto made = OperandBuffer::create(context_.device, context_.memory, operand.info.bytes,
                                          operand.info.alignment,
                                          set == 0 ? Fallback::own_mapping : Fallback::none);
        complete = made.has_value();
        if (made) row[i] = std::move(*made);
      } catch (const RequestFailed& failure) {
        if (set == 0 || failure.failed().code != HM_OUT_OF_MEMORY) throw;
        complete = false;
      }
    }
    if (!complete) break;
    buffers_.push_back(std::move(row));
  }
  staged_.sets = static_cast<int>(buffers_.size());
}

OperandBuffer& StagedKernel::buffer(int set, std::size_t operand) {
  const std::size_t row = operands_[operand].per_set ? static_cast<std::size_t>(set) : 0;
  return buffers_[row][operand];
}

bool StagedKernel::has_constants() const {
  return std::ranges::any_of(operands_,
                             [](const Operand& o) { return o.spec.role == Role::constant; });
}

void StagedKernel::fill_inputs() {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Role role = operands_[i].spec.role;
    if (role == Role::output || role == Role::constant) continue;
    const int sets = operands_[i].per_set ? staged_.sets : 1;
    for (int set = 0; set < sets; ++set) {
      fill_operand(set, i, source_set(role, mode_, true, set));
    }
  }
}

void StagedKernel::fill_operand(int set, std::size_t operand, int from_set) {
  fill(buffer(set, operand), InputPool(seed_, operands_[operand].spec), rank_, from_set, operand);
}

// Packing the head of a model takes 100 ms and more: set 0 is packed, the others are copies, unless
// the plugin forbids copying or every operand has to differ between sets.
void StagedKernel::load_constants(std::uint64_t seed, int rank, const ReportPhase& report) {
  if (!prepared_.front().can_load_constants()) {
    throw RequestFailed(
        HM_INTERNAL, "pack",
        "plugin " + context_.plugin.plugin().name + " has constant operands but no load_constants");
  }
  const bool compiled_in = (flags_ & HM_PREPARED_CONSTANTS_IN_PREPARED) != 0;
  staged_.constants_shared =
      !compiled_in && !staged_.constants_opaque && mode_ != CacheMode::rotate_all;
  report("pack");
  load_constants_of(0, seed, rank, &staged_.one_time.pack_ns);
  for (int set = 1; set < staged_.sets; ++set) {
    if (staged_.constants_shared) {
      copy_constants(set);
      continue;
    }
    if (compiled_in) {
      prepared_.push_back(take(context_.device.prepare(kernel_index_, problem_,
                                                       config_.params.empty() ? nullptr : &config_),
                               "create"));
    }
    load_constants_of(set, seed, rank, nullptr);
  }
}

void StagedKernel::load_constants_of(int set, std::uint64_t seed, int rank, double* duration_ns) {
  std::vector<OperandBuffer> sources(operands_.size());
  std::vector<hm_buffer*> source_handles(operands_.size(), nullptr);
  std::vector<hm_buffer*> target_handles(operands_.size(), nullptr);
  std::vector<std::uint64_t> before(operands_.size(), 0);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    target_handles[i] = buffer(set, i).handle();
    const OperandSpec& spec = operands_[i].spec;
    if (spec.role != Role::constant) continue;
    sources[i] =
        *OperandBuffer::create(context_.device, context_.memory,
                               static_cast<std::uint64_t>(spec.bytes()), 64, Fallback::own_mapping);
    fill(sources[i], InputPool(seed, spec), rank,
         source_set(spec.role, mode_, staged_.constants_shared, set), i);
    source_handles[i] = sources[i].handle();
    before[i] = sources[i].checksum();
  }
  const hm_arguments arguments{target_handles.data(), source_handles.data(),
                               static_cast<std::uint32_t>(operands_.size()), 0};
  const std::size_t prepared = prepared_.size() > 1 ? static_cast<std::size_t>(set) : 0;
  const double begin_ns = context_.clock.wall_ns();
  check(prepared_[prepared].load_constants(context_.stream, arguments), "pack");
  check(context_.stream.wait(), "pack");
  if (duration_ns) *duration_ns = context_.clock.wall_ns() - begin_ns;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!source_handles[i]) continue;
    if (!sources[i].canaries_intact() || sources[i].checksum() != before[i]) {
      throw RequestFailed(HM_INTERNAL, "pack",
                          "load_constants changed its source " + operands_[i].spec.name);
    }
  }
}

void StagedKernel::copy_constants(int set) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].spec.role != Role::constant || operands_[i].info.bytes == 0) continue;
    OperandBuffer& source = buffer(0, i);
    if (source.host()) {
      buffer(set, i).write(source.host(), source.bytes());
      continue;
    }
    std::vector<std::byte> packed(source.bytes());
    source.read(packed.data(), packed.size());
    buffer(set, i).write(packed.data(), packed.size());
  }
}

void StagedKernel::build_arguments() {
  for (int set = 0; set < staged_.sets; ++set) {
    std::vector<hm_buffer*> row;
    for (std::size_t i = 0; i < operands_.size(); ++i) row.push_back(buffer(set, i).handle());
    handles_.push_back(std::move(row));
  }
  for (int i = 0; i < 2 * staged_.sets; ++i) {
    arguments_.push_back({handles_[static_cast<std::size_t>(i % staged_.sets)].data(), nullptr,
                          static_cast<std::uint32_t>(operands_.size()), 0});
  }
}

void StagedKernel::first_call(const ReportPhase& report) {
  report("first");
  const double begin_ns = context_.clock.wall_ns();
  check(run(0, 1), "first");
  staged_.one_time.first_ns = context_.clock.wall_ns() - begin_ns;
}

PluginError StagedKernel::enqueue(int first_set, std::int64_t repeat) noexcept {
  const auto set_count = static_cast<std::uint32_t>(staged_.sets);
  hm_launch launch{.struct_size = sizeof(hm_launch),
                   .set_count = set_count,
                   .repeat = static_cast<std::uint64_t>(repeat),
                   .sets = arguments_.data() + first_set,
                   .workspace = workspace_.handle()};
  if (prepared_.size() == 1) return prepared_.front().enqueue(context_.stream, launch);
  // Constants compiled in: each set has a prepared of its own.
  launch.repeat = 1;
  launch.set_count = 1;
  for (std::int64_t i = 0; i < repeat; ++i) {
    const auto set = static_cast<std::size_t>((first_set + i) % staged_.sets);
    launch.sets = arguments_.data() + set;
    PluginError error = prepared_[set].enqueue(context_.stream, launch);
    if (!error.ok()) return error;
  }
  return {};
}

PluginError StagedKernel::run(int first_set, std::int64_t repeat) noexcept {
  PluginError error = enqueue(first_set, repeat);
  if (!error.ok()) return error;
  return context_.stream.wait();
}

PluginError StagedKernel::run_on(int set, const hm_arguments& arguments) noexcept {
  const hm_launch launch{.struct_size = sizeof(hm_launch),
                         .set_count = 1,
                         .repeat = 1,
                         .sets = &arguments,
                         .workspace = workspace_.handle()};
  const std::size_t prepared = prepared_.size() > 1 ? static_cast<std::size_t>(set) : 0;
  PluginError error = prepared_[prepared].enqueue(context_.stream, launch);
  if (!error.ok()) return error;
  return context_.stream.wait();
}

std::vector<StagedKernel::Activation> StagedKernel::outputs_of(int set) {
  std::vector<Activation> out;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].spec.role != Role::output) continue;
    out.push_back({i, operands_[i].spec.dtype, operands_[i].info.bytes, buffer(set, i).handle()});
  }
  return out;
}

std::vector<StagedKernel::Activation> StagedKernel::replaceable_inputs(int set) {
  std::vector<Activation> out;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const OperandSpec& spec = operands_[i].spec;
    const bool is_address =
        spec.distribution == Distribution::indices || spec.distribution == Distribution::given;
    if (spec.role != Role::input || is_address) continue;
    out.push_back({i, spec.dtype, operands_[i].info.bytes, buffer(set, i).handle()});
  }
  return out;
}

void StagedKernel::poison_outputs() {
  for (int set = 0; set < staged_.sets; ++set) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].spec.role == Role::output) buffer(set, i).poison();
    }
  }
}

void StagedKernel::mark_outputs(int first_set, std::int64_t repeat) {
  constexpr std::uint64_t step = 64 * 17;  // another line every time, whatever the size
  mark_offset_ += step;
  const int count = static_cast<int>(std::min<std::int64_t>(repeat, staged_.sets));
  for (int i = 0; i < count; ++i) {
    const int set = (first_set + i) % staged_.sets;
    for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
      if (operands_[operand].spec.role != Role::output) continue;
      buffer(set, operand).poison_line(mark_offset_);
    }
  }
}

}  // namespace halmark::worker
