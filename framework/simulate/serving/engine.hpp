// One engine: a queue, a batch, the KV blocks, and what its next step computes. It knows no clock:
// the server tells it when a step begins and ends.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "model/serving/engine_terms.hpp"
#include "simulate/serving/kv_blocks.hpp"
#include "simulate/serving/load.hpp"
#include "simulate/serving/step_clock.hpp"

namespace halmark::serving {

// both: prompts and tokens in the same steps. prefill, decode: one of a pair, see ServerPlan.
enum class Role { both, prefill, decode };

struct EnginePlan {
  std::int64_t token_budget = 8192;
  std::int64_t requests_max = 0;  // in the batch; 0 = no limit
  bool chunks_prompts = true;     // a prompt may pass in several steps
  bool keeps_prefixes = true;     // blocks of common prefixes stay while there is room
  // Admits a request only where its whole output has room: then nobody is ever put off.
  bool reserves_output = false;
  std::int64_t block_tokens = 16;
  std::int64_t blocks = 0;  // of the KV cache of one engine
  double block_bytes = 0;   // on all ranks of the engine
  // A request of higher priority puts others off, or one moves to another engine, only where the
  // modelled gain is above this many times the modelled cost.
  double hysteresis = 1.5;
  EngineTerms terms;
};

// A request on its way.
struct Live {
  std::uint32_t request = 0;
  std::int64_t prompt = 0;     // tokens to compute before the next one; grows when it is put off
  std::int64_t computed = 0;   // tokens whose keys are in the cache
  std::int64_t generated = 0;  // tokens
  std::int64_t input = 0, output = 0;
  std::int64_t prefix_tokens = 0;
  std::int32_t priority = 0;
  std::uint32_t put_off = 0;  // times
  bool has_moved = false;     // to another engine: it does so once
  std::int64_t piece = 0;     // of the prompt, in the step in progress
  bool decodes = false;       // in the step in progress
  HeldBlocks blocks;

  bool is_prompt_done() const { return computed >= prompt; }
  bool is_answered() const { return generated >= output; }
};

// What a step in progress will have done.
struct StepResult {
  std::vector<std::uint32_t> first;  // requests that got their first token
  std::vector<Live> answered;        // their blocks are given back
  std::vector<Live> handed_over;     // of a prefill engine: prompt done; blocks still held
  std::int64_t tokens = 0;           // generated
};

class Engine {
 public:
  // `blocks`: may be one pool of two engines that share a device. Both must outlive the engine.
  Engine(Role role, const EnginePlan& plan, StepClock& clock, KvBlocks& blocks)
      : role_(role), plan_(plan), clock_(clock), blocks_(blocks) {}

  void enqueue(Live request);
  // Takes in a request whose prompt is done, with the blocks that it holds in this pool, or none.
  // False: no room for it now.
  bool adopt(Live request, bool brings_blocks);

  // Chooses what the next step computes and takes the blocks for it. Nothing: there is nothing to
  // do, or no room to do it in.
  std::optional<StepWork> begin_step();
  // Time of it with the terms of the engine.
  double step_ns(const StepWork& work) const;
  StepResult end_step();
  // A request of the batch as it moves to another engine: the last that came, none in a step.
  std::optional<Live> give_away();

  std::span<const Live> batch() const { return batch_; }
  const std::deque<Live>& waiting() const { return waiting_; }
  std::size_t load() const { return batch_.size() + waiting_.size(); }
  bool is_stepping() const { return stepping_; }
  bool is_full() const {
    return plan_.requests_max > 0 && std::ssize(batch_) >= plan_.requests_max;
  }
  KvBlocks& blocks() { return blocks_; }
  const KvBlocks& blocks() const { return blocks_; }
  Role role() const { return role_; }
  std::int64_t put_off() const { return put_off_; }
  // Steps at their last time until the first of the batch is answered.
  double wait_for_room_ns() const;
  // A step in which the batch and `more` requests of `keys` keys each decode.
  double decode_step_ns(std::int64_t more, std::int64_t keys) const;

 private:
  bool make_room(std::size_t of, std::int64_t blocks);
  void put_off(std::size_t victim);
  bool takes_decode(std::size_t at, StepWork& work, std::int64_t& room);
  bool takes_piece(Live& request, StepWork& work, std::int64_t& room);
  void admit(StepWork& work, std::int64_t& room);
  bool put_off_for_priority(const Live& head);
  double recompute_ns(const Live& victim) const;

  Role role_;
  const EnginePlan& plan_;
  StepClock& clock_;
  KvBlocks& blocks_;
  std::deque<Live> waiting_;  // by priority, then by arrival
  std::vector<Live> batch_;   // in order of admission
  bool stepping_ = false;
  std::int64_t put_off_ = 0;
  mutable double last_step_ns_ = 0;
};

}  // namespace halmark::serving
