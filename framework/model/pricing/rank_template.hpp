// RankTemplate: the operators of one rank as functions of what its micro-batch holds. Found by
// building a few graphs and seeing how the problems move; saves building one for every size.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/graph/expert_layout.hpp"
#include "model/graph/graph.hpp"

namespace halmark {

// What a parameter of a problem can be proportional to.
enum class ProbedMeasure {
  nothing,
  tokens,
  sequences,
  context,
  new_tokens,
  cached,
  group_rows,      // of routed experts, on the heaviest rank of the whole expert group
  tensor_rows,     // likewise of one tensor group
  pair_rows,       // that a replica sends to one rank, at most
  group_heaviest,  // which rank that is
  tensor_heaviest,
};
inline constexpr std::size_t load_measures = 11;

class RankTemplate {
 public:
  // What an operator's problem follows from: the tokens alone, the number of sequences too, or the
  // context.
  enum class Dependence { tokens, sequences, context };
  struct Entry {
    Operator op;  // of the last load that was asked for
    std::int32_t layer_type = 0;
    Dependence dependence = Dependence::context;
    struct Moving {
      std::size_t param = 0;  // into op.local.params
      ProbedMeasure measure = ProbedMeasure::nothing;
      std::int64_t factor = 0;
    };
    std::vector<Moving> moving;
    const OpContract* contract = nullptr;
  };

  // `probe` builds the graph of a load. Nothing where some parameter moves in another way.
  using Probe = std::function<OperatorGraph(const RankLoad&)>;
  static std::optional<RankTemplate> find(const Probe& probe, std::span<const RankLoad> loads,
                                          const ExpertLayout& layout, std::int64_t routing_skew);

  // Calls `use` with the operators of that dependence, their problem and work those of the load.
  void visit(Dependence dependence, const RankLoad& load,
             const std::function<void(const Entry&)>& use);
  std::span<Entry> entries() { return entries_; }
  void find_needs();  // after dependences changed
  std::span<const Entry> entries() const { return entries_; }

 private:
  using Measures = std::array<std::int64_t, load_measures>;
  Measures measures(const RankLoad& load) const;  // without those of routed rows
  void add_routed(const RankLoad& load, Measures& measures) const;

  std::vector<Entry> entries_;
  std::array<bool, 3> needs_routing_{};  // by dependence
  std::optional<ExpertSpec> experts_;
  ExpertLayout layout_;
  std::int64_t routing_skew_ = 0;
};

// Marks as depending on tokens what both phases compute alike for as many tokens.
void mark_shared(RankTemplate& decode, RankTemplate& prefill);

}  // namespace halmark
