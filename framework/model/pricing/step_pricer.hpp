// StepPricer: prices many deployments of one model by sharing what they have in common. The same
// sums as Composer makes, to rounding, for sources whose times follow from the operator alone.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/composer.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/rank_template.hpp"

namespace halmark {

// Sums over the operators of each layer type.
using TypeTimes = std::vector<KernelTime>;

// What stages execute per micro-batch, without repetitions.
struct StageShape {
  std::vector<double> counts;  // per layer type
  Stage stage;                 // the first that has it
  std::int32_t first_stage = 0;
  std::int64_t stages = 1;  // that have it
};

struct StageMemory {
  std::int64_t weight_bytes = 0, kv_bytes_per_sequence = 0;
  bool has_head = false;
  std::int64_t stages = 1;  // that are alike
};

// Of the matmul FLOPs of all operators at the peaks of one whole device; nothing when one is
// missing.
std::optional<double> ideal_device_ns(const OperatorGraph& graph, const Device& device);

// One thread. Keeps a reference to `spec`.
class StepPricer {
 public:
  // Time of one execution of an operator's local problem; is_known = false where there is none.
  using TimeOf = std::function<KernelTime(const Operator&)>;
  // `peaks`: what MFU is judged by, whole devices; null = no MFU.
  StepPricer(const ModelSpec& spec, TimeOf time_of, const Device* peaks, std::int64_t routing_skew);

  // A parallel layout in one precision, checked once. Same arguments, same number.
  using Layout = std::int32_t;
  Layout layout(const Parallel& parallel, const Precision& precision);
  // Why no batch of this layout is possible; nothing when one is.
  const std::optional<Refusal>& refusal(Layout layout) const;
  const Parallel& parallel(Layout layout) const;

  // One step of `batch` sequences over the whole deployment. Nothing when dp x pp does not divide
  // the batch or a kernel has no time; see refusal() for the rest.
  std::optional<Price> price(Layout layout, Phase phase, std::int64_t batch,
                             std::int64_t new_tokens, std::int64_t context);

  // Times of one micro-batch on one rank, per layer type, in three parts that add up to it: of what
  // follows from the number of tokens alone, whatever sequences they belong to; from the number of
  // sequences too; and from their context. References stay valid.
  const TypeTimes& of_tokens(Layout layout, std::int64_t tokens);
  const TypeTimes& of_sequences(Layout layout, Phase phase, std::int64_t sequences,
                                std::int64_t new_tokens);
  const TypeTimes& of_context(Layout layout, Phase phase, const RankLoad& load);
  // Handing the activations of a micro-batch over to the next stage; zero with one stage.
  KernelTime hand_over(Layout layout, std::int64_t tokens);
  const std::vector<StageShape>& stages(Layout layout) const;
  std::int32_t head_type() const { return head_type_; }          // into sums; -1 = none
  std::int32_t pipeline_type() const { return pipeline_type_; }  // likewise

  // Of the distinct stages, on one rank; sequences of `context` tokens.
  const std::vector<StageMemory>& stage_memory(Layout layout, std::int64_t context);
  // Activations of a step of `tokens` tokens of one sequence, one row of logits included.
  std::int64_t activation_bytes(Layout layout, std::int64_t tokens);

  std::size_t graphs_built() const { return graphs_built_; }

 private:
  struct HandOver {
    Operator op;
    std::int64_t bytes_per_token = 0;
  };
  // Layouts whose operators are alike on one rank, except for the pipeline's own.
  struct RankClass {
    Parallel parallel;  // the smallest deployment of the class
    Precision precision;
    OperatorGraph sample;                                   // one decoded token
    std::optional<RankTemplate> decode, prefill;            // nothing: sizes move in another way
    std::vector<bool> shared_in_decode, shared_in_prefill;  // then: operators of tokens alone
    std::vector<HandOver> hand_over;                        // between two stages
    std::map<std::int64_t, std::int64_t> activations = {};  // tokens -> bytes
    std::int32_t alone = 0;  // the class of one device in this precision
  };
  struct LayoutFacts {
    Parallel parallel;
    std::int32_t rank_class = 0;
    std::int32_t stages = 0;  // into stage_shapes_
    std::optional<Refusal> refusal = {};
  };
  struct Key {
    std::int32_t rank_class = 0;
    Phase phase = Phase::decode;
    std::int64_t sequences = 0, new_tokens = 0, context = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  // Who asks in order asks for the same value many times: the last one is at hand.
  template <class Value>
  class Memo {
   public:
    template <class Make>
    Value& get(const Key& key, const Make& make) {
      if (last_ != nullptr && key == last_key_) return *last_;
      auto found = values_.find(key);
      if (found == values_.end()) found = values_.emplace(key, make()).first;
      last_key_ = key;
      last_ = &found->second;
      return *last_;
    }

   private:
    std::unordered_map<Key, Value, KeyHash> values_;
    Key last_key_;
    Value* last_ = nullptr;
  };

  // Of one micro-batch in several contexts: asked for in the same order again and again.
  class ContextTimes {
   public:
    // The place of a context, new ones at the end; its times are empty until they are made.
    TypeTimes& at(std::int64_t context);

   private:
    std::deque<std::pair<std::int64_t, TypeTimes>> times_;  // does not move what it holds
    std::unordered_map<std::int64_t, std::size_t> places_;
    std::size_t next_ = 0;
  };

  std::int32_t rank_class(const Parallel& parallel, const Precision& precision);
  void find_templates(RankClass& rank_class);
  std::int32_t stages_of(int pp);
  OperatorGraph graph(const RankClass& rank_class, Phase phase, const RankLoad& load, int pp = 1);
  TypeTimes summed(RankClass& rank_class, Phase phase, const RankLoad& load,
                   RankTemplate::Dependence dependence);
  std::optional<double> ideal_sequence_ns(std::int32_t rank_class, Phase phase,
                                          std::int64_t new_tokens, std::int64_t context);
  std::optional<double> made_ideal_ns(RankClass& alone, Phase phase, const RankLoad& load);
  KernelTime made_hand_over(RankClass& rank_class, int pp, std::int64_t tokens);
  const LayoutFacts& facts(Layout layout) const {
    return layouts_[static_cast<std::size_t>(layout)];
  }

  const ModelSpec& spec_;
  TimeOf time_of_;
  const Device* peaks_;
  std::int64_t routing_skew_;
  std::int32_t head_type_ = -1, pipeline_type_ = -1;
  std::vector<RankClass> classes_;
  std::vector<LayoutFacts> layouts_;
  std::map<std::pair<Parallel, Precision>, Layout> layout_index_;
  std::vector<std::vector<StageShape>> stage_shapes_;
  std::map<int, std::int32_t> stage_index_;  // by pp
  Memo<TypeTimes> of_tokens_, of_sequences_;
  Memo<ContextTimes> of_context_;
  Memo<std::optional<double>> ideal_;
  Memo<KernelTime> hand_overs_;
  std::map<std::pair<Layout, std::int64_t>, std::vector<StageMemory>> memories_;
  std::size_t graphs_built_ = 0;
};

}  // namespace halmark
