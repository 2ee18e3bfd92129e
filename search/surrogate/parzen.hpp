// Densities over points for the tree-structured Parzen estimator: a mixture with one component per
// observed point and one for the prior. A component is a product over parameters: a category keeps
// most of its weight at its own choice, an order is a Gaussian over levels, a continuum a Gaussian.
#pragma once

#include <span>
#include <vector>

#include "search/proposer.hpp"

namespace halmark {

// Widths that all mixtures over a space share, for a given number of observations.
class ParzenKernels {
 public:
  // `width` in [0, 1]: the deviation along an order or a continuum; a category gives up `width` of
  // its weight to the other choices.
  ParzenKernels(const Space& space, double width);
  const Space& space() const { return *space_; }
  // Densities relative to the uniform one: of the continua and long orders together, of one of
  // them.
  double untabled_density(const double* x, const double* centre) const;
  double untabled_density(std::size_t d, double x, double centre) const;
  // Of a parameter with few levels: by level of the centre, the density at `level`; one entry more,
  // the uniform one, for a centre that is absent. Empty for other parameters.
  std::span<const double> column(std::size_t d, double level) const {
    if (tables_[d].empty()) return {};
    return {&tables_[d][static_cast<std::size_t>(level) * (levels_[d] + 1)], levels_[d] + 1};
  }
  bool has_untabled() const { return has_untabled_; }
  std::uint64_t levels(std::size_t d) const { return levels_[d]; }
  double draw(std::size_t d, double centre, Stream& random) const;

 private:
  const Space* space_;
  double width_;
  std::vector<std::uint64_t> levels_;
  bool has_untabled_ = false;
  std::vector<std::vector<double>> tables_;  // per parameter with few levels: level x centre
};

class ParzenMixture {
 public:
  void clear() { rows_.clear(), levels_.clear(), count_ = 0; }
  void add(const Space& space, const Point& point);
  std::size_t size() const { return count_; }
  // The prior (density one) counts as one component. Joint: a component is a product over the
  // parameters. Independent: the product of one mixture per parameter, which finds its way faster
  // where parameters act on their own, and is blind to how they act together.
  enum class Form { joint, independent };
  double density(const ParzenKernels& kernels, const Point& point, Form form) const;
  Point draw(const ParzenKernels& kernels, Form form, Stream& random, Effort& effort) const;

 private:
  double joint_density(const ParzenKernels& kernels, const Point& point) const;
  double independent_density(const ParzenKernels& kernels, const Point& point) const;

  std::vector<double> rows_;
  std::vector<std::uint16_t> levels_;  // the same, the number of levels where absent
  std::size_t count_ = 0, width_ = 0;
};

}  // namespace halmark
