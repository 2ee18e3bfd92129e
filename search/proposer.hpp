// What all samplers share: the history, repeatable randomness, and that nothing is proposed twice.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "core/numeric/random.hpp"
#include "search/effort.hpp"
#include "search/history.hpp"
#include "search/surrogate/failure_guard.hpp"

namespace halmark {

// Random numbers of one decision, a function of (study seed, trial number, purpose).
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t trial, std::uint64_t purpose)
      : key_(hash_combine(hash_combine(seed, trial), purpose)) {}

  std::uint64_t bits() { return hash_u64(key_, counter_++); }
  double uniform() { return uniform_01(bits()); }
  std::size_t below(std::size_t bound) { return uniform_below(bits(), bound); }
  double normal() {  // Box and Muller 1958
    constexpr double tau = 6.283185307179586;
    const double u = 1 - uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(tau * v);
  }

 private:
  std::uint64_t key_, counter_ = 0;
};

// A uniform draw that spends its tries.
std::optional<Point> drawn(const Space& space, std::uint64_t seed, Effort& effort);

class Proposer : public Sampler {
 public:
  Proposer(std::string name, const Space& space, const SamplerOptions& options)
      : options_(options), history_(space), name_(std::move(name)), guard_(space, options.seed) {}

  std::string_view name() const override { return name_; }
  std::vector<Point> ask(std::size_t count) override;
  void tell(const std::vector<Told>& outcomes) override;
  std::string state() const override;
  std::vector<std::string> answered_by() const override { return answered_by_; }
  void heed(const std::function<bool()>& should_stop) override { effort_.heed(should_stop); }

 protected:
  // A candidate for trial `trial`; `attempt` counts up when an earlier one was not new. What is not
  // valid, not new or too likely to fail is repaired by ask: another attempt (8), then the nearest
  // new neighbour, then the first new point of the even order; a uniform draw when all of that
  // takes too much work.
  virtual std::optional<Point> propose(std::uint64_t trial, std::uint64_t attempt) = 0;
  // A trial got its outcome (never pending).
  virtual void learn(std::size_t /*trial*/) {}

  Stream stream(std::uint64_t trial, std::uint64_t purpose) const {
    return {options_.seed, trial, purpose};
  }
  const Space& space() const { return history_.space(); }
  const History& history() const { return history_; }
  // The first new point of the seeded even order; nothing when the space is exhausted.
  std::optional<Point> next_even();
  // A uniform draw among the valid points.
  std::optional<Point> uniform(Stream& stream) { return drawn(space(), stream.bits(), effort_); }
  // The first trials tell without prejudice which share of the space fails. Samplers that learn
  // nothing take no heed of failures at all.
  virtual bool is_guarded(std::uint64_t trial) const { return trial >= 10; }
  const FailureGuard& guard() const { return guard_; }

  SamplerOptions options_;
  mutable Effort effort_;

 private:
  std::optional<Point> proposed(std::uint64_t trial, std::string& by);
  std::optional<Point> repaired(std::uint64_t trial);
  std::optional<Point> least_risk(Point best, std::uint64_t trial, double risk_max);
  std::optional<Point> new_neighbour(const Point& valid_point, std::uint64_t trial) const;
  std::optional<Point> any_draw(std::uint64_t trial);

  History history_;
  std::string name_;
  FailureGuard guard_;
  std::vector<std::string> answered_by_;
  std::uint64_t even_at_ = 0;  // everything before it in the even order is known
};

// i -> start + i * step visits every index once when step and size are coprime; a step near size /
// golden ratio spreads every prefix evenly.
std::uint64_t even_step(std::uint64_t size);

}  // namespace halmark
