#include "simulate/serving/engine.hpp"

#include <algorithm>
#include <cassert>

namespace halmark::serving {

void Engine::enqueue(Live request) {
  // Behind all of its priority and above.
  const auto place = std::ranges::find_if(
      waiting_, [&](const Live& other) { return other.priority < request.priority; });
  waiting_.insert(place, std::move(request));
}

bool Engine::adopt(Live request, bool brings_blocks) {
  if (is_full()) return false;
  if (!brings_blocks) {
    request.blocks = {};
    const std::int64_t tokens =
        plan_.reserves_output ? request.input + request.output : request.computed + 1;
    if (!blocks_.take(request.blocks, blocks_.blocks_of(tokens))) return false;
  }
  batch_.push_back(std::move(request));
  return true;
}

// Blocks for a request of the batch. Where there are none, the last that came of the lowest
// priority is put off, of those whose place in this step is not decided; it may be the request
// itself.
bool Engine::make_room(std::size_t of, std::int64_t blocks) {
  while (!blocks_.take(batch_[of].blocks, blocks)) {
    std::size_t victim = batch_.size() - 1;
    for (std::size_t i = batch_.size(); i-- > of;) {
      if (batch_[i].priority < batch_[victim].priority) victim = i;
    }
    const bool is_itself = victim == of;
    put_off(victim);
    if (is_itself) return false;
  }
  return true;
}

// Its blocks are given back, and all that it had is computed anew when its turn comes.
void Engine::put_off(std::size_t victim) {
  Live request = std::move(batch_[victim]);
  batch_.erase(batch_.begin() + static_cast<std::ptrdiff_t>(victim));
  blocks_.count_recomputed(request.blocks.all());
  blocks_.release(request.blocks);
  request.prompt = request.input + request.generated;
  request.computed = 0;
  request.piece = 0;
  request.decodes = false;
  ++request.put_off;
  ++put_off_;
  const auto place = std::ranges::find_if(
      waiting_, [&](const Live& other) { return other.priority <= request.priority; });
  waiting_.insert(place, std::move(request));
}

bool Engine::takes_decode(std::size_t at, StepWork& work, std::int64_t& room) {
  Live& request = batch_[at];
  const std::int64_t missing = blocks_.blocks_of(request.computed + 1) - request.blocks.all();
  if (missing > 0 && !make_room(at, missing)) return false;
  batch_[at].decodes = true;
  work.add_decode(batch_[at].computed + 1);
  --room;
  return true;
}

bool Engine::takes_piece(Live& request, StepWork& work, std::int64_t& room) {
  const std::int64_t rest = request.prompt - request.computed;
  // A prompt that may not be cut passes whole, beside the tokens of others and, where it exceeds
  // what is left of the budget, as the only one.
  const bool is_alone = !plan_.chunks_prompts && work.pieces == 0;
  const std::int64_t piece = plan_.chunks_prompts ? std::min(rest, room) : rest;
  if (piece <= 0 || (piece > room && !is_alone)) return false;
  const std::int64_t tokens =
      plan_.reserves_output ? request.input + request.output : request.computed + piece;
  const std::int64_t missing = blocks_.blocks_of(tokens) - request.blocks.all();
  if (missing > 0 && !blocks_.take(request.blocks, missing)) return false;
  request.piece = piece;
  work.add_piece(piece, request.computed);
  room -= piece;
  return true;
}

double Engine::recompute_ns(const Live& victim) const {
  StepWork again;
  again.add_piece(std::max<std::int64_t>(1, victim.computed), 0);
  return plan_.terms.whole_step_ns(clock_.step_ns(again), 1, static_cast<double>(victim.computed));
}

double Engine::wait_for_room_ns() const {
  std::int64_t least = 0;
  for (const Live& request : batch_) {
    const std::int64_t left = std::max<std::int64_t>(1, request.output - request.generated);
    if (least == 0 || left < least) least = left;
  }
  return static_cast<double>(least) * last_step_ns_;
}

// What the head of the queue would wait until somebody is answered, against computing the victim's
// tokens again. A request is put off for others once at most, so that two do not push each other.
bool Engine::put_off_for_priority(const Live& head) {
  std::size_t victim = batch_.size();
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const Live& r = batch_[i];
    if (r.priority >= head.priority || r.put_off > 0 || r.piece > 0 || r.decodes) continue;
    if (victim == batch_.size() || r.priority <= batch_[victim].priority) victim = i;
  }
  if (victim == batch_.size()) return false;
  if (wait_for_room_ns() <= plan_.hysteresis * recompute_ns(batch_[victim])) return false;
  put_off(victim);
  return true;
}

void Engine::admit(StepWork& work, std::int64_t& room) {
  while (room > 0 && !waiting_.empty() && !is_full()) {
    Live request = waiting_.front();
    if (plan_.keeps_prefixes && request.blocks.prefix >= 0 && request.computed == 0) {
      const std::int64_t prefix_tokens = std::min(request.prefix_tokens, request.prompt - 1);
      blocks_.attach(request.blocks, prefix_tokens / plan_.block_tokens);
      request.computed = request.blocks.shared * plan_.block_tokens;
    }
    if (!takes_piece(request, work, room)) {
      const std::int64_t reused = request.blocks.shared;
      blocks_.release(request.blocks);
      blocks_.take_back_reused(reused);
      return;
    }
    waiting_.pop_front();
    batch_.push_back(std::move(request));
  }
}

std::optional<StepWork> Engine::begin_step() {
  assert(!stepping_);
  if (!waiting_.empty() && !batch_.empty()) {
    const Live& head = waiting_.front();
    const std::int64_t needed = blocks_.blocks_of(std::min(head.prompt, plan_.token_budget));
    if (is_full() || needed > blocks_.free() + blocks_.kept()) put_off_for_priority(head);
  }
  StepWork work;
  std::int64_t room = plan_.token_budget;
  const std::int64_t put_off_before = put_off_;
  // Tokens first: who decodes is not made to wait for the prompts of others.
  for (std::size_t i = 0; i < batch_.size() && room > 0;) {
    if (!batch_[i].is_prompt_done() || takes_decode(i, work, room)) ++i;
  }
  for (std::size_t i = 0; i < batch_.size() && room > 0; ++i) {
    if (!batch_[i].is_prompt_done() && batch_[i].piece == 0) takes_piece(batch_[i], work, room);
  }
  if (put_off_ == put_off_before) admit(work, room);
  // A batch of half prompts that all lack blocks would stand still: the last gives its own up.
  while (work.is_empty() && batch_.size() > 1) {
    put_off(batch_.size() - 1);
    for (Live& request : batch_) {
      if (!request.is_prompt_done()) takes_piece(request, work, room);
    }
  }
  if (work.is_empty()) return std::nullopt;
  stepping_ = true;
  return work;
}

double Engine::step_ns(const StepWork& work) const {
  last_step_ns_ = plan_.terms.whole_step_ns(clock_.step_ns(work),
                                            static_cast<double>(work.pieces + work.decodes),
                                            static_cast<double>(work.piece_tokens));
  return last_step_ns_;
}

double Engine::decode_step_ns(std::int64_t more, std::int64_t keys) const {
  StepWork work;
  for (const Live& request : batch_) work.add_decode(request.computed + 1);
  for (std::int64_t i = 0; i < more; ++i) work.add_decode(keys);
  return plan_.terms.whole_step_ns(clock_.step_ns(work), static_cast<double>(work.decodes), 0);
}

StepResult Engine::end_step() {
  stepping_ = false;
  StepResult out;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    Live& r = batch_[i];
    bool has_token = r.decodes;
    if (r.decodes) {
      ++r.computed;
    } else if (r.piece > 0) {
      r.computed += r.piece;
      if (plan_.keeps_prefixes && r.blocks.prefix >= 0) {
        blocks_.publish(r.blocks, std::min(r.prefix_tokens, r.computed) / plan_.block_tokens);
      }
      has_token = r.is_prompt_done();
    }
    r.decodes = false;
    r.piece = 0;
    if (has_token) {
      if (++r.generated == 1) out.first.push_back(r.request);
      ++out.tokens;
      if (r.is_answered()) {
        blocks_.release(r.blocks);
        out.answered.push_back(std::move(r));
        continue;
      }
      if (role_ == Role::prefill) {
        out.handed_over.push_back(std::move(r));
        continue;
      }
    }
    if (kept != i) batch_[kept] = std::move(r);
    ++kept;
  }
  batch_.resize(kept);
  return out;
}

std::optional<Live> Engine::give_away() {
  if (stepping_) return std::nullopt;
  for (std::size_t i = batch_.size(); i-- > 0;) {
    if (!batch_[i].is_prompt_done() || batch_[i].has_moved) continue;
    Live out = std::move(batch_[i]);
    batch_.erase(batch_.begin() + static_cast<std::ptrdiff_t>(i));
    return out;
  }
  return std::nullopt;
}

}  // namespace halmark::serving
