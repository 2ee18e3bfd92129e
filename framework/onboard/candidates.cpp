#include "onboard/candidates.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/numeric/random.hpp"
#include "core/ranges.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "latency/case_bounds.hpp"
#include "latency/interpolation/interpolation_place.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/precision.hpp"
#include "tune/plan/composers.hpp"

namespace halmark::onboard {
namespace {

constexpr std::size_t fitted_max = 64, held_out_max = 16;  // of a family
constexpr double kernel_s_max = 0.25, measuring_s_max = 3;
constexpr std::int64_t any_memory = std::int64_t{1} << 48;
constexpr std::size_t dense_steps = 2;
// Of a step that is executed: generating weights takes as long as their bytes at this rate.
constexpr double weights_bytes_max = 6e9, weights_bytes_per_s = 5e8, step_start_s = 8;
constexpr double step_turns = 16;  // of the whole stack and of its kernels

Workload decode(std::int64_t batch, std::int64_t context) {
  return {.phase = Phase::decode, .batch = batch, .new_tokens = 1, .context = context};
}
Workload prefill(std::int64_t batch, std::int64_t tokens) {
  return {.phase = Phase::prefill, .batch = batch, .new_tokens = tokens, .context = tokens};
}

std::vector<Workload> fitted_workloads() {
  return {decode(1, 256),   decode(1, 4096),  decode(4, 1024),  decode(16, 512),
          decode(16, 2048), decode(64, 1024), decode(128, 512), prefill(1, 64),
          prefill(1, 256),  prefill(1, 1024), prefill(1, 2048), prefill(4, 512)};
}
std::vector<Workload> held_workloads() {
  return {decode(2, 600), decode(8, 1500), decode(32, 900), prefill(1, 384), prefill(2, 640)};
}
std::vector<Workload> step_workloads() { return {decode(2, 600), prefill(1, 192)}; }

std::string family_of(const Problem& problem) {
  std::string out = problem.op;
  if (problem.op == "attention") {
    out += problem.params.at("new_tokens") == 1 ? " decode" : " prefill";
  }
  const Work work = find_contract(problem.op)->work(problem.params);
  return out + ' ' + std::string(dtype_name(work.compute_dtype));
}

// Of products, whose weights are what models differ in; "" of others.
std::string weights_shape(const Problem& problem) {
  if (!problem.params.find("n") || !problem.params.find("k")) return {};
  return std::to_string(problem.params.at("n")) + 'x' + std::to_string(problem.params.at("k"));
}

// A sixteenth in every size that its contract lets go so far.
Problem shrunk(const Problem& problem) {
  Problem out = problem;
  for (int pass = 0; pass < 2; ++pass) {  // of sizes that bound each other the other one first
    for (const ParamSpec& spec : find_contract(problem.op)->params()) {
      if (spec.derived || spec.kind != ParamKind::size || !problem.params.find(spec.name)) continue;
      const std::int64_t less = problem.params.at(spec.name) / 16;
      Problem next{problem.op, {}};
      for (const ParamSpec& kept : find_contract(problem.op)->params()) {
        const auto value = out.params.find(kept.name);
        if (!kept.derived && value) next.params.set(kept.name, *value);
      }
      next.params.set(spec.name, std::max({spec.low, std::int64_t{1}, less}));
      try {
        out = complete_problem(std::move(next));
      } catch (const Error&) {
        continue;
      }
    }
  }
  return out;
}

class Gathering {
 public:
  explicit Gathering(const CandidateQuestion& question) : question_(question) {
    roomy_.memory_bytes = any_memory;  // kernels of models that this device does not hold, too
    for (const std::string& name : question.dtypes) {
      precisions_.push_back(precision_of(name, {.has_bf16 = question.has_bf16}));
    }
  }

  Candidates run() {
    read_models();
    keep_back();
    for (const auto& [id, spec] : models_) {
      if (contains(out_.held_models, id)) gather(spec, held_workloads(), held_);
    }
    for (const auto& [problem, candidate] : held_) held_shapes_.insert(weights_shape(problem));
    held_shapes_.erase("");
    for (const auto& [id, spec] : models_) {
      if (!contains(out_.held_models, id)) gather(spec, fitted_workloads(), fitted_);
    }
    std::erase_if(fitted_, [&](const auto& entry) {
      return held_.contains(entry.first) || held_shapes_.contains(weights_shape(entry.first));
    });
    out_.fitted = drawn(fitted_, fitted_max);
    add_floors();
    out_.held_out = drawn(held_, held_out_max);
    if (out_.fitted.empty() || out_.held_out.empty()) {
      throw unfit("no model has a kernel that this backend offers and this device can hold",
                  "halmark devices lists the ops of a backend");
    }
    return std::move(out_);
  }

 private:
  using Found = std::map<Problem, Candidate>;

  std::uint64_t lot(const std::string& text) const {
    return hash_combine(question_.seed, xxh3_of(text));
  }

  void read_models() {
    for (const ModelListing& listing : list_models(question_.models)) {
      try {
        models_.emplace_back(listing.id, load_model(listing.id, question_.models));
      } catch (const Error&) {
        continue;  // `halmark models` says why
      }
    }
    std::ranges::sort(models_, {}, [&](const auto& model) { return lot(model.first); });
  }

  void keep_back() {
    std::size_t dense = 0, mixed = 0;
    for (const auto& [id, spec] : models_) {
      std::size_t& of_kind = spec.moe.has_value() ? mixed : dense;
      if (of_kind >= (spec.moe.has_value() ? 1 : dense_steps) || !add_steps(spec)) continue;
      ++of_kind;
      out_.held_models.push_back(id);
    }
    for (const auto& [id, spec] : models_) {
      if (5 * out_.held_models.size() >= models_.size()) break;
      if (!contains(out_.held_models, id)) out_.held_models.push_back(id);
    }
  }

  bool add_steps(const ModelSpec& spec) {
    try {
      return add_measured_steps(spec);
    } catch (const Error&) {
      return false;  // it has an op that nothing measures
    }
  }

  bool add_measured_steps(const ModelSpec& spec) {
    tune::Composers composers(spec, question_.target, true);
    std::vector<HeldStep> steps;
    for (const Workload& workload : step_workloads()) {
      const Configuration c = configuration(spec, precisions_.front(), workload);
      const auto& entry = composers.of(c);
      if (!entry.composer || !offers(*entry.composer)) return false;
      double bytes = 0;
      for (const Operator& op : entry.composer->graph().operators) {
        bytes += static_cast<double>(op.weight_bytes_local * op.count);
      }
      if (bytes >
          std::min(weights_bytes_max, static_cast<double>(question_.target.memory_bytes) / 4)) {
        return false;
      }
      steps.push_back(
          {spec.id, c,
           step_start_s + bytes / weights_bytes_per_s + step_turns * predicted_s(*entry.composer)});
    }
    std::ranges::move(steps, std::back_inserter(out_.steps));
    return true;
  }

  double predicted_s(const Composer& composer) const {
    std::map<Problem, std::int64_t> executions;
    for (const Operator& op : composer.graph().operators) executions[op.local] += op.count;
    double ns = 0;
    for (const KernelCase& k : composer.kernels()) {
      ns += predicted_kernel_ns(k, bounding_.device, bounding_.threads) *
            static_cast<double>(executions[k.problem]);
    }
    return ns * 1e-9;
  }

  bool offers(const Composer& composer) const {
    return std::ranges::all_of(composer.kernels(), [&](const KernelCase& k) {
      return question_.ops.contains(k.problem.op);
    });
  }

  static Configuration configuration(const ModelSpec& spec, const Precision& precision,
                                     const Workload& workload) {
    Configuration out;
    out.model = spec.id;
    out.precision = precision;
    out.workload = workload;
    return out;
  }

  void gather(const ModelSpec& spec, const std::vector<Workload>& workloads, Found& to) {
    tune::Composers composers(spec, roomy_, false);
    for (const Precision& precision : precisions_) {
      for (const Workload& workload : workloads) {
        const auto& entry = composers.of(configuration(spec, precision, workload));
        if (entry.composer) gather(*entry.composer, to);
      }
    }
  }

  void gather(const Composer& composer, Found& to) {
    std::map<Problem, std::int64_t> executions;
    for (const Operator& op : composer.graph().operators) executions[op.local] += op.count;
    double step_ns = 0;
    std::vector<std::pair<Candidate*, double>> own;
    for (const KernelCase& k : composer.kernels()) {
      if (k.is_collective()) continue;
      const double ns = bounds_.of(k).bound.ns() *
                        static_cast<double>(std::max<std::int64_t>(1, executions[k.problem]));
      step_ns += ns;
      if (!question_.ops.contains(k.problem.op) || !interpolation_place(k.problem)) continue;
      if (predicted_kernel_ns(k, bounding_.device, bounding_.threads) > kernel_s_max * 1e9)
        continue;
      const auto [at, is_new] = to.try_emplace(k.problem, Candidate{k, {}, 0, 0});
      if (is_new) at->second.family = family_of(k.problem);
      own.emplace_back(&at->second, ns);
    }
    if (step_ns <= 0) return;
    for (const auto& [candidate, ns] : own) candidate->share += ns / step_ns;
  }

  // Those of each family that the seed draws, in its order.
  std::vector<Candidate> drawn(Found& found, std::size_t of_family) const {
    std::map<std::uint64_t, Candidate> by_lot;
    for (auto& [problem, candidate] : found) {
      by_lot.emplace(lot(problem.text()), std::move(candidate));
    }
    std::vector<Candidate> all;
    for (auto& [number, candidate] : by_lot) all.push_back(std::move(candidate));
    cost(all);
    const auto room = question_.target.memory_bytes / 4;
    std::map<std::string, std::size_t> taken;
    std::erase_if(all, [&](const Candidate& c) {
      const auto bytes =
          c.kernel.sets *
          find_contract(c.kernel.problem.op)->work(c.kernel.problem.params).constant_bytes;
      if (c.seconds > measuring_s_max || (room > 0 && bytes > static_cast<double>(room)))
        return true;
      return ++taken[c.family] > of_family;
    });
    return all;
  }

  // What a launch takes is told by a kernel with hardly any work, and models have none: one of each
  // group that interpolation keeps apart, before all others.
  void add_floors() {
    std::map<std::string, Candidate> floors;
    for (const Candidate& c : out_.fitted) {
      const std::string group = interpolation_place(c.kernel.problem)->group;
      const auto [at, is_new] = floors.try_emplace(group, c);
      if (!is_new && at->second.seconds > c.seconds) at->second = c;
    }
    std::vector<Candidate> all;
    for (auto& [group, c] : floors) {
      c.kernel.problem = shrunk(c.kernel.problem);
      c.share = 0;
      if (interpolation_place(c.kernel.problem)->group == group) all.push_back(std::move(c));
    }
    out_.floors = all.size();
    out_.fitted.insert(out_.fitted.begin(), all.begin(), all.end());
  }

  void cost(std::vector<Candidate>& all) const {
    std::vector<KernelCase> cases;
    for (const Candidate& c : all) cases.push_back(c.kernel);
    const auto& device = question_.target.measured;
    const CampaignCost predicted =
        predict_cost(cases, 1, {}, device ? &*device : nullptr, question_.target.cores);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].seconds = predicted.case_seconds[i];
  }

  const CandidateQuestion& question_;
  const BoundingDevice bounding_ = question_.target.bounding();
  const CaseBounds bounds_{bounding_};
  tune::Target roomy_ = question_.target;
  std::vector<Precision> precisions_;
  std::vector<std::pair<std::string, ModelSpec>> models_;
  std::set<std::string> held_shapes_;
  Found held_, fitted_;
  Candidates out_;
};

}  // namespace

Candidates candidates_of(const CandidateQuestion& question) { return Gathering(question).run(); }

}  // namespace halmark::onboard
