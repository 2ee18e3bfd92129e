// One side of a comparison: where its rows come from, and which sides compare at all.
#pragma once

#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "history/comparison.hpp"
#include "history/front_moves.hpp"
#include "journal/store.hpp"

namespace halmark::history {

struct Side {
  std::string title;                // as the user named it, with what it turned out to be
  std::vector<std::int64_t> runs;   // none of other formats
  std::vector<std::string> builds;  // of plugins, of a benchmark program: sorted, each once
  std::vector<std::string> fingerprints;
  std::vector<std::string> notes;  // what was left out
  std::vector<Series> series;      // by name
  bool is_journal = true;
  std::string account;  // of a file: what of it was taken, and what was left out
  // Of its last run that has configurations: these, and the plan that says what a front is of.
  std::vector<Evaluation> evaluations;
  std::string plan_text;
};

// `name`: the number of a run of `database`; a date, 2026-11-22, for the runs of `database` that
// began on it; a results database, all of its runs, or one: FILE.db:7; a JSON file of Google
// Benchmark. Throws Error (exit 2) where it is none of these, holds nothing to compare or is
// damaged. Nothing is written.
Side load_side(const std::string& name, const std::string& database);

struct Comparison {
  Side before, after;
  std::vector<SeriesChange> changes;                 // worst first
  std::vector<std::string> only_before, only_after;  // what no other side has
  ComparisonRules rules;
  std::vector<FrontMove> front_moves;  // left to who knows what a front is

  int count(Change change) const;
};

// Throws Error (exit 2) where the sides do not compare: another machine, another kind of figures,
// no series of both.
Comparison compare_sides(Side before, Side after, const ComparisonRules& rules);

}  // namespace halmark::history
