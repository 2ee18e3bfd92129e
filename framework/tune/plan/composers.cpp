// A graph costs about a millisecond and a hundred kilobytes: it is built for the configurations
// that a search really asks for, never for a whole space.
#include "tune/plan/composers.hpp"

#include "core/lists.hpp"
#include "model/pricing/memory.hpp"
#include "tune/plan/rank_places.hpp"

namespace halmark::tune {

Composers::Composers(const ModelSpec& spec, const Target& target, bool is_measured)
    : spec_(spec), target_(target), is_measured_(is_measured) {}

Composers::Entry Composers::made(const Configuration& configuration) const {
  auto built = build_graph(spec_, configuration);
  if (const Refusal* refusal = built.why()) return {{}, *refusal};
  OperatorGraph& graph = *built;
  if (is_measured_) require_measurable(graph);
  if (auto wrong = check_places(configuration, is_measured_ && !target_.fabric)) {
    return {{}, std::move(*wrong)};
  }
  if (auto wrong = check_nodes(configuration, target_)) return {{}, std::move(*wrong)};
  if (auto short_of = check_ranks(memory_use(graph), configuration, target_)) {
    return {{}, std::move(*short_of)};
  }
  return {
      Composer(std::move(graph), target_.placement(configuration), target_.facts(configuration)),
      {}};
}

const Composers::Entry& Composers::of(const Configuration& configuration) {
  const auto* known = find_value(entries_, configuration);
  if (known) return *known;
  const Entry& entry = entries_.emplace(configuration, made(configuration)).first->second;
  if (entry.composer && target_.in_stack) {
    for (const KernelCase& k : entry.composer->kernels()) {
      if (k.mode == CacheMode::in_stack) first_with_.try_emplace(k, &*entry.composer);
    }
  }
  return entry;
}

std::span<const Stack> Composers::stacks_of(const KernelCase& kernel_case) {
  const auto* first = find_value(first_with_, kernel_case);
  if (!first) return {};
  const auto [it, is_new] = short_stacks_.try_emplace(*first);
  if (is_new) {
    const OperatorGraph& graph = (*first)->graph();
    it->second = build_short_stacks(graph, target_.placement(graph.configuration));
  }
  return it->second;
}

std::vector<KernelCase> Composers::kernels(std::span<const Configuration> configurations) {
  std::set<KernelCase> unique;
  for (const Configuration& c : configurations) {
    const Entry& entry = of(c);
    if (!entry.composer) continue;
    unique.insert(entry.composer->kernels().begin(), entry.composer->kernels().end());
  }
  return {unique.begin(), unique.end()};
}

ExitCode exit_code_of(const Refusal& refusal) {
  return refusal.reason == "out_of_memory" ? ExitCode::gate_failed : ExitCode::refused;
}

Evaluation refused_evaluation(const Configuration& configuration, const Refusal& refusal) {
  Evaluation out;
  out.configuration = configuration;
  out.status = Status::refused;
  out.refusal = refusal.reason;
  out.reason = refusal.text;
  return out;
}

}  // namespace halmark::tune
