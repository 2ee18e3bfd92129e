// Times of the steps that the events ask for, of which every request has lengths of its own.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "model/serving/serving_pricer.hpp"

namespace halmark::serving {

// What one step computes. Attention follows from the keys that its tokens see, all other work from
// their number.
struct StepWork {
  std::int64_t pieces = 0, piece_tokens = 0;  // of prompts, and tokens of all of them
  double piece_keys = 0;                      // seen by those tokens, sum over all
  std::int64_t decodes = 0, decode_keys = 0;  // decoding requests, and keys that they see
  void add_piece(std::int64_t tokens, std::int64_t cached) {
    ++pieces;
    piece_tokens += tokens;
    piece_keys += static_cast<double>(tokens) *
                  (static_cast<double>(cached) + static_cast<double>(tokens) / 2);
  }
  void add_decode(std::int64_t keys) {
    ++decodes;
    decode_keys += keys;
  }
  bool is_empty() const { return pieces == 0 && decodes == 0; }
  // The same as equal pieces with as many tokens and as many keys.
  StepMix mix() const;
};

// On the device; an engine adds its terms. Throws Error (exit 2) where a kernel has no time.
class StepClock {
 public:
  virtual ~StepClock() = default;
  virtual double step_ns(const StepWork& work) = 0;
};

// By times that take all decoding requests to have one context, whatever it is.
class MixClock : public StepClock {
 public:
  explicit MixClock(const StepTimes& times) : times_(times) {}
  double step_ns(const StepWork& work) override;

 private:
  const StepTimes& times_;
};

// By the kernels of a layout. Keys are taken to the next of 32 steps per octave, so that few steps
// are priced and the others looked up: at most 1.6 % of attention's time.
class LayoutClock : public StepClock {
 public:
  // `scale`: see LayoutTimes.
  LayoutClock(StepPricer& pricer, StepPricer::Layout layout, double scale = 1)
      : pricer_(pricer), layout_(layout), scale_(scale) {}
  double step_ns(const StepWork& work) override;
  std::size_t priced() const { return known_.size(); }

 private:
  struct Key {
    std::int64_t pieces, piece_tokens, cached, decodes, context;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  StepPricer& pricer_;
  StepPricer::Layout layout_;
  double scale_;
  std::unordered_map<Key, double, Hash> known_;
};

}  // namespace halmark::serving
