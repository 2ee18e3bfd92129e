// How much a point that is only known as a distribution would add to the hypervolume of a front.
#pragma once

#include <span>
#include <vector>

#include "search/pareto/pareto.hpp"

namespace halmark {

// Of one objective: a normal deviate, or what a monotone curve makes of it.
struct Belief {
  enum class Curve {
    plain,     // y = w
    exponent,  // y = exp(w): positive objectives that span decades
    negated,   // y = -exp(-w): the same below zero
  } curve = Curve::plain;
  double mean = 0, deviation = 0;  // of w
  // E[max(0, a - y)].
  double shortfall(double a) const;
  double median() const;
};

// The curve for observed values: of one sign and less skewed in the logarithm is a ratio scale.
Belief::Curve curve_of(const std::vector<double>& values);
bool fits_curve(Belief::Curve curve, double y);  // of the sign that the curve takes
double on_curve(Belief::Curve curve, double y);  // the w of a fitting y

// The region that a front leaves open below a reference, as O(n) disjoint boxes (one to three
// objectives): strips of the staircase of the first two objectives, each with its life span along
// the third.
class OpenRegion {
 public:
  // Points not below the reference in every objective are left out.
  OpenRegion(std::span<const Objectives> points, std::span<const double> reference);
  // Expected hypervolume improvement; exact for independent beliefs (Emmerich et al.; the sum over
  // boxes of products of one-dimensional expectations, as in Yang et al. 2019).
  double expected(std::span<const Belief> beliefs) const;
  // Hypervolume that a point adds.
  double gain(std::span<const double> point) const;

 private:
  struct Box {
    std::size_t x_low, x_high, y_high, z_low, z_high;  // positions in `edges_`
  };
  template <class Shortfall>
  double sum(const Shortfall& shortfall) const;
  void build_three(std::vector<Objectives> points);

  std::size_t objectives_;
  std::vector<double> edges_[3];  // ascending; position 0 is minus infinity
  std::vector<Box> boxes_;
};

}  // namespace halmark
