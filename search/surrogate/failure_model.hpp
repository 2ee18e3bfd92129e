// Where trials fail: the share of failures around a point, from all finished trials. A prior keeps
// every region open.
#pragma once

#include "search/history.hpp"
#include "search/surrogate/gaussian_process.hpp"

namespace halmark {

class FailureModel {
 public:
  explicit FailureModel(const Space& space);
  void learn(const Trial& trial);
  // Probability that a trial there succeeds; 1 while nothing has failed.
  double success(const Point& point) const;

 private:
  double closeness(const double* a, const double* b) const;

  const Space& space_;
  std::vector<double> rows_;
  std::vector<bool> is_ok_;
  std::vector<double> steps_;  // levels per unit of an ordered parameter
  Features features_;
  std::size_t failures_ = 0;
};

}  // namespace halmark
