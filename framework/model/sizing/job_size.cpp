// What is not given is assumed, and says so; what nobody can assume stays absent.
#include "model/sizing/job_size.hpp"

#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/memory.hpp"
#include "model/training/training.hpp"
#include "roofline/peaks.hpp"

namespace halmark {
namespace {

constexpr double seconds_per_day = 86400;

struct Question {
  const ModelSpec& spec;
  const Precision& precision;
  const Device& device;
  const Job& job;
  const Replica* replica;
};

// Devices whose memory holds `bytes`; 1 where the device does not state its memory.
std::int64_t devices_for(double bytes, const Device& device) {
  if (device.memory_bytes <= 0) return 1;
  return as_int64(std::ceil(bytes / as_double(device.memory_bytes)));
}

double held_bytes(const Question& q, const Workload& workload) {
  auto built = build_graph(q.spec, {q.spec.id, {}, q.precision, workload});
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  const OperatorGraph& graph = *built;
  if (workload.phase != Phase::training) {
    return as_double(memory_use(graph).largest.total());
  }
  if (const auto refusal = check_training(graph, {})) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  const auto stages = training_memory(graph, {});
  const TrainingMemory& rank = largest(stages);
  return as_double(rank.weight_bytes + rank.gradient_bytes + rank.optimizer_bytes);
}

// What both kinds of jobs rest on.
class Rests {
 public:
  explicit Rests(const Question& q) : q_(q) {
    // That of the linears which a token spends most of its products in.
    const Dtype computed = q.spec.moe ? q.precision.experts : q.precision.ffn;
    const auto peak = shard_peak(q.device, computed, {});
    const std::string dtype(dtype_name(computed));
    if (!peak) throw refused("no peak for " + dtype + " on " + q.device.id);
    figures_.peak_flops_per_s = *peak;
    stated_.push_back({"peak_flops_per_s", *peak, "FLOP/s", dtype + " of " + q.device.id});
  }

  // A figure that was given, or one of ours that says so.
  double chosen(const char* name, std::optional<double> given, double fallback,
                const char* reason) {
    const double value = given.value_or(fallback);
    stated_.push_back({name, value, "1", given ? "given" : reason});
    return value;
  }

  void take_costs() {
    const Job& job = q_.job;
    figures_.pue = job.pue;
    figures_.power_w = job.power_w ? job.power_w : q_.device.power_w;
    figures_.price_per_device_hour = job.price_per_device_hour;
    figures_.carbon_g_per_kwh = job.carbon_g_per_kwh;
    state("power_w", figures_.power_w, "W per device",
          job.power_w ? "given" : "power of " + q_.device.id);
    state("pue", job.pue, "1", job.pue == 1 ? "assumed: devices alone" : "given");
    state("price_per_device_hour", job.price_per_device_hour, "USD per device and hour", "given");
    state("carbon_g_per_kwh", job.carbon_g_per_kwh, "g/kWh", "given");
  }

  SizeAssumptions& figures() { return figures_; }
  std::vector<Assumption> stated() && { return std::move(stated_); }

 private:
  void state(const char* name, std::optional<double> value, const char* unit, std::string source) {
    stated_.push_back({name, value, unit, value ? std::move(source) : "not given"});
  }

  const Question& q_;
  SizeAssumptions figures_;
  std::vector<Assumption> stated_;
};

SizedJob training_size(const Question& q) {
  const Job& job = q.job;
  Rests rests(q);
  rests.figures().mfu = rests.chosen("mfu", job.mfu, 0.4, "assumed: a well-tuned dense run");
  rests.take_costs();
  SizedJob out;
  out.flops_per_token = training_flops_per_token(q.spec, q.precision, job.sequence);
  out.flops = out.flops_per_token * *job.tokens;
  out.devices_for_memory =
      devices_for(held_bytes(q, {Phase::training, 1, job.sequence, job.sequence}), q.device);
  if (job.devices > 0 && job.devices < out.devices_for_memory) {
    throw refused("out_of_memory: weights, gradients and optimizer states fill " +
                  std::to_string(out.devices_for_memory) + " x " + q.device.id +
                  " and --devices is " + std::to_string(job.devices));
  }
  out.plan = job.devices > 0 ? size_for_devices(out.flops, job.devices, rests.figures())
                             : size_for_time(out.flops, *job.days * seconds_per_day,
                                             out.devices_for_memory, rests.figures());
  out.assumptions = std::move(rests).stated();
  return out;
}

// One MFU of both phases: the FLOPs at which they together take their own times.
double stated_mfu(const Job& job, const RequestFlops& f, Rests& rests) {
  const double prefill = rests.chosen("mfu", job.mfu, 0.4, "assumed for prefill");
  const double decode =
      rests.chosen("decode_mfu", job.decode_mfu, 0.05, "assumed: decode is bound by memory");
  return (f.prefill + f.decode) / (f.prefill / prefill + f.decode / decode);
}

SizedJob serving_size(const Question& q) {
  const Job& job = q.job;
  Rests rests(q);
  SizedJob out;
  out.request = request_flops(q.spec, q.precision, job.input_tokens, job.output_tokens);
  const double flops = out.request.prefill + out.request.decode;
  SizeAssumptions& figures = rests.figures();
  const std::int64_t context = job.input_tokens + job.output_tokens;
  out.devices_for_memory = devices_for(held_bytes(q, {Phase::decode, 1, 1, context}), q.device);
  std::int64_t devices_min = out.devices_for_memory;
  out.requests_per_s = job.requests_per_s.value_or(0);
  if (q.replica != nullptr) {
    const Replica& r = *q.replica;
    const double at_peak = figures.peak_flops_per_s * as_double(r.devices);
    figures.mfu = rests.chosen("mfu", {}, r.requests_per_s * flops / at_peak,
                               "what a replica keeps up, below");
    devices_min = replicas_for(job, r.requests_per_s, r.concurrency) * r.devices;
    if (job.users) {
      out.requests_per_s = r.requests_per_s * as_double(*job.users) / as_double(r.concurrency);
    }
  } else {
    figures.mfu = stated_mfu(job, out.request, rests);
  }
  rests.take_costs();
  out.flops_per_s = out.requests_per_s * flops;
  out.plan =
      size_for_load(out.flops_per_s, job.days.value_or(1) * seconds_per_day, devices_min, figures);
  out.assumptions = std::move(rests).stated();
  return out;
}

}  // namespace

std::int64_t replicas_for(const Job& job, double requests_per_s, std::int64_t concurrency) {
  const double load = job.users ? as_double(*job.users) : *job.requests_per_s;
  const double each = job.users ? as_double(concurrency) : requests_per_s;
  return as_int64(std::ceil(load / each));
}

SizedJob size_job(const ModelSpec& spec, const Precision& precision, const Device& device,
                  const Job& job, const Replica* replica) {
  const Question question{spec, precision, device, job, replica};
  return job.tokens ? training_size(question) : serving_size(question);
}

}  // namespace halmark
