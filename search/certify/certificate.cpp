#include "search/certify/certificate.hpp"

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"

#include <algorithm>

namespace halmark {
namespace {

using Kind = CertificateLeaf::Kind;

class Builder {
 public:
  explicit Builder(const Certifier& certifier)
      : problem_(certifier.problem()),
        space_(certifier.configurations()),
        kernels_(certifier.kernels()),
        objectives_(problem_.objectives.size()),
        is_maximised_(std::make_unique<bool[]>(objectives_)),
        archives_(problem_.fronts.size()) {
    for (const auto j : indices(objectives_)) {
      is_maximised_[j] = problem_.objectives[j].is_maximised;
    }
    for (const KernelKnowledge& k : kernels_) {
      low_.push_back(k.low);
      high_.push_back(k.status == KernelStatus::measured ? k.high : infinity);
    }
  }

  Certificate build(double eps) {
    judge();
    visit(0, 0, space_.combinations());
    collect_front();
    for (const CertificateLeaf& leaf : out_.leaves) {
      for (const LeafBound& b : leaf.bounds) {
        if (leaf.kind == Kind::open) out_.gap = std::max(out_.gap, b.gap);
      }
    }
    out_.state = out_.open == 0    ? CertificateState::certified
                 : out_.gap <= eps ? CertificateState::within_eps
                                   : CertificateState::open;
    return std::move(out_);
  }

 private:
  struct Verdict {
    bool is_valid = false;
    Kind kind = Kind::open;
    std::int32_t failed_kernel = -1;
  };

  std::span<const double> lower(std::uint64_t c) const {
    return {lower_.data() + c * objectives_, objectives_};
  }
  const UpperArchive& archive(std::uint64_t c) const { return archives_[space_.front(c)]; }

  // Evaluated: every kernel is measured. A failed kernel fails its configuration.
  Verdict first_look(std::uint64_t c) const {
    Verdict out{.is_valid = true, .kind = Kind::evaluated};
    for (const std::int32_t k : space_.kernels(c)) {
      const KernelStatus status = kernels_[as_size(k)].status;
      if (status == KernelStatus::failed) return {true, Kind::failed, k};
      if (status == KernelStatus::unmeasured) out.kind = Kind::open;
    }
    return out;
  }

  Objectives upper(std::uint64_t c) const {
    Objectives out(objectives_);
    space_.compose(c, high_, out);
    return out;
  }

  void judge() {
    const std::uint64_t n = space_.combinations();
    verdicts_.resize(n);
    lower_.resize(n * objectives_);
    for (const std::uint64_t c : below(n)) {
      if (!space_.is_valid(c)) continue;
      verdicts_[c] = first_look(c);
      space_.compose(c, low_, {lower_.data() + c * objectives_, objectives_});
      if (verdicts_[c].kind == Kind::evaluated) archives_[space_.front(c)].add(c, upper(c));
    }
    for (const std::uint64_t c : below(n)) {
      Verdict& v = verdicts_[c];
      if (!v.is_valid || v.kind == Kind::failed) continue;
      // A member of the archive is at least as good as itself, and no other one is.
      const auto by = archive(c).dominator(lower(c));
      if (by && !is_member(c)) v.kind = Kind::dominated;
    }
  }

  bool is_member(std::uint64_t c) const {
    return std::ranges::any_of(archive(c).members(),
                               [c](const auto& m) { return m.configuration == c; });
  }

  void count(CertificateLeaf& leaf, std::uint64_t configurations) {
    leaf.configurations = configurations;
    switch (leaf.kind) {
      case Kind::constraint:
        break;
      case Kind::failed:
        out_.failed += configurations;
        break;
      case Kind::dominated:
        out_.dominated += configurations;
        break;
      case Kind::evaluated:
        out_.evaluated += configurations;
        break;
      case Kind::open:
        out_.open += configurations;
        break;
    }
    out_.configurations += configurations;
    leaf.levels = prefix_;
    out_.leaves.push_back(std::move(leaf));
  }

  // [first, first + size): all combinations that begin with `prefix_`, which has `depth` levels.
  void visit(std::size_t depth, std::uint64_t first, std::uint64_t size) {
    if (leaf_of_one(first, size) || leaf_of_constraint(first, size) ||
        leaf_of_failed(first, size) || leaf_of_open(first, size) ||
        leaf_of_dominated(depth, first, size)) {
      return;
    }
    const std::uint64_t part = space_.stride(depth);
    prefix_.push_back(0);
    for (std::uint64_t begin = first; begin < first + size; begin += part) {
      visit(depth + 1, begin, part);
      ++prefix_.back();
    }
    prefix_.pop_back();
  }

  bool leaf_of_one(std::uint64_t c, std::uint64_t size) {
    if (size > 1 || !verdicts_[c].is_valid) return false;
    CertificateLeaf leaf{.kind = verdicts_[c].kind, .kernel = verdicts_[c].failed_kernel};
    const Objectives low(lower(c).begin(), lower(c).end());
    switch (leaf.kind) {
      case Kind::dominated:
        leaf.bounds.push_back({.bound = low, .by = *archive(c).dominator(low)});
        break;
      case Kind::open:
        leaf.bounds.push_back({.bound = low, .gap = gap(c, low)});
        break;
      case Kind::evaluated:
        leaf.interval = interval(c);
        break;
      default:
        break;
    }
    count(leaf, 1);
    return true;
  }

  std::vector<Interval> interval(std::uint64_t c) const {
    const Objectives high = upper(c);
    std::vector<Interval> out;
    for (const auto j : indices(objectives_)) out.push_back({lower(c)[j], high[j]});
    return out;
  }

  double gap(std::uint64_t c, std::span<const double> bound) const {
    return archive(c).gap(bound, {is_maximised_.get(), objectives_});
  }

  bool leaf_of_constraint(std::uint64_t first, std::uint64_t size) {
    CertificateLeaf leaf{.kind = Kind::constraint};
    for (std::uint64_t c = first; c < first + size; ++c) {
      if (verdicts_[c].is_valid) return false;
      leaf.constraints.push_back(problem_.broken[c]);
    }
    std::ranges::sort(leaf.constraints);
    leaf.constraints.erase(std::ranges::unique(leaf.constraints).begin(), leaf.constraints.end());
    count(leaf, 0);
    return true;
  }

  bool leaf_of_failed(std::uint64_t first, std::uint64_t size) {
    CertificateLeaf leaf{.kind = Kind::failed, .kernel = verdicts_[first].failed_kernel};
    for (std::uint64_t c = first; c < first + size; ++c) {
      const Verdict& v = verdicts_[c];
      if (!v.is_valid || v.kind != Kind::failed || v.failed_kernel != leaf.kernel) return false;
    }
    count(leaf, size);
    return true;
  }

  // Only boxes whose configurations share one bound: a common bound would state too large a gap.
  bool leaf_of_open(std::uint64_t first, std::uint64_t size) {
    for (std::uint64_t c = first; c < first + size; ++c) {
      const Verdict& v = verdicts_[c];
      if (!v.is_valid || v.kind != Kind::open || space_.front(c) != space_.front(first) ||
          !std::ranges::equal(lower(c), lower(first))) {
        return false;
      }
    }
    const Objectives low(lower(first).begin(), lower(first).end());
    CertificateLeaf leaf{.kind = Kind::open, .bounds = {{.bound = low, .gap = gap(first, low)}}};
    count(leaf, size);
    return true;
  }

  // The least of each objective over the valid combinations of a range; empty when there is none.
  Objectives least(std::uint64_t first, std::uint64_t size) const {
    Objectives out;
    for (std::uint64_t c = first; c < first + size; ++c) {
      if (!verdicts_[c].is_valid) continue;
      if (out.empty()) out.assign(objectives_, infinity);
      for (const auto j : indices(objectives_)) out[j] = std::min(out[j], lower(c)[j]);
    }
    return out;
  }

  bool leaf_of_dominated(std::size_t depth, std::uint64_t first, std::uint64_t size) {
    std::uint64_t valid = 0, some = first;
    for (std::uint64_t c = first; c < first + size; ++c) {
      if (!verdicts_[c].is_valid) continue;
      if (verdicts_[c].kind != Kind::dominated) return false;
      if (valid++ == 0) some = c;
      if (space_.front(c) != space_.front(some)) return false;
    }
    CertificateLeaf leaf{.kind = Kind::dominated, .cut = as_int(depth)};
    std::vector<Objectives> bounds;
    const std::uint64_t part = space_.stride(depth);
    for (std::uint64_t begin = first; begin < first + size; begin += part) {
      Objectives bound = least(begin, part);
      if (bound.empty()) continue;
      if (!archive(some).dominator(bound)) return false;
      bounds.push_back(std::move(bound));
    }
    std::ranges::sort(bounds);
    bounds.erase(std::ranges::unique(bounds).begin(), bounds.end());
    for (const std::size_t i : non_dominated(bounds)) {
      leaf.bounds.push_back({.bound = bounds[i], .by = *archive(some).dominator(bounds[i])});
    }
    count(leaf, valid);
    return true;
  }

  void collect_front() {
    std::vector<std::uint64_t> candidates, undecided;
    for (const std::uint64_t c : below(verdicts_.size())) {
      if (!verdicts_[c].is_valid) continue;
      if (verdicts_[c].kind == Kind::evaluated) candidates.push_back(c);
      if (verdicts_[c].kind == Kind::open) undecided.push_back(c);
    }
    for (const std::uint64_t c : candidates) {
      CertifiedPoint point{c, space_.front(c), interval(c), space_.kernels(c), true};
      const Objectives high = upper(c);
      const auto may_beat = [&](std::uint64_t other) {
        return other != c && space_.front(other) == point.front && dominates(lower(other), high);
      };
      point.is_certain =
          std::ranges::none_of(candidates, may_beat) && std::ranges::none_of(undecided, may_beat);
      out_.front.push_back(std::move(point));
    }
    std::ranges::stable_sort(out_.front, {}, &CertifiedPoint::front);
  }

  const CertifiableProblem& problem_;
  const Configurations& space_;
  std::span<const KernelKnowledge> kernels_;
  std::size_t objectives_;
  std::unique_ptr<bool[]> is_maximised_;
  std::vector<double> low_, high_, lower_;
  std::vector<Verdict> verdicts_;
  std::vector<UpperArchive> archives_;
  std::vector<std::int32_t> prefix_;
  Certificate out_;
};

}  // namespace

std::string_view certificate_state_name(CertificateState state) {
  return enum_names<CertificateState>("certified", "certified within eps", "open").of(state);
}

Certificate make_certificate(const Certifier& certifier) {
  return Builder(certifier).build(certifier.options().eps);
}

}  // namespace halmark
