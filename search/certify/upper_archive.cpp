#include "search/certify/upper_archive.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark {
namespace {

bool at_least_as_good(std::span<const double> a, std::span<const double> b) {
  for (const auto j : indices(a)) {
    if (!(a[j] <= b[j])) return false;
  }
  return true;
}

double gap_of_one(double upper, double bound, bool is_maximised) {
  if (upper <= bound) return 0;
  if (is_maximised) return upper < 0 ? bound / upper - 1 : infinity;
  return bound > 0 ? upper / bound - 1 : infinity;
}

}  // namespace

double relative_gap(std::span<const double> upper, std::span<const double> bound,
                    std::span<const bool> is_maximised) {
  double out = 0;
  for (const auto j : indices(upper)) {
    out = std::max(out, gap_of_one(upper[j], bound[j], is_maximised[j]));
  }
  return out;
}

bool UpperArchive::add(std::uint64_t configuration, std::span<const double> upper) {
  if (dominator(upper)) return false;
  std::erase_if(members_, [&](const Member& m) { return at_least_as_good(upper, m.upper); });
  members_.push_back({configuration, {upper.begin(), upper.end()}});
  last_ = 0;
  return true;
}

std::optional<std::uint64_t> UpperArchive::dominator(std::span<const double> bound) const {
  if (last_ < members_.size() && at_least_as_good(members_[last_].upper, bound)) {
    return members_[last_].configuration;
  }
  for (const auto i : indices(members_)) {
    if (!at_least_as_good(members_[i].upper, bound)) continue;
    last_ = i;
    return members_[i].configuration;
  }
  return std::nullopt;
}

double UpperArchive::gap(std::span<const double> bound, std::span<const bool> is_maximised) const {
  double out = infinity;
  for (const Member& m : members_) out = std::min(out, relative_gap(m.upper, bound, is_maximised));
  return out;
}

}  // namespace halmark
