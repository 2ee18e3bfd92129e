// What a worker can be asked: a function for each request of the protocol.
#include <algorithm>

#include "core/numeric/cast.hpp"
#include "host/worker_pending.hpp"

namespace halmark {
namespace {

using protocol::Type;

// Far more than any request asks for, far less than this process may take.
constexpr std::int64_t kept_memory_max = std::int64_t{256} << 20;

}  // namespace

std::span<const std::byte> RevealAnswer::part(const protocol::RevealedPart& part) const {
  return memory.view().subspan(as_size(part.offset), as_size(part.bytes));
}

Outcome<protocol::PluginDescription> Worker::load(const std::string& path) {
  begin(Type::load, Type::plugin, protocol::Load{path}, limits_.load_s, "load");
  auto plugin = finish<protocol::PluginDescription>();
  is_cpu_device_.clear();
  if (plugin) {
    for (const auto& device : plugin->devices) is_cpu_device_.push_back(device.kind == "cpu");
  }
  return plugin;
}

Outcome<protocol::DeviceDescription> Worker::open(std::uint32_t index, const Config& options) {
  const bool is_of_this_machine = channel_.memory_by() == protocol::MemoryBy::descriptor;
  if (is_of_this_machine && index < is_cpu_device_.size() && !is_cpu_device_[index]) {
    ContainedProcess::lift_data_limit(static_cast<pid_t>(hello_.pid));
  }
  begin(Type::open, Type::opened, protocol::Open{index, options}, limits_.open_s, "open");
  return finish<protocol::DeviceDescription>();
}

Outcome<std::vector<protocol::DomainDescription>> Worker::domains(const std::string& kernel,
                                                                  const Problem& problem) {
  begin(Type::domains, Type::answer, protocol::DomainsRequest{kernel, problem}, limits_.query_s,
        "domains");
  auto answer = finish<protocol::DomainsAnswer>();
  if (!answer) return answer.failure;
  return std::move(answer->domains);
}

Outcome<protocol::SupportsAnswer> Worker::supports(const std::string& kernel,
                                                   const Problem& problem,
                                                   const std::vector<Config>& configs) {
  begin(Type::supports, Type::answer, protocol::SupportsRequest{kernel, problem, configs},
        limits_.query_s, "supports");
  auto answer = finish<protocol::SupportsAnswer>();
  if (!answer) return answer.failure;
  if (answer->status.size() != configs.size() || answer->reason.size() != configs.size()) {
    return kill_for(Status::worker_lost, "supports answered another number of configs");
  }
  return answer;
}

Outcome<protocol::Staged> Worker::stage(const protocol::Stage& request) {
  begin_stage(request);
  return finish_stage();
}

void Worker::begin_stage(const protocol::Stage& request) {
  begin(Type::stage, Type::staged, request, limits_.create_s, "create");
}

Outcome<protocol::Staged> Worker::finish_stage() { return finish<protocol::Staged>(); }

Outcome<RevealAnswer> Worker::reveal(const protocol::Reveal& request) {
  begin(Type::reveal, Type::revealed, request, limits_.query_s, "reveal");
  auto revealed = finish<protocol::Revealed>();
  if (!revealed) return revealed.failure;
  RevealAnswer answer{std::move(*revealed), {}};
  std::int64_t end = 0;
  for (const protocol::RevealedPart& part : answer.revealed.parts) {
    if (part.offset < 0 || part.bytes < 0 || part.offset > (std::int64_t{1} << 42) ||
        part.bytes > (std::int64_t{1} << 42)) {
      return kill_for(Status::worker_lost, "a revealed part lies outside its memory");
    }
    end = std::max(end, part.offset + part.bytes);
  }
  if (end == 0) return answer;
  auto& fds = pending_.answer->fds;
  if (fds.empty()) return kill_for(Status::worker_lost, "revealed bytes came without memory");
  try {
    answer.memory = SharedMemory::map(std::move(fds.front()), end, Access::read_only, false);
  } catch (const std::exception& error) {
    return kill_for(Status::worker_lost, error.what());
  }
  return answer;
}

Outcome<SampleAnswer> Worker::sample(const protocol::SampleRequest& request, int barrier_fd) {
  begin_sample(request, barrier_fd);
  return finish_sample();
}

void Worker::begin_sample(const protocol::SampleRequest& request, int barrier_fd) {
  begin(Type::sample, Type::measured, request,
        request.wall_cap_s + request.rule.warmup_cap_s + limits_.sample_margin_s, "warm",
        barrier_fd);
  pending_.takes_samples = true;
}

Outcome<SampleAnswer> Worker::finish_sample() {
  auto measured = finish<protocol::Measured>();
  if (!measured) return measured.failure;
  auto samples = unpack_samples(pending_.samples);
  if (!samples) return kill_for(Status::worker_lost, "a sample is not finite");
  SampleAnswer answer{std::move(*samples), std::move(*measured)};
  if (auto failure = take_kept(answer)) return *failure;
  return answer;
}

// Copied: the worker writes into the same memory when it samples the next time.
std::optional<WorkerFailure> Worker::take_kept(SampleAnswer& answer) {
  std::int64_t end = 0;
  for (const protocol::KeptOutput& kept : answer.measured.kept) {
    const bool lies_inside = kept.offset >= 0 && kept.bytes >= 0 && kept.begin >= 0 &&
                             kept.bytes <= protocol::KeptOutput::kept_bytes_max &&
                             kept.offset <= kept_memory_max - kept.bytes;
    const auto rows = std::ssize(answer.measured.overwritten);
    const bool knows_row =
        !kept.overwritten || (*kept.overwritten >= 0 && *kept.overwritten < rows);
    if (!lies_inside || !knows_row) {
      return kill_for(Status::worker_lost, "a kept output lies outside its memory");
    }
    end = std::max(end, kept.offset + kept.bytes);
  }
  if (end == 0) return std::nullopt;
  auto& fds = pending_.answer->fds;
  if (fds.empty()) return kill_for(Status::worker_lost, "kept outputs came without memory");
  try {
    const auto memory = SharedMemory::map(std::move(fds.front()), end, Access::read_only, false);
    answer.kept.assign(memory.data(), memory.data() + end);
  } catch (const std::exception& error) {
    return kill_for(Status::worker_lost, error.what());
  }
  return std::nullopt;
}

Outcome<SequenceAnswer> Worker::sequence(const protocol::SequenceRequest& request, int barrier_fd) {
  begin_sequence(request, barrier_fd);
  return finish_sequence();
}

void Worker::begin_sequence(const protocol::SequenceRequest& request, int barrier_fd) {
  begin(Type::sequence, Type::measured, request, request.wall_cap_s + limits_.sample_margin_s,
        "sequence", barrier_fd);
  pending_.takes_samples = true;
}

Outcome<SequenceAnswer> Worker::finish_sequence() {
  auto answer = finish_sample();
  if (!answer) return answer.failure;
  return SequenceAnswer{std::move(answer->samples), std::move(answer->measured)};
}

Outcome<Done> Worker::drop(std::int64_t id) {
  begin(Type::drop, Type::dropped, protocol::Drop{id}, limits_.query_s, "drop");
  if (auto failure = settle()) return *failure;
  return Done{};
}

Outcome<protocol::TokenAnswer> Worker::token() {
  begin_frame(Type::token, Type::answer, "", limits_.query_s, "token");
  return finish<protocol::TokenAnswer>();
}

Outcome<Done> Worker::join(const protocol::Join& request) {
  begin_join(request);
  return finish_join();
}

void Worker::begin_join(const protocol::Join& request) {
  begin(Type::join, Type::joined, request, limits_.join_s, "join");
}

Outcome<Done> Worker::finish_join() {
  if (auto failure = settle()) return *failure;
  return Done{};
}

Outcome<protocol::ProbeAnswer> Worker::probe(const protocol::ProbeRequest& request,
                                             int barrier_fd) {
  begin_probe(request, barrier_fd);
  return finish_probe();
}

void Worker::begin_probe(const protocol::ProbeRequest& request, int barrier_fd) {
  const double windows_s = request.windows * request.window_ms * 1e-3;
  begin(Type::probe, Type::answer, request, windows_s + limits_.probe_margin_s, "probe",
        barrier_fd);
}

Outcome<protocol::ProbeAnswer> Worker::finish_probe() { return finish<protocol::ProbeAnswer>(); }

Outcome<protocol::MemoryAnswer> Worker::memory() {
  begin_frame(Type::memory, Type::answer, "", limits_.query_s, "memory");
  return finish<protocol::MemoryAnswer>();
}

Outcome<Done> Worker::close() {
  begin_frame(Type::close, Type::closed, "", limits_.close_s, "close");
  if (auto failure = settle()) return *failure;
  return Done{};
}

}  // namespace halmark
