#include "verify/front_proof/front_proof.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "core/text/digest.hpp"
#include "verify/front_proof/front_proof_context.hpp"
#include "verify/front_proof/front_proof_kernels.hpp"
#include "verify/front_proof/front_proof_space.hpp"

namespace halmark {
namespace front_proof {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Vector = std::vector<double>;

bool at_least_as_good(const Vector& a, const Vector& b) {
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (!(a[j] <= b[j])) return false;
  }
  return true;
}

bool dominates(const Vector& a, const Vector& b) { return at_least_as_good(a, b) && a != b; }

// Vectors that no other one is at least as good as, each once, sorted.
std::vector<Vector> minimal(std::vector<Vector> all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Vector> out;
  for (const Vector& v : all) {
    const auto beats = [&v](const Vector& other) { return dominates(other, v); };
    if (std::ranges::none_of(all, beats)) out.push_back(v);
  }
  return out;
}

class Check {
 public:
  Check(const Proof& proof, FrontProofCheck& out) : proof_(proof), space_(proof), out_(out) {
    for (const Kernel& k : proof.kernels) {
      low_.push_back(k.interval ? k.interval->low : k.bound);
      high_.push_back(k.interval ? k.interval->high : infinity);
    }
  }

  const ProofSpace& space() const { return space_; }

  void run(const KnownSpace& known) {
    check_counts_of_space();
    if (!known.left_out_by.empty()) check_constraints(known);
    collect_evaluated();
    check_leaves();
    check_evaluated();
    check_front();
    check_trailer();
  }

 private:
  struct Evaluated {
    std::size_t line = 0, front = 0;
    Vector low, high;
  };

  void check_counts_of_space() const {
    if (proof_.combinations != space_.combinations() ||
        proof_.configurations != space_.configurations()) {
      throw Broken(proof_.space_line,
                   "the space has " + std::to_string(space_.combinations()) + " combinations and " +
                       std::to_string(space_.configurations()) + " valid configurations");
    }
  }

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
    for (std::size_t d = 0; d < proof_.domains.size(); ++d) {
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
      if (i == static_cast<std::size_t>(-1)) return;
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
      evaluated_.insert_or_assign(c, std::move(e));
    }
  }

  static std::vector<Range> ranges(const Evaluated& e) {
    std::vector<Range> out;
    for (std::size_t j = 0; j < e.low.size(); ++j) out.push_back({e.low[j], e.high[j]});
    return out;
  }

  void check_leaves() {
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
                              [](std::int32_t k) { return static_cast<std::size_t>(k); })) {
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
      for (std::size_t j = 0; j < part.size(); ++j) part[j] = std::min(part[j], bound[j]);
    });
    std::vector<Vector> expected, stated;
    for (const auto& [level, bound] : parts) expected.push_back(bound);
    for (const Bound& b : leaf.bounds) stated.push_back(b.values);
    if (minimal(std::move(expected)) != stated) {
      throw Broken(leaf.line, "the bounds are not those of the box");
    }
    for (const Bound& b : leaf.bounds) {
      const auto by = evaluated_.find(b.by);
      if (by == evaluated_.end() || by->second.front != front) {
        throw Broken(leaf.line, "what dominates was not evaluated for this front");
      }
      if (!at_least_as_good(by->second.high, b.values)) {
        throw Broken(leaf.line, "configuration " + std::to_string(b.by) + " does not dominate it");
      }
    }
  }

  double gap_of(const Vector& high, const Vector& bound) const {
    double out = 0;
    for (std::size_t j = 0; j < high.size(); ++j) {
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
    for (const auto& [c, e] : evaluated_) {
      if (e.front == front) gap = std::min(gap, gap_of(e.high, bound));
    }
    if (gap != leaf.bounds[0].gap) throw Broken(leaf.line, "the gap is another one");
    out_.gap = std::max(out_.gap, gap);
    open_.push_back({leaf.line, front, bound, {}});
  }

  void check_evaluated() const {
    for (const auto& [c, e] : evaluated_) {
      for (const auto& [other, o] : evaluated_) {
        if (other != c && o.front == e.front && at_least_as_good(o.high, e.low)) {
          throw Broken(e.line, "configuration " + std::to_string(other) + " dominates it");
        }
      }
    }
  }

  // The front is what was evaluated and is not dominated: all that the leaves left as evaluated.
  void check_front() {
    std::map<std::uint64_t, std::size_t> seen;
    for (const FrontPoint& point : proof_.front) {
      const auto at = evaluated_.find(point.config);
      if (at == evaluated_.end()) throw Broken(point.line, "it was not evaluated");
      if (!seen.emplace(point.config, point.line).second) throw Broken(point.line, "listed twice");
      const Evaluated& e = at->second;
      if (point.front != e.front || point.interval != ranges(e) ||
          point.kernels != space_.kernels(point.config)) {
        throw Broken(point.line, "front, interval or kernels are not those of the configuration");
      }
      if (point.is_certain != is_certain(point.config, e)) {
        throw Broken(point.line, "its class does not follow from the intervals");
      }
      ++out_.front;
      out_.certain += point.is_certain ? 1 : 0;
    }
    for (const auto& [c, e] : evaluated_) {
      if (!seen.contains(c)) throw Broken(e.line, "it is missing in the front");
    }
  }

  bool is_certain(std::uint64_t c, const Evaluated& e) const {
    for (const auto& [other, o] : evaluated_) {
      if (other != c && o.front == e.front && dominates(o.low, e.high)) return false;
    }
    return std::ranges::none_of(
        open_, [&](const Evaluated& o) { return o.front == e.front && dominates(o.low, e.high); });
  }

  bool is_confirmed() const {
    if (proof_.is_definition) return true;
    if (proof_.run_objective < 0) return false;
    const auto j = static_cast<std::size_t>(proof_.run_objective);
    return std::ranges::all_of(proof_.front, [&](const FrontPoint& p) {
      return p.run && j < p.interval.size() && p.run->low <= p.interval[j].high &&
             p.run->high >= p.interval[j].low;
    });
  }

  std::string state() const {
    if (out_.open == 0) return "certified";
    return out_.gap <= proof_.eps ? "certified within eps" : "open";
  }

  void check_trailer() {
    const Trailer& t = proof_.trailer;
    out_.configurations = space_.configurations();
    out_.kernels = proof_.kernels.size();
    out_.alarms = proof_.alarms.size();
    for (const Kernel& k : proof_.kernels) out_.kernels_measured += k.interval ? 1 : 0;
    const auto require = [&t](bool holds, const char* what) {
      if (!holds) throw Broken(t.line, std::string("the trailer states another ") + what);
    };
    require(t.configurations == out_.configurations, "number of configurations");
    require(t.evaluated == out_.evaluated, "number of evaluated configurations");
    require(t.dominated == out_.dominated, "number of dominated configurations");
    require(t.failed == out_.failed, "number of failed configurations");
    require(t.open == out_.open, "number of open configurations");
    require(t.gap == out_.gap, "gap");
    require(t.kernels == out_.kernels, "number of kernels");
    require(t.kernels_measured == out_.kernels_measured, "number of measured kernels");
    require(t.alarms == out_.alarms, "number of alarms");
    require(t.state == state(), "state");
    require(t.composition_confirmed == is_confirmed(), "word on the composition");
    require(t.sha256 == sha256_of(proof_.hashed), "SHA-256 than that of the bytes before it");
    if (out_.open == 0 && is_confirmed()) {
      out_.verdict = ProofVerdict::holds;
      return;
    }
    out_.verdict = ProofVerdict::conditional;
    out_.reason = out_.open > 0 ? state() : "composition not confirmed";
  }

  const Proof& proof_;
  ProofSpace space_;
  FrontProofCheck& out_;
  Vector low_, high_;  // times by kernel
  std::map<std::uint64_t, Evaluated> evaluated_;
  std::vector<Evaluated> open_;
};

}  // namespace
}  // namespace front_proof

std::string_view proof_verdict_name(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::holds:
      return "holds";
    case ProofVerdict::conditional:
      return "holds with a condition";
    case ProofVerdict::broken:
      return "broken";
    case ProofVerdict::unreadable:
      return "cannot be checked";
  }
  return "";
}

namespace {

void recompute(std::string_view text, const ProofSources& sources, FrontProofCheck& out) {
  const front_proof::Proof proof = front_proof::read_proof(text);
  out.alpha = proof.alpha;
  out.undecided = missing_record(proof);
  if (out.undecided.empty() && !sources.read_device) out.undecided = "no reader of device records";
  const bool is_decided = out.undecided.empty();
  check_contracts(proof);
  check_kernels(proof);
  check_alarms(proof);
  if (is_decided) check_bounds(proof, sources.read_device);
  front_proof::Check check(proof, out);
  front_proof::KnownSpace known;
  if (is_decided) known = check_graphs(proof, check.space());
  check.run(known);
  if (is_decided) out.stated_exclusions = 0;  // each was shown by the graph
  if (!sources.journal.empty()) check_rows(proof, known, sources.journal);
  out.rows_compared = !sources.journal.empty();
  if (is_decided || out.verdict != ProofVerdict::holds) return;
  out.verdict = ProofVerdict::conditional;
  out.reason = "not decided, it has " + out.undecided;
}

}  // namespace

FrontProofCheck check_front_proof(std::string_view text, const ProofSources& sources) {
  FrontProofCheck out;
  try {
    recompute(text, sources, out);
  } catch (const front_proof::Unreadable& e) {
    out.verdict = ProofVerdict::unreadable;
    out.line = e.line;
    out.reason = e.what();
  } catch (const front_proof::Broken& e) {
    out.verdict = ProofVerdict::broken;
    out.line = e.line;
    out.reason = e.what();
  }
  return out;
}

}  // namespace halmark
