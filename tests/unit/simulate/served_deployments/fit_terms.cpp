// Fits the terms that fitted_terms.cpp ships, cross-validated by curve. Not run with the tests: it
// takes minutes, and its figures are in the README of simulate/serving.
//   test_served_deployments --gtest_also_run_disabled_tests --gtest_filter='*fitted_anew*'

#include <cstdio>

#include "served_points.hpp"
#include "simulate/serving/fitted_terms.hpp"
#include "tests/shared_data.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::test {
namespace {

using serving::SeriesTerms;
using Series = ServedPoints::Series;

constexpr int folds = 5;

struct Setting {
  std::int64_t budget;
  bool chunks;
  std::int64_t is_short;
  bool is_slow = false;  // begins with a slow host: another minimum
};
constexpr Setting settings[] = {{1024, false, 0},     {2048, true, 0},  {4096, true, 0},
                                {8192, false, 0},     {1024, false, 1}, {1024, false, 0, true},
                                {4096, true, 0, true}};

SeriesTerms begin_of(const Setting& s) {
  SeriesTerms out;
  out.token_budget = s.budget;
  out.chunks_prompts = s.chunks;
  out.requests_short = s.is_short;
  out.terms = {.device_scale = 0.9,
               .step_ns = 1e5,
               .sequence_ns = 2e4,
               .token_ns = 300,
               .prompt_step_ns = 3e5,
               .arrival_ns = 1e7,
               .arrival_token_ns = 2000};
  if (s.is_slow) {
    out.terms.sequence_ns = 4e4;
    out.terms.token_ns = 4000;
    out.terms.prompt_step_ns = 5e5;
    out.terms.arrival_ns = 6e7;
  }
  return out;
}

int fold_of(const std::string& curve) {
  return static_cast<int>(std::hash<std::string>{}(curve) % folds);
}

void print(const std::string& name, const SeriesTerms& t) {
  std::printf("TERMS\t%s\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%ld\t%d\t%ld\n",
              name.c_str(), t.terms.device_scale, t.terms.step_ns, t.terms.sequence_ns,
              t.terms.token_ns, t.terms.prompt_step_ns, t.terms.arrival_ns,
              t.terms.arrival_token_ns, t.waves, static_cast<long>(t.token_budget),
              t.chunks_prompts ? 1 : 0, static_cast<long>(t.requests_short));
}

std::pair<SeriesTerms, Setting> fitted(const Series& points, const std::string& name,
                                       int evaluations) {
  SeriesTerms best;
  double least = 1e300;
  Setting chosen{};
  for (const Setting& setting : settings) {
    // Of an engine whose model is not known nobody knows that.
    if (setting.is_short > 0 && name.starts_with("engine")) continue;
    const SeriesTerms one = fitted_from(begin_of(setting), points, 20);
    const double loss = fit_loss(points, one);
    std::printf("# %s %ld %d short %ld: %.4f\n", name.c_str(), static_cast<long>(setting.budget),
                setting.chunks ? 1 : 0, static_cast<long>(setting.is_short), loss);
    if (loss < least) least = loss, best = one, chosen = setting;
  }
  best = fitted_from(best, points, evaluations);
  std::printf("# %s %zu points: %.4f\n", name.c_str(), points.size(), fit_loss(points, best));
  print(name, best);
  std::fflush(stdout);
  return {best, chosen};
}

TEST(ServedDeployments, DISABLED_terms_are_fitted_anew) {
  const ServedPoints all(shared_data(""));
  const char* const only = std::getenv("HALMARK_SERIES");
  std::map<std::string, Series> groups(all.series().begin(), all.series().end());
  for (const auto& [name, points] : all.series()) {
    // A third of all is enough for what they have in common.
    Series& engine = groups["engine " + name.substr(0, name.find(' '))];
    for (std::size_t i = 0; i < points.size(); i += 3) engine.push_back(points[i]);
  }
  for (const auto& [name, points] : groups) {
    if (points.size() < 20 || (only != nullptr && name.find(only) == std::string::npos)) continue;
    const Setting setting = fitted(points, name, 100).second;
    for (int fold = 0; fold < folds; ++fold) {
      Series train, left_out;
      for (const auto* p : points) (fold_of(p->curve) == fold ? left_out : train).push_back(p);
      if (left_out.empty()) continue;
      // The other folds from the same begin: what the whole fit knows of this fold is not used but
      // for the setting.
      const SeriesTerms one = fitted_from(begin_of(setting), train, 60);
      for (const auto* p : left_out) {
        const auto f = predicted(*p, one);
        const ServedRow& row = all.row_of(*p);
        std::printf("CV\t%s\t%d\t%s\t%ld\t%.6g\t%.6g\t%.6g\t%.6g\n", name.c_str(), fold,
                    row.curve.c_str(), static_cast<long>(row.concurrency), f.ttft_ns, p->ttft_ns,
                    f.tpot_ns, p->tpot_ns);
      }
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace halmark::test
