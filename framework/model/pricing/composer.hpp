// Composer: a deployment's graph as a StepSum over its kernels. Pure: latencies in, value, interval
// and shares of the operators out. A search compiles many deployments over one KernelTable and
// prices them from an array of known times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/device.hpp"
#include "core/latency.hpp"
#include "core/result.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/kernel_table.hpp"
#include "model/pricing/pipeline.hpp"
#include "model/pricing/stack/stack.hpp"
#include "model/pricing/step_sum.hpp"
#include "roofline/peaks.hpp"

namespace halmark {

// What utilisation and bounds are judged by. An absent device makes its figure null with a reason.
struct DeviceFacts {
  std::optional<Device> measured;   // written by `halmark peaks`
  std::optional<Device> datasheet;  // configs/devices
  ShardShare shard;
  std::optional<double> launch_floor_ns;  // a kernel whose bound is below it is bound by its launch
  bool asks_energy = false;               // else it is there where all kernels were metered
  // By rank, where ranks lie on devices of their own; these then stand for the whole.
  std::vector<DeviceFacts> of_ranks = {};
};

class Composer {
 public:
  using Lookup = std::function<std::optional<Latency>(const KernelCase&)>;

  Composer(OperatorGraph graph, const StackPlacement& placement, DeviceFacts facts);

  const OperatorGraph& graph() const { return graph_; }
  // The unique kernels of all stages, in first use order; of a pipeline also as they are while it
  // fills and drains.
  std::span<const KernelCase> kernels() const { return table_.cases(); }

  // Status ok or suspect with an estimate; otherwise the status and the name of the first kernel
  // that has no latency: `cancelled` when nobody knows it, else the status that its source reports.
  Evaluation compose(const Lookup& lookup) const;
  Evaluation compose(const LatencySource& source) const;

  // The same sum over a table that many deployments share.
  StepSum compile(KernelTable& table) const;

  // By name, what the operators of the slowest stage take in the step as `run` executes it: in a
  // pipeline some of their executions have fewer others beside them. Of an estimate from `lookup`.
  std::map<std::string, double> operators_ns(const Lookup& lookup, const Estimate& estimate) const;

 private:
  // `of`: which figures of a device, DeviceFacts::measured or DeviceFacts::datasheet.
  using Figures = std::optional<Device> DeviceFacts::*;
  Result<double, std::string> ideal_ns(Figures of) const;
  Result<double, std::string> flops_per_s(const Operator& op, Figures of) const;
  std::size_t slowest_of_sum(const Price& priced) const;
  std::vector<OperatorShare> shares(std::span<const std::optional<Latency>> latencies,
                                    const Price& priced) const;
  OperatorShare share(const Operator& op, const KernelCase& kernel_case, const Latency& latency,
                      std::int64_t executions) const;
  std::string bound(const Operator& op, const Latency& latency) const;
  void judge_utilisation(Estimate& estimate) const;

  // Of a stage: what its ranks of one kind of place execute for one micro-batch.
  struct PlacedStage {
    std::int64_t stage = 0;
    int rank = 0, ranks = 1;  // the first of these ranks, and how many there are
    std::vector<StageKernel> kernels;
  };
  // One of those while so many stages are at work.
  using AtWork = std::pair<std::size_t, std::int64_t>;
  void place_stages(const StackPlacement& placement);
  void fill_and_drain(const StackPlacement& placement);
  const std::vector<StageKernel>& kernels_at(AtWork key) const;
  void judge_energy(std::span<const std::optional<Latency>> latencies, Estimate& estimate) const;
  void assume_energy(const std::string& why, Estimate& estimate) const;
  std::optional<StepAlone> alone(std::span<const KernelTime> times) const;

  OperatorGraph graph_;
  DeviceFacts facts_;
  std::vector<PlacedStage> stages_;
  KernelTable table_;
  StepSum sum_;
  std::vector<PipelineSlot> slots_;                     // of a pipeline
  std::map<AtWork, std::vector<StageKernel>> at_work_;  // where that is not as in stages_
};

}  // namespace halmark
