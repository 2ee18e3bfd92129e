// The search for the commit that changed a figure: builds revisions, measures pairs against the
// good one, and lets the bisection (history/bisect) choose the next. Resumable at every pair.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bisect/pair.hpp"
#include "bisect/revisions.hpp"
#include "history/bisect/bisection.hpp"

namespace halmark::bisect {

// A commit with what was seen of it.
struct Revision {
  Commit commit;
  std::vector<double> log_ratios;  // against the good one
  std::string skipped;             // why it cannot be measured; "" = it can
};
template <class V, Of<Revision> M>
void fields(V& v, M& m) {
  v("commit", m.commit);
  v("log_ratios", m.log_ratios);
  v("skipped", m.skipped);
}

struct Search {
  std::vector<Revision> revisions;  // good to bad
  history::BisectState state = history::BisectState::open;
  history::BisectPosterior posterior;
  double confidence = 0, floor = 0;
  bool is_bigger_better = false;
  std::string folder;  // of builds and pairs
  std::size_t pairs() const;
  std::size_t found() const { return posterior.best(); }
  // The skipped ones before the found one: pairs cannot tell them from it.
  std::vector<const Commit*> undistinguished() const;
};

struct BisectRequest {
  std::string repository = ".", good, bad, build;
  std::string measured;  // all that decides a figure: pairs of another are none of this search
  double confidence = 0.98, floor = 0.01;
  int pairs_max = 500;
  double build_limit_s = 3600;
  bool is_bigger_better = false, measures_again = false;
  std::string folder;  // "" = below the state folder
  std::stop_token stop;
  MeasurePair measure;
  std::function<void(const std::string&)> note;                         // may be empty
  std::function<void(std::size_t pairs, const std::string&)> progress;  // may be empty
};

// Throws Error: exit 2 for what is no repository, revision or figure, exit 5 where the good or the
// bad revision does not build or run. An interrupt ends it with state `open`.
Search bisect(const BisectRequest& request);

}  // namespace halmark::bisect
