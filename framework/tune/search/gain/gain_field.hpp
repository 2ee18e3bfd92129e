// The configurations of one phase, which compete for one front, over kernels that all phases share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/pricing/kernel_table.hpp"
#include "search/pareto/front_loss.hpp"
#include "tune/plan/composers.hpp"
#include "tune/problem/problem.hpp"

namespace halmark::tune {

class GainField {
 public:
  struct Member {
    Configuration configuration;
    StepSum sum;
    std::vector<std::size_t> kernels;  // of the table, each once
    std::int64_t memory_bytes = 0;
  };
  // Every configuration of the problem that is possible. The problem must outlive it.
  GainField(const TuneProblem& problem, Composers& composers, KernelTable& table);

  const std::string& name() const { return problem_.name(); }
  std::span<const Member> members() const { return members_; }
  // By times of all kernels of the table.
  double step_ns(const Member& member, std::span<const KernelTime> times) const;
  // Minimised, likewise.
  Objectives objectives(const Member& member, std::span<const KernelTime> times) const;

 private:
  const TuneProblem& problem_;
  std::vector<Member> members_;
};

// A field as it is believed to be now: joint draws of all that have no failed kernel, and what is
// lost by reporting the front of those that were measured, by their medians.
class BelievedField {
 public:
  // `is_failed`, `medians`: by kernel of the table; a median that is not known = not measured.
  // `draws`: times of all kernels in each.
  BelievedField(const GainField& field, std::span<const std::vector<KernelTime>> draws,
                std::span<const KernelTime> medians, const std::vector<bool>& is_failed);

  const std::vector<std::size_t>& alive() const { return alive_; }  // members of the field
  // By place in alive().
  bool is_measured(std::size_t place) const { return is_measured_[place]; }
  const std::vector<std::size_t>& front() const { return front_; }
  bool has_figure() const { return !front_.empty(); }
  // Of the front, what is best by the first objective.
  std::size_t best() const { return best_; }
  FrontLoss& loss() { return loss_; }
  const FrontLoss& loss() const { return loss_; }

 private:
  std::vector<std::size_t> alive_, front_;
  std::size_t best_ = 0;
  std::vector<bool> is_measured_;
  FrontLoss loss_;
};

}  // namespace halmark::tune
