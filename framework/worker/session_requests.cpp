// One function per request: read, act, answer.
#include <algorithm>
#include <charconv>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "kernels/inputs.hpp"
#include "worker/request_failed.hpp"
#include "worker/sampling.hpp"
#include "worker/session.hpp"
#include "worker/set_size.hpp"
#include "worker/staging/kernel_choice.hpp"

namespace halmark::worker {
namespace {

using protocol::Type;

std::string to_hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const auto parsed = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + i + 2) break;
    bytes += static_cast<char>(value);
  }
  if (2 * bytes.size() != text.size()) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "join", "the token is not hexadecimal");
  }
  return bytes;
}

// Of all argument sets.
std::int64_t tensor_bytes(const OpContract& contract, const Problem& problem, int sets) {
  std::int64_t bytes = 0;
  for (const OperandSpec& operand : contract.operands(problem.params)) {
    bytes += operand.bytes() * (operand.role == Role::input ? 1 : std::max(1, sets));
  }
  return bytes;
}

CommonStart common_start(StartBarrier* barrier, const std::optional<protocol::Barrier>& asked,
                         double wall_cap_s) {
  constexpr double margin_s = 5;
  if (!barrier) return {};
  return {.barrier = barrier,
          .parties = asked->parties,
          .timeout = std::chrono::nanoseconds(as_int64((wall_cap_s + margin_s) * ns_per_s))};
}

}  // namespace

// The barrier's memory comes beside the frame; without it every shard would start on its own. Ranks
// on other nodes meet instead.
Session::StartTogether Session::start_barrier(const std::optional<protocol::Barrier>& asked,
                                              protocol::Frame& frame, const char* phase) {
  if (!asked) return {};
  if (asked->meeting != 0 && introduction_ && introduction_->meeting) {
    introduction_->meeting->enter(asked->meeting);
    return {.memory = nullptr, .barrier = introduction_->meeting.get()};
  }
  if (frame.fds.empty()) {
    throw RequestFailed(HM_INVALID_ARGUMENT, phase, "the barrier came without its memory");
  }
  StartTogether out;
  out.memory = std::make_unique<SharedBarrier>(SharedBarrier::map(std::move(frame.fds.front())));
  out.barrier = out.memory.get();
  return out;
}

void Session::load(const std::string& path) {
  if (plugin_) throw RequestFailed(HM_INVALID_ARGUMENT, "load", "a plugin is loaded already");
  plugin_ = take(PluginInstance::create(load_plugin(path), cache_dir_), "load");
  description_ = take(plugin_->describe(), "load");
  answer(Type::plugin, description_);
}

void Session::open(const protocol::Open& request) {
  if (opened_) throw RequestFailed(HM_INVALID_ARGUMENT, "open", "a device is open already");
  opened_ = std::make_unique<OpenedDevice>(
      plugin(), take(plugin().open(request.device, request.options.params), "open"), *memory_,
      clock_, description_.kernels);
  answer(Type::opened, opened_->device.description());
}

void Session::domains(const protocol::DomainsRequest& request) {
  OpenedDevice& device = opened();
  const std::uint32_t kernel = kernel_index(device.context, request.kernel);
  const Problem problem = complete_problem(request.problem);
  answer(Type::answer,
         protocol::DomainsAnswer{take(device.device.domains(kernel, problem), "domains")});
}

void Session::supports(const protocol::SupportsRequest& request) {
  OpenedDevice& device = opened();
  const Problem problem = complete_problem(request.problem);
  protocol::SupportsAnswer result;
  for (const Config& config : request.configs) {
    PluginError error;
    try {
      choose_kernel(device.context, request.kernel, problem, config);
    } catch (const RequestFailed& failure) {
      error = {failure.failed().code, failure.failed().message};
    }
    result.status.push_back(error.status);
    result.reason.push_back(error.message);
  }
  answer(Type::answer, result);
}

// Process-wide first costs (AMX permission, library and thread-pool start) belong to the worker's
// start and to no case: one discarded call per dtype goes before the first case that computes in
// it. False where there is no such call.
bool Session::warm_process(Dtype dtype) {
  OpenedDevice& device = opened();
  if (!device.warmed.insert(dtype).second) return !device.cold.contains(dtype);
  const auto value = as_int64(dtype);
  const auto result = as_int64(dtype == Dtype::s8 ? Dtype::s32 : dtype);
  protocol::Stage tiny;
  tiny.problem = {"gemm",
                  {{"m", 16},
                   {"n", 64},
                   {"k", 64},
                   {"src_dtype", value},
                   {"wei_dtype", value},
                   {"dst_dtype", result}}};
  tiny.mode = CacheMode::hot;
  constexpr std::int64_t tiny_bytes = (16 * 64 + 64 * 64 + 16 * 64) * 8;
  device.data_limit.allow(tiny_bytes, DataLimit::Call::discarded);
  try {
    StagedKernel discarded(device.context, tiny, [](const char*) {});
    return true;
  } catch (const RequestFailed&) {
    // No gemm in this dtype: its first costs stay in the first case.
  } catch (const Error&) {
  }
  device.cold.insert(dtype);
  return false;
}

void Session::stage(const protocol::Stage& request) {
  OpenedDevice& device = opened();
  if (device.staged.contains(request.id)) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "create",
                        std::to_string(request.id) + " is staged already");
  }
  const Problem problem = complete_problem(request.problem);
  report_phase("create");
  const auto* group = find_value(device.communicators, request.group);
  device.context.communicator = group;
  const OpContract& contract = *find_contract(problem.op);
  const bool is_warm = warm_process(contract.work(problem.params).compute_dtype);
  device.data_limit.allow(tensor_bytes(contract, problem, request.sets),
                          is_warm ? DataLimit::Call::warm : DataLimit::Call::cold);
  auto kernel = std::make_unique<StagedKernel>(device.context, request,
                                               [this](const char* phase) { report_phase(phase); });
  const protocol::Staged staged = kernel->staged();
  device.staged[request.id] = std::move(kernel);
  answer(Type::staged, staged);
}

void Session::reveal(const protocol::Reveal& request) {
  const StagedKernel::Shown shown = staged(request.id, "reveal").reveal(request);
  answer(Type::revealed, shown.answer, shown.memory.fd());
}

void Session::sample(const protocol::SampleRequest& request, protocol::Frame& frame) {
  StagedKernel& kernel = staged(request.id, "sample");
  const StartTogether together = start_barrier(request.barrier, frame, "sample");
  const CommonStart start = common_start(together.barrier, request.barrier, request.wall_cap_s);
  const SampleResult result = worker::sample(opened().context, kernel, request, start, probes_,
                                             [this](const char* phase) { report_phase(phase); });
  send_samples(pack_samples(result.samples));
  const bool keeps = !result.measured.kept.empty();
  answer(Type::measured, result.measured, keeps ? opened().context.kept_outputs.fd() : -1);
}

void Session::sequence(const protocol::SequenceRequest& request, protocol::Frame& frame) {
  const StartTogether together = start_barrier(request.barrier, frame, "sample");
  const CommonStart start = common_start(together.barrier, request.barrier, request.wall_cap_s);
  const SequenceResult result =
      run_sequence(opened().context, opened().staged, request, start, probes_,
                   [this](const char* phase) { report_phase(phase); });
  send_samples(pack_samples(result.steps));
  answer(Type::measured, result.measured);
}

void Session::drop(const protocol::Drop& request) {
  staged(request.id, "drop");
  opened().staged.erase(request.id);
  answer(Type::dropped, request);
}

void Session::token() {
  answer(Type::answer, protocol::TokenAnswer{to_hex(take(plugin().create_token(), "token"))});
}

void Session::join(const protocol::Join& request) {
  OpenedDevice& device = opened();
  if (device.communicators.contains(request.group)) {
    throw RequestFailed(HM_INVALID_ARGUMENT, "join", "this rank has joined already");
  }
  device.communicators[request.group] =
      take(device.device.join(from_hex(request.token_hex), as_uint32(request.rank),
                              as_uint32(request.size)),
           "join");
  send(Type::joined, "");
}

void Session::close() { opened_.reset(); }

void Session::probe(const protocol::ProbeRequest& request, protocol::Frame& frame) {
  constexpr auto patience = std::chrono::seconds(20);  // others may still be taking memory
  const StartTogether together = start_barrier(request.barrier, frame, "probe");
  const auto start = [&] {
    return !together.barrier || together.barrier->arrive_and_spin(
                                    request.barrier->parties, patience) == BarrierOutcome::released;
  };
  protocol::ProbeAnswer probed;
  const auto look = [&] { probed = probes_.probe(request, *memory_, start); };
  if (opened_) {
    opened_->data_limit.without(look);
  } else {
    look();
  }
  answer(Type::answer, probed);
}

// Inputs of a model come from its layers: the pools that they are drawn from here are ours.
void Session::memory() {
  forget_input_pools();
  SetSize size;
  memory_->without_free_pages([&size] { size = own_set_size(); });
  answer(Type::answer, protocol::MemoryAnswer{.set_size_bytes = size.bytes,
                                              .reason = size.reason,
                                              .probe_bytes = probes_.held_bytes()});
}

}  // namespace halmark::worker
