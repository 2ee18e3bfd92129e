// Ordinary kriging over the nearest points: a weighted mean of known values whose weights fall with
// distance, sum to one and count clustered points once (Cressie 1993, section 3.2). Owns geometry
// and linear algebra; what a dimension means is the caller's. One thread at a time may ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace halmark {

class LocalKriging {
 public:
  // Known points are looked up by their first coordinate: the one that varies most comes first.
  struct Point {
    std::vector<double> at;  // in correlation lengths
    double value = 0;
    std::int32_t shape = 0;  // points of one shape can be left out together
  };
  // How far points speak for each other.
  struct Reach {
    double first = 1, others = 1;  // correlation lengths of the first coordinate and of the others
    double nugget =
        0.01;  // variance of repeated measurements of one point over that of distant ones
  };
  // Throws std::logic_error unless all points have the same number of coordinates.
  explicit LocalKriging(std::vector<Point> points) : LocalKriging(std::move(points), Reach{}) {}
  LocalKriging(std::vector<Point> points, Reach reach);

  // Known points that a prediction must not use.
  struct LeftOut {
    std::optional<std::size_t> point;
    std::optional<std::int32_t> shape;
    double nearer_than = 0;  // correlation lengths, times their reach
  };
  struct Prediction {
    double value = 0;
    double deviation = 0;  // standard deviation from the scatter of the neighbours; not calibrated
    double distance = 0;   // to the nearest point used, in correlation lengths
  };
  // Nothing with fewer than two points to predict from.
  std::optional<Prediction> at(std::span<const double> place, const LeftOut& left_out) const;
  std::optional<Prediction> at(std::span<const double> place) const { return at(place, {}); }

  std::span<const Point> points() const { return points_; }
  // Smallest and largest known coordinate.
  double low(std::size_t dimension) const { return low_[dimension]; }
  double high(std::size_t dimension) const { return high_[dimension]; }

 private:
  struct Neighbour {
    double squared = 0;
    std::size_t index = 0;
  };
  struct Solved;  // what a set of neighbours says to any place among them
  double reach_of(std::size_t dimension) const {
    return dimension == 0 ? reach_.first : reach_.others;
  }
  std::vector<Neighbour> neighbours(std::span<const double> place, const LeftOut& left_out) const;
  const Solved& solved(std::span<const Neighbour> near) const;
  double squared_distance(std::span<const double> a, std::size_t b, double limit) const;

  std::vector<Point> points_;        // as given
  std::vector<std::size_t> order_;   // by first coordinate
  std::vector<double> first_;        // first coordinates in that order, over their reach
  std::vector<double> coordinates_;  // [point in order][dimension], likewise
  std::vector<double> low_, high_;
  std::size_t dimensions_ = 0;
  Reach reach_;
  // Places beside each other have the same neighbours: two of three are found here.
  mutable std::vector<std::shared_ptr<const Solved>> solved_;
};

}  // namespace halmark
