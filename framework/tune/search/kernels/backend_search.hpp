// The search of a sweep without a model: on which backend, and by which of its kernels, is each
// problem fastest? The same loop and the same samplers as for configurations.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "core/text/error.hpp"
#include "plan/kernel_sweep.hpp"
#include "search/space/space.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/search/kernels/case_search.hpp"

namespace halmark::tune {

// One way of running a problem.
struct BackendChoice {
  std::string backend;  // "opencl:0", "cpu:0/2"
  std::string variant;  // "gemm_tiled tile=8"; by_default = what the plugin chooses
  KernelCase kernel_case;
};

struct BackendQuestion {
  Problem problem;    // complete
  std::string where;  // of the sweep file
  std::vector<BackendChoice> choices;
  std::vector<std::string> notes;  // what is not among them, and why
};

// Parameters "backend" and, where some backend has several kernels to choose from, "variant".
class BackendProblem {
 public:
  explicit BackendProblem(const BackendQuestion& question);  // which must outlive it
  const Space& space() const { return space_; }
  const BackendChoice& at(const Point& point) const;

 private:
  const BackendQuestion& question_;
  std::vector<Point> points_;  // of the choices, in their order
  Space space_;
};

// Every problem of the sweep, each once, on each of its backends. Variants are not asked yet.
// Throws Error (exit 2) for an unknown sampler, and at the table of an unknown op, parameter or
// dtype.
std::vector<BackendQuestion> backend_questions(const KernelSweep& sweep);

// Rounds, seconds, seed and limits as the sweep states them; limits are those of the machine, which
// `measuring` has, where it states none.
void take(const KernelSweep& sweep, KernelMeasuring& measuring);

// partial where a row failed, incorrect where a result was wrong, unfit where no row has a time and
// none failed: no backend is here.
ExitCode exit_code_of(std::span<const Measurement> rows);

struct BackendRows {
  std::vector<Measurement> rows;
  std::vector<std::string> notes;  // what the budget left out
};

// Measures what the sampler asks for; a grid measures everything in the rounds of one campaign.
BackendRows search_backends(std::span<const BackendQuestion> questions, const KernelSweep& sweep,
                            const KernelMeasuring& measuring);

}  // namespace halmark::tune
