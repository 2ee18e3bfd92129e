// Layouts: parallel layouts of one model, by what they have in common. Many layouts execute the
// same on one rank; many cut the layers into the same stages.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/numeric/cast.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/layout/rank_template.hpp"
#include "model/pricing/step_sum.hpp"

namespace halmark {

// What stages execute per micro-batch, without repetitions.
struct StageShape {
  std::vector<double> counts;  // per layer type
  Stage stage;                 // the first that has it
  std::int32_t first_stage = 0;
  std::int64_t stages = 1;  // that have it
};

// Layouts whose operators are alike on one rank, except for the pipeline's own.
struct RankClass {
  Parallel parallel;  // the smallest deployment of the class
  Precision precision;
  OperatorGraph sample;  // one decoded token
  // Of each phase: one for every set of operators that loads lead to, in the order of need.
  std::deque<RankTemplate> decode = {}, prefill = {};
  std::int32_t alone = 0;                // the class of one device in this precision
  std::vector<Operator> hand_over = {};  // between two stages; in the class of one device only
};

// One thread. Keeps a reference to `spec`.
class Layouts {
 public:
  Layouts(const ModelSpec& spec, std::int64_t routing_skew);
  Layouts(const Layouts&) = delete;
  Layouts& operator=(const Layouts&) = delete;

  // A parallel layout in one precision, checked once. Same arguments, same number.
  using Id = std::int32_t;
  Id id(const Parallel& parallel, const Precision& precision);

  struct Facts {
    Parallel parallel;
    std::int32_t rank_class = 0;
    std::int32_t cut = 0;                 // see stages()
    std::optional<Refusal> refusal = {};  // why no batch is possible; the rest is absent then
  };
  const Facts& operator[](Id layout) const { return layouts_[as_size(layout)]; }
  const std::vector<StageShape>& stages(Id layout) const { return cut(layout).shapes; }
  // A step over times of one micro-batch per layer type.
  const StepSum& step(Id layout) const { return cut(layout).step; }

  const RankClass& rank_class(std::int32_t of) const { return classes_[as_size(of)]; }
  std::size_t layer_types() const { return layer_types_; }
  // The operators of a micro-batch; without a load those that see no context.
  RankTemplate& operators(std::int32_t of_class, Phase phase);
  RankTemplate& operators(std::int32_t of_class, Phase phase, const RankLoad& load);
  // What a rank passes to the next stage. Needs more than one.
  std::vector<Operator> hand_over(Id layout, std::int64_t tokens);

  std::int32_t head_type() const { return head_type_; }          // -1 = none
  std::int32_t pipeline_type() const { return pipeline_type_; }  // likewise
  std::size_t graphs_built() const { return graphs_built_; }

  static Workload workload_of(Phase phase, std::int64_t batch, std::int64_t new_tokens,
                              std::int64_t context, std::int64_t routing_skew);

 private:
  struct Cut {
    std::vector<StageShape> shapes;
    StepSum step;
  };
  const Cut& cut(Id layout) const { return cuts_[as_size((*this)[layout].cut)]; }
  std::int32_t class_of(const Parallel& parallel, const Precision& precision);
  std::int32_t cut_of(const Parallel& parallel);
  OperatorGraph graph(const Parallel& parallel, const Precision& precision, Phase phase,
                      const RankLoad& load);

  const ModelSpec& spec_;
  std::int64_t routing_skew_;
  std::size_t layer_types_ = 0;
  std::int32_t head_type_ = -1, pipeline_type_ = -1;
  std::deque<RankClass> classes_;
  std::vector<Facts> layouts_;
  std::map<std::pair<Parallel, Precision>, Id> ids_;
  // Spaces are walked layout by layout.
  std::map<std::pair<Parallel, Precision>, Id>::const_iterator last_ = ids_.end();
  std::vector<Cut> cuts_;
  std::map<std::pair<int, std::vector<int>>, std::int32_t> cut_of_;  // by pp and its stages
  ProblemForms forms_;
  std::size_t graphs_built_ = 0;
};

}  // namespace halmark
