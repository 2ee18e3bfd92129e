#include "verify/front_proof/front_proof.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "verify/front_proof/front_proof_context.hpp"
#include "verify/front_proof/front_proof_kernels.hpp"
#include "verify/front_proof/front_proof_leaves.hpp"
#include "verify/front_proof/front_proof_space.hpp"

namespace halmark {
namespace front_proof {
namespace {

class Check {
 public:
  Check(const Proof& proof, FrontProofCheck& out) : proof_(proof), space_(proof), out_(out) {}

  const ProofSpace& space() const { return space_; }

  void run(const KnownSpace& known) {
    check_counts_of_space();
    proved_ = check_leaves(proof_, space_, known, out_);
    check_front();
    check_trailer();
  }

 private:
  void check_counts_of_space() const {
    if (proof_.combinations != space_.combinations() ||
        proof_.configurations != space_.configurations()) {
      throw Broken(proof_.space_line,
                   "the space has " + std::to_string(space_.combinations()) + " combinations and " +
                       std::to_string(space_.configurations()) + " valid configurations");
    }
  }

  // The front is what was evaluated and is not dominated: all that the leaves left as evaluated.
  void check_front() {
    std::map<std::uint64_t, std::size_t> seen;
    for (const FrontPoint& point : proof_.front) {
      const auto* at = find_value(proved_.evaluated, point.config);
      if (!at) throw Broken(point.line, "it was not evaluated");
      if (!seen.emplace(point.config, point.line).second) throw Broken(point.line, "listed twice");
      const Evaluated& e = *at;
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
    for (const auto& [c, e] : proved_.evaluated) {
      if (!seen.contains(c)) throw Broken(e.line, "it is missing in the front");
    }
  }

  bool is_certain(std::uint64_t c, const Evaluated& e) const {
    for (const auto& [other, o] : proved_.evaluated) {
      if (other != c && o.front == e.front && dominates(o.low, e.high)) return false;
    }
    return std::ranges::none_of(proved_.open, [&](const Evaluated& o) {
      return o.front == e.front && dominates(o.low, e.high);
    });
  }

  bool is_confirmed() const {
    if (proof_.is_definition) return true;
    if (proof_.run_objective < 0) return false;
    const auto j = as_size(proof_.run_objective);
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
  ProvedLeaves proved_;
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
