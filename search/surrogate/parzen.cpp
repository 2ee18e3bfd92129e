#include "search/surrogate/parzen.hpp"

#include <algorithm>
#include <optional>

#include "core/lists.hpp"

namespace halmark {
namespace {

constexpr std::uint64_t table_levels_max = 128;
constexpr double least_density = 1e-30;
constexpr int redraws_max = 64;

}  // namespace

ParzenKernels::ParzenKernels(const Space& space, double width) : space_(&space), width_(width) {
  for (const auto d : indices(space.domains())) {
    const SearchDomain& domain = space.domains()[d];
    const std::uint64_t levels = domain.levels();
    levels_.push_back(levels);
    tables_.emplace_back();
    if (levels == 0 || levels > table_levels_max) {
      has_untabled_ = true;
      continue;
    }
    std::vector<double>& table = tables_.back();
    table.assign(levels * (levels + 1), 1);
    const double count = as_double(levels);
    // A neighbour must stay in reach however narrow the width.
    const double deviation = std::max(width * (count - 1), 0.5);
    for (const std::uint64_t c : below(levels)) {
      double sum = 0;
      for (const std::uint64_t x : below(levels)) {
        const double steps = as_double(x) - as_double(c);
        const double weight = domain.has_order()
                                  ? std::exp(-0.5 * steps * steps / (deviation * deviation))
                              : x == c ? 1 - width
                                       : width / std::max(1.0, count - 1);
        table[x * (levels + 1) + c] = weight;
        sum += weight;
      }
      // Relative to the uniform density 1 / levels.
      for (const std::uint64_t x : below(levels)) table[x * (levels + 1) + c] *= count / sum;
    }
  }
}

double ParzenKernels::untabled_density(const double* x, const double* centre) const {
  double product = 1, exponent = 0;
  for (const auto d : indices(levels_)) {
    if (!tables_[d].empty() || x[d] == absent || centre[d] == absent) continue;
    const SearchDomain& domain = space_->domains()[d];
    const double z = (domain.unit(x[d]) - domain.unit(centre[d])) / width_;
    exponent += 0.5 * z * z;
    product *= 0.3989422804014327 / width_;
  }
  return product * std::exp(-exponent);
}

double ParzenKernels::untabled_density(std::size_t d, double x, double centre) const {
  const SearchDomain& domain = space_->domains()[d];
  const double z = (domain.unit(x) - domain.unit(centre)) / width_;
  return 0.3989422804014327 / width_ * std::exp(-0.5 * z * z);
}

double ParzenKernels::draw(std::size_t d, double centre, Stream& random) const {
  const SearchDomain& domain = space_->domains()[d];
  if (tables_[d].empty()) {
    const double at = domain.unit(centre);
    double u = 2;
    for (int k = 0; k < redraws_max && (u < 0 || u > 1); ++k) u = at + width_ * random.normal();
    return domain.from_unit(u);  // the nearer end, where none of them was inside
  }
  const auto at = as_size(centre);
  double left = random.uniform() * as_double(levels_[d]);
  for (std::uint64_t x = 0; x + 1 < levels_[d]; ++x) {
    left -= tables_[d][x * (levels_[d] + 1) + at];
    if (left < 0) return as_double(x);
  }
  return as_double(levels_[d] - 1);
}

void ParzenMixture::add(const Space& space, const Point& point) {
  append_all(rows_, point);
  width_ = point.size();
  for (const auto d : indices(width_)) {
    const std::uint64_t levels = space.domains()[d].levels();
    const bool is_level = levels > 0 && levels <= table_levels_max && point[d] != absent;
    levels_.push_back(static_cast<std::uint16_t>(is_level ? as_uint64(point[d])
                                                          : std::min(levels, table_levels_max)));
  }
  ++count_;
}

double ParzenMixture::density(const ParzenKernels& kernels, const Point& point, Form form) const {
  return form == Form::joint ? joint_density(kernels, point) : independent_density(kernels, point);
}

double ParzenMixture::joint_density(const ParzenKernels& kernels, const Point& point) const {
  // One column per parameter with few levels: a component costs a look-up and a product each.
  std::vector<std::pair<std::size_t, const double*>> columns;
  for (const auto d : indices(width_)) {
    if (point[d] == absent) continue;  // says nothing: uniform
    const auto column = kernels.column(d, point[d]);
    if (!column.empty()) columns.emplace_back(d, column.data());
  }
  double sum = 1;
  for (const auto i : indices(count_)) {
    const std::uint16_t* levels = &levels_[i * width_];
    double product = 1;
    for (const auto& [d, column] : columns) product *= column[levels[d]];
    if (kernels.has_untabled()) {
      product *= kernels.untabled_density(point.data(), &rows_[i * width_]);
    }
    sum += product;
  }
  return std::max(sum / as_double(count_ + 1), least_density);
}

double ParzenMixture::independent_density(const ParzenKernels& kernels, const Point& point) const {
  double product = 1;
  for (const auto d : indices(width_)) {
    if (point[d] == absent) continue;
    const auto column = kernels.column(d, point[d]);
    double sum = 1;
    for (const auto i : indices(count_)) {
      const double centre = rows_[i * width_ + d];
      sum += !column.empty()    ? column[levels_[i * width_ + d]]
             : centre == absent ? 1
                                : kernels.untabled_density(d, point[d], centre);
    }
    product *= sum / as_double(count_ + 1);
  }
  return std::max(product, least_density);
}

// Not necessarily valid.
Point ParzenMixture::draw(const ParzenKernels& kernels, Form form, Stream& random,
                          Effort& effort) const {
  const Space& space = kernels.space();
  const std::optional<Point> prior = drawn(space, random.bits(), effort);
  std::size_t component = random.below(count_ + 1);
  Point out = prior.value_or(Point{});
  for (const auto d : indices(out)) {
    if (form == Form::independent) component = random.below(count_ + 1);
    if (component == count_) continue;
    const double centre = rows_[component * width_ + d];
    out[d] = centre == absent ? absent : kernels.draw(d, centre, random);
  }
  return space.settle(std::move(out), random.bits());
}

}  // namespace halmark
