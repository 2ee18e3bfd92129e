// RankTemplate: the operators of one rank as functions of what its micro-batch holds, from the
// terms that the builder of a graph wrote into them. Saves building a graph for every size.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/graph/graph.hpp"
#include "model/graph/sizing.hpp"

namespace halmark {

// Operators by what does not follow from the load: op, constants, which parameters move, and where
// the ranks lie. With the values of those an operator of any layout has the same problem in the
// same place.
class ProblemForms {
 public:
  std::int32_t id_of(const Operator& op);  // adds it when new

 private:
  struct Form {
    Problem problem;
    std::vector<std::size_t> moving;
    std::int64_t group_stride = 1;
    std::optional<RoutedShare> routed;
    auto operator<=>(const Form&) const = default;
  };
  std::map<Form, std::int32_t> ids_;
};

// A problem as its form and the values of the parameters that move.
struct FormedProblem {
  static constexpr std::size_t values_max = 4;
  std::int32_t form = 0;
  std::array<std::int64_t, values_max> values = {};
  bool operator==(const FormedProblem&) const = default;
};

class RankTemplate {
 public:
  // What an operator's problem follows from: the tokens of the step alone, whatever sequences they
  // belong to; the sequences of one phase too; or their context.
  enum class Dependence : std::uint8_t { tokens, sequences, context };
  struct Entry {
    Operator op;  // of the last load that it was moved to
    std::int32_t layer_type = 0;
    Dependence dependence = Dependence::context;
    const OpContract* contract = nullptr;
    bool has_derived = false;  // parameters that the contract derives from the others
    std::int32_t form = 0;
    // Of op.local_terms, and of the tokens that are routed, into the distinct terms of the
    // template.
    std::vector<std::size_t> terms;

    // Makes problem and works of `op` those of the values.
    void move(const FormedProblem& to);
  };

  // Of a graph of either phase. All that follows from tokens counts as of its phase's sequences
  // until share_tokens finds it in the other phase.
  RankTemplate(const OperatorGraph& graph, ProblemForms& forms);

  // Whether the graph of this load has the same operators: it answers alike where the builder chose
  // by the load.
  bool agrees_with(const RankLoad& load) const;

  // Calls `use(entry, problem)` with the operators of that dependence, of one layer type where it
  // is given, and their problems under the load. Entries stay where they are: a caller that needs
  // their work moves them.
  template <class Use>
  void visit(Dependence dependence, const RankLoad& load, const Use& use,
             std::optional<std::int32_t> layer_type = {}) {
    ++visit_;
    for (const std::size_t i : of_[static_cast<std::size_t>(dependence)]) {
      if (layer_type && entries_[i].layer_type != *layer_type) continue;
      use(entries_[i], problem_of(entries_[i], load));
    }
  }

  // Marks as depending on tokens what `other`, of the other phase, computes alike for as many
  // tokens: the same op, constants and terms.
  void share_tokens(const RankTemplate& other);
  // The same operators in everything but the context.
  bool is_alike_without_context(const RankTemplate& other) const;
  std::span<const Entry> entries() const { return entries_; }

 private:
  // A distinct term with its value in the visit that asked last.
  struct Term {
    SizeTerm::Pointer term;
    std::int64_t value = 0;
    std::uint64_t visit = 0;
  };
  std::size_t term_index(const SizeTerm::Pointer& term);
  FormedProblem problem_of(const Entry& entry, const RankLoad& load);
  void sort_entries();

  std::vector<Entry> entries_;
  std::array<std::vector<std::size_t>, 3> of_;  // entries by dependence
  std::vector<Term> terms_;
  std::uint64_t visit_ = 0;
  std::vector<LoadBranch> branches_;
};

}  // namespace halmark
