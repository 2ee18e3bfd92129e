// Problems with a known answer, to compare searches on: closed forms, and recorded kernel timings.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/pareto/pareto.hpp"
#include "search/sampler.hpp"

namespace halmark::problems {

struct Problem {
  std::string name;
  SpaceDescription description;
  std::function<Told(const Space&, const Point&)> evaluate;
  // Normalised by ideal and nadir of the exact front, reference 1.1; empty = raw values with
  // `reference`.
  Objectives ideal, nadir, reference;
  double exact_hypervolume = 0;   // after normalising; 0 = not known
  std::vector<Objectives> front;  // exact, distinct vectors; empty = not known
};

Problem zdt1();
Problem dtlz2();
Problem mix6();
// Of 6 parameters and 3 objectives, and of 12 and 2.
Problem dtlz5();
Problem dtlz7();
Problem wfg4();
Problem zdt2();
Problem zdt3();

// Problems with a region in which trials fail, known to nobody before. What a sampler does about
// failures is tuned on the first, and confirmed on the second.
std::vector<Problem> hidden_failures_to_tune_on();
std::vector<Problem> hidden_failures_to_confirm_on();

// Most of what lies next to the front fails; and nothing does that is near it.
Problem failures_at_the_front();
Problem failures_far_from_the_front();

// Objectives of mix6 for levels-free values; minimised (throughput negated).
Objectives mix6_objectives(int dtype, int strategy, int shards_log2, int batch, int tile,
                           int stages);

// conv1, gemm1, dedisp1, convres3, gemmres3, dedispres3: replay of recorded files. Nothing where
// the file is not there. `hide_constraints` leaves the known constraints out: forbidden
// combinations are then found out as failures.
std::optional<Problem> replay(const std::string& name, bool hide_constraints = false);
// Where the recorded files are looked for: HALMARK_SHARED_DATA, or beside the checkout.
std::string data_folder();

// Hypervolume of the complete trials: normalised and as a share of the exact one where known.
double quality(const Problem& problem, const std::vector<Told>& told, std::size_t trials);
// One objective: best found / optimum.
double best_over_optimum(const Problem& problem, const std::vector<Told>& told, std::size_t trials);
// Share of the exact front that was found.
double front_share(const Problem& problem, const std::vector<Told>& told, std::size_t trials);

// One search, one trial at a time, as it happened.
std::vector<Told> run(const Problem& problem, const Space& space, Sampler& sampler,
                      std::size_t trials);

}  // namespace halmark::problems
