#include "search/space.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "core/error.hpp"

namespace halmark {

Space::Space(std::vector<SearchDomain> domains, std::vector<Constraint> constraints)
    : domains_(std::move(domains)), constraints_(std::move(constraints)) {
  weights_.assign(domains_.size(), 1);
  std::map<std::string, std::size_t> position;
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    const SearchDomain& domain = domains_[d];
    const std::set<std::string> distinct(domain.values.begin(), domain.values.end());
    if (domain.values.empty() || distinct.size() != domain.values.size()) {
      throw refused("domain '" + domain.name + "' is empty or repeats a value");
    }
    if (!position.emplace(domain.name, d).second) {
      throw refused("domain '" + domain.name + "' is declared twice");
    }
  }
  for (std::size_t d = domains_.size(); d-- > 1;) {
    const std::uint64_t size = domains_[d].values.size();
    if (weights_[d] > std::numeric_limits<std::uint64_t>::max() / size / 4096) {
      throw refused("the space has too many points to number");
    }
    weights_[d - 1] = weights_[d] * size;
  }
  due_.resize(domains_.size());
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    std::size_t last = 0;
    for (const std::string& name : constraints_[c].domains) {
      const auto it = position.find(name);
      if (it == position.end()) {
        throw refused("constraint '" + constraints_[c].name + "' names no domain '" + name + "'");
      }
      last = std::max(last, it->second);
    }
    due_[last].push_back(c);
  }
  Point prefix;
  if (!domains_.empty()) enumerate(prefix, 0);
}

void Space::enumerate(Point& prefix, std::uint64_t rank) {
  const std::size_t d = prefix.size();
  if (d == domains_.size()) {
    if (valid_.size() >= points_max) {
      throw refused("the space has more than " + std::to_string(points_max) + " valid points", {},
                    "shorten a domain or add a constraint");
    }
    valid_.push_back(rank);
    return;
  }
  prefix.push_back(0);
  for (std::size_t v = 0; v < domains_[d].values.size(); ++v) {
    prefix[d] = static_cast<std::int32_t>(v);
    const auto broken = std::ranges::find_if(
        due_[d], [&](std::size_t c) { return !constraints_[c].holds(prefix); });
    if (broken == due_[d].end()) {
      enumerate(prefix, rank + v * weights_[d]);
    } else {
      discarded_[constraints_[*broken].name] += weights_[d];
    }
  }
  prefix.pop_back();
}

std::uint64_t Space::product() const {
  return domains_.empty() ? 0 : weights_.front() * domains_.front().values.size();
}

std::uint64_t Space::rank(const Point& point) const {
  std::uint64_t out = 0;
  for (std::size_t d = 0; d < point.size(); ++d) {
    out += static_cast<std::uint64_t>(point[d]) * weights_[d];
  }
  return out;
}

Point Space::point(std::size_t index) const {
  std::uint64_t rest = valid_.at(index);
  Point out(domains_.size());
  for (std::size_t d = 0; d < out.size(); ++d) {
    out[d] = static_cast<std::int32_t>(rest / weights_[d]);
    rest %= weights_[d];
  }
  return out;
}

bool Space::contains(const Point& point) const {
  if (point.size() != domains_.size()) return false;
  for (std::size_t d = 0; d < point.size(); ++d) {
    if (point[d] < 0 || static_cast<std::size_t>(point[d]) >= domains_[d].values.size()) {
      return false;
    }
  }
  return std::ranges::binary_search(valid_, rank(point));
}

}  // namespace halmark
