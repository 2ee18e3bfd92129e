// A Gaussian process over points of a space (Rasmussen and Williams 2006) with a length per
// parameter; noise and scale are fitted, too. Its correlation is a sum of two (Duvenaud, Nickisch,
// Rasmussen 2011): what each parameter does on its own, which few observations teach even in wide
// spaces, and Matern 5/2 over all of them, which is what they do together. Categories and
// switched-off parameters are at distance one from everything else.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "search/space/space.hpp"
#include "search/surrogate/triangular.hpp"

namespace halmark {

// Points as rows of features: an ordered parameter by its position in [0, 1], a category by its
// level; -1 where absent.
class Features {
 public:
  explicit Features(const Space& space);
  std::size_t width() const { return is_category_.size(); }
  bool is_category(std::size_t d) const { return is_category_[d]; }
  void append(const Point& point, std::vector<double>& rows) const;
  // Squared distance along one parameter, before its length divides it.
  double squared(std::size_t d, double a, double b) const {
    if (a == b) return 0;
    if (is_category_[d]) return 1;
    // An absent value stands at the tip of an equilateral triangle over the range. One distance to
    // all of a range would be no distance between places, and correlations made of it no matrix
    // that is positive definite.
    if (a < 0 || b < 0) return 0.75 + (std::max(a, b) - 0.5) * (std::max(a, b) - 0.5);
    return (a - b) * (a - b);
  }

 private:
  const Space& space_;
  std::vector<bool> is_category_;
};

class GaussianProcess {
 public:
  explicit GaussianProcess(const Features& features);

  // Fits lengths, noise and share to `targets` by the gradient of the marginal likelihood with weak
  // priors: `steps` of resilient propagation (Riedmiller and Braun 1993) from where the last fit
  // ended, and `fresh_steps` from the best of a few lengths that all parameters have in common.
  // Lengths that have grown out of sight feel no gradient any more; only a fresh start finds that
  // their parameters matter after all.
  void fit(std::span<const double> rows, std::span<const double> targets, int steps,
           int fresh_steps);
  // Forgets the data, keeps the lengths and the noise.
  void clear();
  // One more observation; O(n^2). False where rounding leaves no room for it beside the others: it
  // is left out.
  bool add(std::span<const double> row, double target);
  std::size_t size() const { return factor_.size(); }

  struct Prediction {
    double mean = 0, deviation = 0;  // of the value without noise
  };
  // What has been computed for one place so far. Kept while observations arrive, it costs O(n) per
  // observation instead of O(n^2) per prediction. Void once the process was cleared.
  struct Probe {
    std::vector<double> solved;                 // L^-1 k
    double targets = 0, ones = 0, squares = 0;  // its products with L^-1 y, L^-1 1 and itself
  };
  Prediction predict(std::span<const double> row, Probe& probe) const;
  Prediction predict(std::span<const double> row) const;

  // Logarithm of the marginal likelihood plus priors, and its gradient by the parameters:
  // logarithms of lengths and noise, logit of the share of what parameters do on their own.
  double likelihood(std::span<const double> rows, std::span<const double> targets,
                    std::span<const double> parameters, std::vector<double>* gradient) const;

 private:
  // Climbs from `at` to the best that was seen, whose logarithm of likelihood is returned.
  double climb(std::span<const double> rows, std::span<const double> targets, int steps,
               std::vector<double>& at) const;
  std::vector<double> common_start(std::span<const double> rows,
                                   std::span<const double> targets) const;
  double correlation(const double* a, const double* b) const;

  const Features& features_;
  std::vector<double> parameters_;  // log lengths, log noise, logit of the additive share
  std::vector<double> inverse_squares_, rows_;
  CholeskyFactor factor_;
  std::vector<double> targets_, ones_;  // L^-1 y and L^-1 1: the mean is fitted, too
  double noise_ = 0, share_ = 0, target_squares_ = 0, cross_ = 0, one_squares_ = 0;
};

}  // namespace halmark
