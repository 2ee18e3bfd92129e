// StepPricer: prices many deployments of one model by sharing what they have in common, for sources
// whose times follow from the operator alone. A layout's StepSum over layer types in place of
// kernels: to rounding the same as the Composer's.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/device.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/flat_table.hpp"
#include "model/pricing/layout/layout_memory.hpp"
#include "model/pricing/layout/layouts.hpp"
#include "model/pricing/layout/rank_template.hpp"
#include "model/pricing/step_sum.hpp"

namespace halmark {

// Sums over the operators of each layer type.
using TypeTimes = std::vector<KernelTime>;

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

  StepPricer(const StepPricer&) = delete;
  StepPricer& operator=(const StepPricer&) = delete;

  using Layout = Layouts::Id;
  Layout layout(const Parallel& parallel, const Precision& precision) {
    return layouts_.id(parallel, precision);
  }
  // Why no batch of this layout is possible; nothing when one is.
  const std::optional<Refusal>& refusal(Layout layout) const { return layouts_[layout].refusal; }
  const Parallel& parallel(Layout layout) const { return layouts_[layout].parallel; }

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
  // All three parts of the head alone, on one row of each of `rows` sequences.
  KernelTime of_head(Layout layout, std::int64_t rows, std::int64_t context);
  // Handing the activations of a micro-batch over to the next stage; zero with one stage.
  KernelTime hand_over(Layout layout, std::int64_t tokens);
  const std::vector<StageShape>& stages(Layout layout) const { return layouts_.stages(layout); }
  // A step over times by layer type.
  const StepSum& step(Layout layout) const { return layouts_.step(layout); }
  std::size_t layer_types() const { return layouts_.layer_types(); }
  std::int32_t head_type() const { return layouts_.head_type(); }          // -1 = none
  std::int32_t pipeline_type() const { return layouts_.pipeline_type(); }  // likewise

  const std::vector<StageMemory>& stage_memory(Layout layout, std::int64_t context) {
    return memory_.stages(layout, context);
  }
  std::int64_t activation_bytes(Layout layout, std::int64_t tokens) {
    return memory_.activation_bytes(layout, tokens);
  }

  std::size_t graphs_built() const { return layouts_.graphs_built(); }

 private:
  struct Key {
    std::int32_t rank_class = 0;
    Phase phase = Phase::decode;
    std::int64_t sequences = 0, new_tokens = 0, context = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const;
    std::uint64_t operator()(const FormedProblem& problem) const;
  };
  // Who asks in order asks for the same value many times: the last one is at hand. References stay
  // valid; `make` asks for no value of the same memo.
  template <class Value>
  class Memo {
   public:
    template <class Make>
    Value& get(const Key& key, const Make& make) {
      if (last_ != nullptr && key == last_key_) return *last_;
      const auto of = static_cast<std::size_t>(key.rank_class);
      if (of >= places_.size()) places_.resize(of + 1);
      auto& places = places_[of];
      Value* known = *places.find_or_insert(key).value;
      if (known == nullptr) {
        known = &values_.emplace_back(make());
        *places.find_or_insert(key).value = known;
      }
      last_key_ = key;
      last_ = known;
      return *known;
    }

   private:
    std::vector<FlatTable<Key, Value*, KeyHash>> places_;  // by rank class: small, so near
    std::deque<Value> values_;
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

  TypeTimes times(RankTemplate& operators, RankTemplate::Dependence dependence,
                  const RankLoad& load);
  // Appends the operators of one dependence, of one layer type where it is given, to `asked_`.
  void ask(RankTemplate& operators, RankTemplate::Dependence dependence, const RankLoad& load,
           std::optional<std::int32_t> layer_type = {});
  // Calls `add_to(entry, time)` for each of `asked_`; an operator is moved to its problem only when
  // its time is not known.
  template <class AddTo>
  void add_asked(const AddTo& add_to);
  std::optional<double> ideal_sequence_ns(std::int32_t rank_class, Phase phase,
                                          std::int64_t new_tokens, std::int64_t context);
  std::optional<double> made_ideal_ns(std::int32_t alone, Phase phase, const RankLoad& load);

  TimeOf time_of_;
  const Device* peaks_;
  Layouts layouts_;
  LayoutMemory memory_{layouts_};
  TypeTimes slots_;  // of the step being priced, by layer type
  // Layouts differ in few of their operators: norms, routers and attention are those of others.
  FlatTable<FormedProblem, KernelTime, KeyHash> times_;
  struct Asked {
    RankTemplate::Entry* entry;
    FormedProblem problem;
    std::uint64_t hash;
  };
  std::vector<Asked> asked_;
  Memo<TypeTimes> of_tokens_, of_sequences_;
  Memo<ContextTimes> of_context_;
  Memo<std::optional<double>> ideal_;
  Memo<KernelTime> hand_overs_, heads_;
};

}  // namespace halmark
