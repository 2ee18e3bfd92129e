#include "verify/front_proof/front_proof_leaves.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/lists.hpp"

namespace halmark::front_proof {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class LeafCheck {
 public:
  LeafCheck(const Proof& proof, const ProofSpace& space, FrontProofCheck& out)
      : proof_(proof), space_(space), out_(out) {
    for (const Kernel& k : proof.kernels) {
      low_.push_back(k.interval ? k.interval->low : k.bound);
      high_.push_back(k.interval ? k.interval->high : infinity);
    }
  }

  ProvedLeaves run(const KnownSpace& known) && {
    if (!known.left_out_by.empty()) check_constraints(known);
    collect_evaluated();
    check_cover();
    check_evaluated();
    return std::move(proved_);
  }

 private:
  std::uint64_t first_of(const Leaf& leaf) const {
    std::uint64_t out = 0;
    for (const auto& [domain, level] : leaf.box) {
      if (level >= proof_.domains[domain].values.size()) {
        throw Broken(leaf.line, "the box lies outside of the space");
      }
      out += level * space_.stride(domain);
    }
    return out;
  }

  std::uint64_t size_of(const Leaf& leaf) const {
    std::uint64_t out = space_.combinations();
    for (const auto& [domain, level] : leaf.box) out /= proof_.domains[domain].values.size();
    return out;
  }

  // Calls `visit` with every combination of the box.
  template <typename Visit>
  void for_each(const Leaf& leaf, Visit visit) const {
    std::vector<std::size_t> free;
    for (const auto d : indices(proof_.domains)) {
      if (!leaf.box.contains(d)) free.push_back(d);
    }
    std::vector<std::size_t> levels(free.size(), 0);
    std::uint64_t combination = first_of(leaf);
    for (;;) {
      visit(combination);
      std::size_t i = free.size();
      while (i-- > 0) {
        combination += space_.stride(free[i]);
        if (++levels[i] < proof_.domains[free[i]].values.size()) break;
        combination -= levels[i] * space_.stride(free[i]);
        levels[i] = 0;
      }
      if (i == as_size(-1)) return;
    }
  }

  void collect_evaluated() {
    for (const Leaf& leaf : proof_.leaves) {
      if (leaf.kind != Leaf::Kind::evaluated) continue;
      const std::uint64_t c = first_of(leaf);
      if (size_of(leaf) != 1 || !space_.is_valid(c)) {
        throw Broken(leaf.line, "what is evaluated is not one valid configuration");
      }
      for (const std::size_t k : space_.kernels(c)) {
        if (!proof_.kernels[k].interval) throw Broken(leaf.line, "a kernel of it is not measured");
      }
      Evaluated e{leaf.line, space_.front(c), space_.objectives(c, low_),
                  space_.objectives(c, high_)};
      if (leaf.interval != ranges(e)) {
        throw Broken(leaf.line, "the interval is not composed of the kernels' intervals");
      }
      proved_.evaluated.insert_or_assign(c, std::move(e));
    }
  }

  void check_cover() {
    std::vector<bool> is_seen(space_.combinations(), false);
    std::uint64_t seen = 0;
    for (const Leaf& leaf : proof_.leaves) {
      std::uint64_t valid = 0;
      std::optional<std::size_t> front;
      for_each(leaf, [&](std::uint64_t c) {
        if (is_seen[c]) {
          throw Broken(leaf.line, "combination " + std::to_string(c) + " is in two leaves");
        }
        is_seen[c] = true;
        ++seen;
        if (!space_.is_valid(c)) return;
        ++valid;
        if (front.value_or(space_.front(c)) != space_.front(c)) {
          throw Broken(leaf.line, "configurations of different fronts are in one leaf");
        }
        front = space_.front(c);
      });
      if (valid != leaf.configurations) {
        throw Broken(leaf.line, "the box has " + std::to_string(valid) + " valid configurations");
      }
      check(leaf, front.value_or(0));
      ++out_.leaves;
    }
    if (seen != space_.combinations()) {
      const auto missing = std::ranges::find(is_seen, false) - is_seen.begin();
      throw Broken(proof_.space_line, "combination " + std::to_string(missing) + " is in no leaf");
    }
  }

  void check(const Leaf& leaf, std::size_t front) {
    switch (leaf.kind) {
      case Leaf::Kind::constraint:
        check_constraint(leaf);
        break;
      case Leaf::Kind::failed:
        check_failed(leaf);
        out_.failed += leaf.configurations;
        break;
      case Leaf::Kind::dominated:
        check_dominated(leaf, front);
        out_.dominated += leaf.configurations;
        break;
      case Leaf::Kind::evaluated:
        ++out_.evaluated;
        break;
      case Leaf::Kind::open:
        check_open(leaf, front);
        out_.open += leaf.configurations;
        break;
    }
  }

  // Each combination breaks one of the constraints: the expression says so, or there is none.
  void check_constraint(const Leaf& leaf) {
    if (leaf.configurations != 0) throw Broken(leaf.line, "valid configurations are left out");
    for_each(leaf, [&](std::uint64_t c) {
      bool is_stated = false, is_shown = false;
      for (const std::size_t k : leaf.constraints) {
        if (k >= proof_.constraints.size()) throw Broken(leaf.line, "unknown constraint");
        const std::optional<bool> breaks = space_.breaks(c, k);
        is_stated |= !breaks;
        is_shown |= breaks.value_or(false);
      }
      if (!is_stated && !is_shown) {
        throw Broken(leaf.line, "combination " + std::to_string(c) + " breaks none of these");
      }
      out_.stated_exclusions += is_shown ? 0 : 1;
    });
  }

  // Exactly the constraints that leave the combinations of the box out.
  void check_constraints(const KnownSpace& known) const {
    for (const Leaf& leaf : proof_.leaves) {
      if (leaf.kind != Leaf::Kind::constraint) continue;
      std::set<std::int32_t> expected;
      for_each(leaf, [&](std::uint64_t c) { expected.insert(known.left_out_by[c]); });
      if (!std::ranges::equal(expected, leaf.constraints, {},
                              [](std::int32_t k) { return as_size(k); })) {
        throw Broken(leaf.line, "other constraints leave out what is in the box");
      }
    }
  }

  void check_failed(const Leaf& leaf) const {
    if (leaf.kernel >= proof_.kernels.size() || !proof_.kernels[leaf.kernel].is_failed) {
      throw Broken(leaf.line, "the kernel did not fail");
    }
    for_each(leaf, [&](std::uint64_t c) {
      if (space_.is_valid(c) && !std::ranges::binary_search(space_.kernels(c), leaf.kernel)) {
        throw Broken(leaf.line, "a configuration does not need the kernel that failed");
      }
    });
  }

  // The bounds of the box's parts along `cut`, and that each is met by an evaluated configuration.
  void check_dominated(const Leaf& leaf, std::size_t front) const {
    std::map<std::size_t, Vector> parts;
    for_each(leaf, [&](std::uint64_t c) {
      if (!space_.is_valid(c)) return;
      const Vector bound = space_.objectives(c, low_);
      Vector& part =
          parts.try_emplace(leaf.cut ? space_.level(c, *leaf.cut) : 0, bound).first->second;
      for (const auto j : indices(part)) part[j] = std::min(part[j], bound[j]);
    });
    std::vector<Vector> expected, stated;
    for (const auto& [level, bound] : parts) expected.push_back(bound);
    for (const Bound& b : leaf.bounds) stated.push_back(b.values);
    if (minimal(std::move(expected)) != stated) {
      throw Broken(leaf.line, "the bounds are not those of the box");
    }
    for (const Bound& b : leaf.bounds) {
      const auto* by = find_value(proved_.evaluated, b.by);
      if (!by || by->front != front) {
        throw Broken(leaf.line, "what dominates was not evaluated for this front");
      }
      if (!at_least_as_good(by->high, b.values)) {
        throw Broken(leaf.line, "configuration " + std::to_string(b.by) + " does not dominate it");
      }
    }
  }

  double gap_of(const Vector& high, const Vector& bound) const {
    double out = 0;
    for (const auto j : indices(high)) {
      if (high[j] <= bound[j]) continue;
      const bool is_maximised = proof_.objectives[j].is_maximised;
      const bool has_factor = is_maximised ? high[j] < 0 : bound[j] > 0;
      if (!has_factor) return infinity;
      out = std::max(out, (is_maximised ? bound[j] / high[j] : high[j] / bound[j]) - 1);
    }
    return out;
  }

  void check_open(const Leaf& leaf, std::size_t front) {
    if (leaf.bounds.size() != 1) throw Broken(leaf.line, "an open box has one bound");
    const Vector& bound = leaf.bounds[0].values;
    for_each(leaf, [&](std::uint64_t c) {
      if (!space_.is_valid(c) || space_.objectives(c, low_) != bound) {
        throw Broken(leaf.line, "the bound is not that of combination " + std::to_string(c));
      }
    });
    double gap = infinity;
    for (const auto& [c, e] : proved_.evaluated) {
      if (e.front == front) gap = std::min(gap, gap_of(e.high, bound));
    }
    if (gap != leaf.bounds[0].gap) throw Broken(leaf.line, "the gap is another one");
    out_.gap = std::max(out_.gap, gap);
    proved_.open.push_back({leaf.line, front, bound, {}});
  }

  void check_evaluated() const {
    for (const auto& [c, e] : proved_.evaluated) {
      for (const auto& [other, o] : proved_.evaluated) {
        if (other != c && o.front == e.front && at_least_as_good(o.high, e.low)) {
          throw Broken(e.line, "configuration " + std::to_string(other) + " dominates it");
        }
      }
    }
  }

  const Proof& proof_;
  const ProofSpace& space_;
  FrontProofCheck& out_;
  Vector low_, high_;  // times by kernel
  ProvedLeaves proved_;
};

}  // namespace

std::vector<Range> ranges(const Evaluated& evaluated) {
  std::vector<Range> out;
  for (const auto j : indices(evaluated.low)) {
    out.push_back({evaluated.low[j], evaluated.high[j]});
  }
  return out;
}

ProvedLeaves check_leaves(const Proof& proof, const ProofSpace& space, const KnownSpace& known,
                          FrontProofCheck& out) {
  return LeafCheck(proof, space, out).run(known);
}

}  // namespace halmark::front_proof
