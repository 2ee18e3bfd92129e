// Sampler: proposes points (ask) and learns from outcomes (tell). One file each in samplers/, one
// line each in samplers/table.cpp. What a sampler proposes for trial n is a function of (seed, n,
// what it was told so far): nothing has to be saved, and telling the rows of a study again brings
// the sampler back to where it was.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "search/space/space.hpp"

namespace halmark {

enum class TrialOutcome {
  complete,    // objectives are values
  infeasible,  // a limit on a measured value is broken by `violations`; objectives may be there
  failed,      // refused, crashed, wrong, timed out: an example of where not to look
  pending,     // proposed by somebody (another worker, a person), not finished
};

// Objectives are minimised; a maximised one is negated once, by whoever tells.
struct Told {
  Point point;
  TrialOutcome outcome = TrialOutcome::complete;
  std::vector<double> objectives = {};  // as many in every complete trial; never NaN
  std::vector<double> violations = {};  // per constraint, > 0 = broken by so much
  std::string reason = {};              // why not complete: "KV cache short by 3.1 GiB"
  std::string proposer = {};            // who proposed it, as answered_by() said; "" = not known
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual std::string_view name() const = 0;
  // At most `count` valid points that were never proposed before, by this sampler or by anybody who
  // told of them; fewer, or none, when the space is exhausted. Never waits for an outcome: what was
  // asked and not told yet is pending. Bounded in work: a proposal that takes more is a uniform
  // draw instead.
  virtual std::vector<Point> ask(std::size_t count) = 0;
  // Of each point of the last ask, who proposed it: the sampler's name, that of the member of a
  // portfolio, or "uniform" where a proposal took too much work. With it (Told::proposer) a study
  // that is told again is the same study even where the emergency clock had decided.
  virtual std::vector<std::string> answered_by() const { return {}; }
  // From now on ask looks at `should_stop` while it works, and returns what it has when that says
  // so.
  virtual void heed(const std::function<bool()>& /*should_stop*/) {}
  // Outcomes of points, asked here or not, in the order of the trials. A point may be told once as
  // pending and once with its outcome; more throws Error (exit 1), as do an invalid point, NaN and
  // a changed number of objectives.
  virtual void tell(const std::vector<Told>& outcomes) = 0;
  // One line about what it does now, for people: "tpe, 128 trials". May be empty.
  virtual std::string state() const { return {}; }
};

// What is known when a study begins. Zero = not known.
struct SamplerOptions {
  std::uint64_t seed = 1;
  std::size_t trials = 0;      // budget of the study
  std::size_t objectives = 0;  // found out at the first complete trial otherwise
  // Of auto: points by what they promise, the most first, where that is known before any trial.
  std::vector<Point> first = {};
};

// The space must outlive the sampler. Throws Error (exit 2) with the nearest name.
std::unique_ptr<Sampler> make_sampler(std::string_view name, const Space& space,
                                      const SamplerOptions& options);
std::unique_ptr<Sampler> make_sampler(std::string_view name, const Space& space,
                                      std::uint64_t seed);
std::vector<std::string> sampler_names();
// "--sampler" for people: one line per sampler.
std::string sampler_list();

}  // namespace halmark
