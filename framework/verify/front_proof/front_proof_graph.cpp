// Every combination of the space is looked at: whether it is a configuration is not the proof's to
// say, so a point that was left out, or called too large for the memory, is found.
#include <algorithm>
#include <map>
#include <set>

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/composer.hpp"
#include "model/pricing/memory.hpp"
#include "verify/front_proof/front_proof_context.hpp"
#include "verify/front_proof/front_proof_key.hpp"
#include "verify/front_proof/front_proof_plan.hpp"

namespace halmark::front_proof {
namespace {

// Rings: as long as their plateau, at most 512 MiB, and a quarter of what a rank may use.
constexpr std::int64_t ring_bytes_max = 512ll << 20, plateau_otherwise = 256ll << 20;

StackPlacement placement_of(const TargetRecord& target, int ranks) {
  if (target.cores == 0) return {.backend = target.backend, .parts = 1};
  const std::int64_t plateau = target.ring_plateau_bytes.value_or(plateau_otherwise);
  return {.backend = target.backend,
          .device = target.device,
          .parts = std::min(ranks, target.cores),
          .ring_bytes = std::min({plateau, ring_bytes_max, target.memory_bytes / 4 / ranks})};
}

bool is_number(const Node& node, double value) {
  return node.op == Node::Op::number && node.number == value;
}

// ["scale", count, ["kernel", id]]
bool is_term(const Node& node, double count, std::size_t kernel) {
  return node.op == Node::Op::scale && node.operands.size() == 2 &&
         is_number(node.operands[0], count) && node.operands[1].op == Node::Op::kernel &&
         node.operands[1].index == kernel;
}

class Graphs {
 public:
  Graphs(const Proof& proof, const ProofSpace& space)
      : proof_(proof), space_(space), plan_(proof), spec_(spec_of(proof)) {
    plan_.check_space();
    for (const auto k : indices(proof.kernels)) {
      const KernelCase kernel_case = *read_kernel_key(proof.kernels[k].key);
      if (!ids_.try_emplace(without_choice(kernel_case), k).second) {
        throw Broken(proof.kernels[k].line, "two kernels answer the same question");
      }
    }
  }

  KnownSpace run() {
    if (proof_.is_definition) throw Broken(1, "the step of a model is no definition");
    known_.left_out_by.assign(space_.combinations(), -1);
    for (std::uint64_t c = 0; c < space_.combinations(); ++c) check(c);
    if (used_.size() != proof_.kernels.size()) {
      throw Broken(proof_.target->line, "a kernel belongs to no configuration");
    }
    if (plan_.is_whole()) check_plan();
    return std::move(known_);
  }

 private:
  static ModelSpec spec_of(const Proof& proof) {
    try {
      return read_model(proof.model->config, proof.model->id);
    } catch (const Error& e) {
      throw Broken(proof.model->line, "the model cannot be read: " + e.line());
    }
  }

  std::vector<std::size_t> levels(std::uint64_t combination) const {
    return mapped(indices(proof_.domains),
                  [&](const auto d) { return space_.level(combination, d); });
  }

  // The first rule with an expression that the combination breaks.
  std::optional<std::size_t> broken_rule(std::uint64_t combination) const {
    for (const auto k : indices(proof_.constraints)) {
      if (space_.breaks(combination, k).value_or(false)) return k;
    }
    return std::nullopt;
  }

  // That a combination is no configuration, because of a constraint: the last two of the plan's
  // are those without an expression.
  void expect_left_out(std::uint64_t combination, std::size_t constraint, const std::string& why) {
    known_.left_out_by[combination] = as_int(constraint);
    const auto* config = find_value(proof_.configs, levels(combination));
    if (!config) return;
    throw Broken(config->line, "combination " + std::to_string(combination) + " is " + why);
  }

  void check(std::uint64_t combination) {
    const std::vector<std::size_t> at = levels(combination);
    const std::size_t impossible = proof_.constraints.size() - 1;
    if (!plan_.is_of_a_problem(at)) {
      return expect_left_out(combination, impossible - 1, "of no problem of the plan");
    }
    if (const auto rule = broken_rule(combination)) {
      return expect_left_out(combination, *rule, "against a constraint");
    }
    const Configuration configuration = plan_.configuration(at, spec_, proof_.target->has_bf16);
    auto graph = build_graph(spec_, configuration);
    std::optional<Refusal> refusal;
    if (!graph) refusal = *graph.why();
    if (!refusal) refusal = too_large(*graph);
    if (refusal) {
      left_out_.insert(configuration.key() + ": " + refusal->text);
      return expect_left_out(combination, impossible, "impossible: " + refusal->text);
    }
    const auto* config = find_value(proof_.configs, at);
    if (!config) {
      throw Broken(proof_.space_line, "combination " + std::to_string(combination) +
                                          " is a configuration, and is left out");
    }
    known_.keys[combination] = configuration.key();
    check(*config, at.front(), std::move(*graph));
  }

  std::optional<Refusal> too_large(const OperatorGraph& graph) const {
    const TargetRecord& target = *proof_.target;
    const int ranks = graph.configuration.devices();
    const bool is_shared = target.cores > 0;
    return check_memory(memory_use(graph),
                        is_shared ? target.memory_bytes / ranks : target.memory_bytes);
  }

  // The configuration's own step, compiled anew, against what its record states.
  void check(const Config& stated, std::size_t front, OperatorGraph graph) {
    if (stated.front != front) throw Broken(stated.line, "it belongs to the front of its phase");
    const int ranks = graph.configuration.devices();
    const auto memory = as_double(memory_use(graph).total_bytes);
    const Composer composer(std::move(graph), placement_of(*proof_.target, ranks), {});
    KernelTable table;
    const StepSum sum = composer.compile(table);
    std::vector<std::size_t> ids;
    for (const KernelCase& kernel_case : table.cases()) {
      const auto* id = find_value(ids_, without_choice(kernel_case));
      if (!id) {
        throw Broken(stated.line, "kernel '" + kernel_case.key() + "' of its graph is missing");
      }
      ids.push_back(*id);
      used_.insert(*id);
    }
    for (const auto j : indices(stated.objectives)) {
      if (is_objective(stated.objectives[j], proof_.objectives[j].name, sum, ids, memory)) continue;
      throw Broken(stated.line, "the formula of " + proof_.objectives[j].name +
                                    " is not that of the model's graph");
    }
  }

  static bool is_objective(const Node& node, const std::string& name, const StepSum& sum,
                           const std::vector<std::size_t>& ids, double memory) {
    if (name == "memory") return is_number(node, memory);
    if (name == "latency") return is_step(node, sum, ids);
    if (node.op != Node::Op::scale || node.operands.size() != 2) return false;
    const Node& rate = node.operands[1];
    return is_number(node.operands[0], 1e9) && rate.op == Node::Op::rate &&
           rate.operands.size() == 2 && is_number(rate.operands[0], sum.tokens) &&
           is_step(rate.operands[1], sum, ids);
  }

  static bool is_step(const Node& node, const StepSum& sum, const std::vector<std::size_t>& ids) {
    if (node.op != Node::Op::scale || node.operands.size() != 2) return false;
    const Node& slowest = node.operands[1];
    if (!is_number(node.operands[0], sum.micro_batches) || slowest.op != Node::Op::max ||
        slowest.operands.size() != sum.stages.size()) {
      return false;
    }
    for (const auto s : indices(sum.stages)) {
      const auto terms = sum.terms_of(s);
      const Node& stage = slowest.operands[s];
      if (stage.op != Node::Op::sum || stage.operands.size() != terms.size()) return false;
      for (const auto i : indices(terms)) {
        const std::size_t id = ids[as_size(terms[i].kernel)];
        if (!is_term(stage.operands[i], terms[i].count, id)) return false;
      }
    }
    return true;
  }

  // What the plan says that can be left out, and the kernels that it hashed.
  void check_plan() const {
    if (left_out_ != plan_.left_out()) {
      throw Broken(proof_.target->line,
                   "the plan leaves out other configurations than this target");
    }
    const std::vector<std::size_t>& order = proof_.target->kernel_order;
    std::string keys;
    for (const std::size_t k : order) {
      if (k >= proof_.kernels.size()) throw Broken(proof_.target->line, "names an unknown kernel");
      keys += proof_.kernels[k].key + '\n';
    }
    if (order.size() != proof_.kernels.size() || order.size() != plan_.kernel_count() ||
        sha256_of(keys) != plan_.kernels_sha256()) {
      throw Broken(proof_.target->line, "the kernels are not those that the plan hashed");
    }
  }

  const Proof& proof_;
  const ProofSpace& space_;
  StatedPlan plan_;
  ModelSpec spec_;
  std::map<KernelCase, std::size_t> ids_;
  std::set<std::size_t> used_;
  std::set<std::string> left_out_;
  KnownSpace known_;
};

}  // namespace

KnownSpace check_graphs(const Proof& proof, const ProofSpace& space) {
  try {
    return Graphs(proof, space).run();
  } catch (const Error& e) {
    throw Broken(proof.model->line, "the model's graph refuses a configuration: " + e.line());
  }
}

}  // namespace halmark::front_proof
