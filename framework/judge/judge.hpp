// From a source to its rows: built, loaded, held against the contract's shapes, measured in turns
// with a baseline. The gates are those of every other kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/plugin/discovery.hpp"
#include "judge/verdict.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/stored/baseline.hpp"

namespace halmark::judge {

struct JudgeRequest {
  std::string path;                // of the source
  std::string baseline;            // as parse_baseline reads it; "" = the backend's own, "none"
  std::string keep;                // folder for what was built; "" = nothing is kept
  std::vector<std::string> flags;  // of the compiler
  double compile_limit_s = CompileLimits{}.seconds;
};

// The plugin whose devices run a source of this language; of C and C++ one without a name, because
// the host itself does. Throws as language_of, and Error (exit 5) where there is none.
FoundPlugin machinery_of(const std::string& path, const std::vector<FoundPlugin>& found);

// `cases` are the asked problems, of the backend `judged`. `measuring` has its rounds and hooks;
// what it names of a plugin is set here. Throws Error for what no source could change: an absent
// compiler or baseline, a file that cannot be written.
Judged judge_source(const JudgeRequest& request, const std::vector<KernelCase>& cases,
                    tune::KernelMeasuring measuring, const std::vector<FoundPlugin>& found);

}  // namespace halmark::judge
