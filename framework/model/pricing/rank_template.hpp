// RankTemplate: the operators of one rank as functions of what its micro-batch holds, from the
// terms that the builder of a graph wrote into them. Saves building a graph for every size.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/graph/graph.hpp"
#include "model/graph/sizing.hpp"

namespace halmark {

class RankTemplate {
 public:
  // What an operator's problem follows from: the tokens of the step alone, whatever sequences they
  // belong to; the sequences of one phase too; or their context.
  enum class Dependence : std::uint8_t { tokens, sequences, context };
  struct Entry {
    Operator op;  // of the last load that was asked for
    std::int32_t layer_type = 0;
    Dependence dependence = Dependence::context;
    const OpContract* contract = nullptr;
  };

  // Of a graph of either phase. All that follows from tokens counts as of its phase's sequences
  // until share_tokens finds it in the other phase.
  explicit RankTemplate(const OperatorGraph& graph);

  // Whether the graph of this load has the same operators: it answers alike where the builder chose
  // by the load.
  bool agrees_with(const RankLoad& load) const;

  // Calls `use` with the operators of that dependence, their problem and work those of the load.
  template <class Use>
  void visit(Dependence dependence, const RankLoad& load, const Use& use) {
    for (const std::size_t i : of_[static_cast<std::size_t>(dependence)]) {
      Entry& entry = entries_[i];
      move(entry, load);
      use(static_cast<const Entry&>(entry));
    }
  }

  // Marks as depending on tokens what `other`, of the other phase, computes alike for as many
  // tokens: the same op, constants and terms.
  void share_tokens(const RankTemplate& other);
  // The same operators in everything but the context.
  bool is_alike_without_context(const RankTemplate& other) const;
  std::span<const Entry> entries() const { return entries_; }

 private:
  static void move(Entry& entry, const RankLoad& load);
  void sort_entries();

  std::vector<Entry> entries_;
  std::array<std::vector<std::size_t>, 3> of_;  // entries by dependence
  std::vector<LoadBranch> branches_;
};

}  // namespace halmark
