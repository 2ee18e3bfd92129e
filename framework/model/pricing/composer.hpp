// Composer: the only place where times are added. Pure: latencies in, value, interval and share
// out. KernelTable and CompiledDeployment are its fast path: a search prices from an array of known
// times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/configuration.hpp"
#include "core/device.hpp"
#include "core/latency.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/stack.hpp"
#include "roofline/peaks.hpp"

namespace halmark {

// What utilisation and bounds are judged by. An absent device makes its figure null with a reason.
struct DeviceFacts {
  std::optional<Device> measured;   // written by `halmark peaks`
  std::optional<Device> datasheet;  // configs/devices
  ShardShare shard;
  std::optional<double> launch_floor_ns;  // a kernel whose bound is below it is bound by its launch
};

// Every kernel that a set of deployments needs, each once. Owner: one thread.
class KernelTable {
 public:
  std::int32_t index_of(const KernelCase& kernel_case);  // adds it when new
  std::span<const KernelCase> cases() const { return cases_; }

 private:
  std::map<KernelCase, std::int32_t> indices_;
  std::vector<KernelCase> cases_;
};

// Time of one kernel execution as the fast path needs it.
struct KernelTime {
  double ns = 0, low_ns = 0, high_ns = 0, lower_bound_ns = 0;
  bool is_known = false;
};
KernelTime kernel_time(const std::optional<Latency>& latency);

// A deployment as sums over kernels: step = micro_batches * max over stages of sum(count * time).
struct CompiledDeployment {
  struct Term {
    std::int32_t kernel = 0;  // index into the KernelTable
    double count = 0;         // executions per micro-batch
  };
  std::vector<Term> terms;               // stage after stage
  std::vector<std::int32_t> stage_ends;  // one past the last term of each stage
  double micro_batches = 1;
  double tokens = 0;               // of one step, whole deployment
  std::optional<double> ideal_ns;  // time of the matmul FLOPs at the measured peaks
};

struct Price {
  double step_ns = 0, low_ns = 0, high_ns = 0, lower_bound_ns = 0;
  double tokens_per_s = 0;
  std::optional<double> mfu;
  std::int32_t slowest_stage = 0;
};

// `times` by kernel index. Nothing when a needed kernel has no time. Allocates nothing.
std::optional<Price> price(const CompiledDeployment& configuration,
                           std::span<const KernelTime> times);

class Composer {
 public:
  using Lookup = std::function<std::optional<Latency>(const KernelCase&)>;

  Composer(OperatorGraph graph, const StackPlacement& placement, DeviceFacts facts);

  const OperatorGraph& graph() const { return graph_; }
  // The unique kernels of all stages, in first use order.
  std::span<const KernelCase> kernels() const { return table_.cases(); }

  // Status ok or suspect with an estimate; otherwise the status and the name of the first kernel
  // that has no latency: `cancelled` when nobody knows it, else the status that its source reports.
  Evaluation compose(const Lookup& lookup) const;
  Evaluation compose(const LatencySource& source) const;

  // The same sums over a table that many deployments share.
  CompiledDeployment compile(KernelTable& table) const;

 private:
  std::optional<double> ideal_ns(const std::optional<Device>& device, std::string& reason) const;
  std::vector<OperatorShare> shares(std::span<const std::optional<Latency>> latencies,
                                    std::size_t stage) const;
  OperatorShare share(const Operator& op, const Latency& latency, std::size_t stage) const;
  std::string bound(const Operator& op, const Latency& latency) const;
  void judge_utilisation(Estimate& estimate) const;

  OperatorGraph graph_;
  DeviceFacts facts_;
  std::vector<std::vector<StageKernel>> stages_;
  KernelTable table_;
  CompiledDeployment compiled_;
};

}  // namespace halmark
