// What is lost by reporting some points as a front while others are known by draws alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/pareto/pareto.hpp"
#include "search/surrogate/improvement.hpp"

namespace halmark {

// Where hypervolumes of a front are measured from: a tenth of its extent beyond its worst values.
// Where the extent is small beside the values, farther, up to the size of the value where all of
// the front shares it: the loss of a narrow front is how much worse the reported one is, and no
// quarrel between points that hardly differ.
Objectives front_reference(std::span<const Objectives> front);

// The hypervolume that is lost, as a share of the whole front's in the same draw, in the mean over
// joint draws. One to three objectives, minimised and finite.
class FrontLoss {
 public:
  explicit FrontLoss(std::size_t configurations) : is_reported_(configurations, false) {}

  // One joint draw: the objectives of every configuration; before anything is reported.
  // `reference`: empty = that of the draw's front.
  void add(std::vector<Objectives> draw, Objectives reference = {});
  // `configuration` is reported, too.
  void report(std::size_t configuration);
  bool is_reported(std::size_t configuration) const { return is_reported_[configuration]; }

  // 0 = nothing is lost, 1 = everything. 0 without a draw.
  double expected() const;
  // In which share of the draws more than `share` is lost.
  double probability_above(double share) const;
  // By how much the loss falls in each draw when `configuration` is reported as well; none of one
  // that is.
  std::vector<double> gains(std::size_t configuration) const;
  double gain(std::size_t configuration) const;  // in the mean
  // In which share of the draws it is on the front of all.
  double membership(std::size_t configuration) const;

 private:
  struct Draw {
    double loss() const;
    std::vector<Objectives> points, reported;
    std::vector<std::size_t> front;
    Objectives reference;
    double whole = 0;  // hypervolume of all
    OpenRegion open;   // beside what is reported
  };
  std::vector<Draw> draws_;
  std::vector<bool> is_reported_;
};

}  // namespace halmark
