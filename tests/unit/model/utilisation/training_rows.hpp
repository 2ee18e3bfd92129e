// Published training rows (tests/data/published_mfu.json) as questions to `halmark model`: what to
// ask, and how the printed figure follows from the FLOPs of the step that is told. Shared by the
// test that runs the program for each and the benchmark that prints how near they come.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/json/json.hpp"

namespace halmark::published {

// What a row is about, for statistics over rows of a kind.
enum class TrainingKind { dense, mixture, fine_tuning, count };
std::string_view kind_name(TrainingKind kind);

struct TrainingRow {
  int row = 0;  // in the file; a row that prints two figures is two questions
  std::string name;
  TrainingKind kind = TrainingKind::count;
  std::string config;                  // text of a config.json, or
  std::string model;                   // a shipped id
  std::vector<std::string> arguments;  // of `halmark model`, behind the model
  double printed = 0;
  double per_flop = 0;  // what is printed, per FLOP of the step
  double rounding = 0;  // relative: half of the last printed places of figure and rate
};

struct TrainingRows {
  std::vector<TrainingRow> questions;
  int rows = 0;                        // of the file
  std::map<std::string, int> reasons;  // why rows cannot be stated -> rows
};
TrainingRows training_rows();

// `ask` runs `halmark model` and gives the FLOPs of the step as the convention counts them.
using AskFlops = std::function<double(const TrainingRow& row)>;
struct TrainingError {
  const TrainingRow* row = nullptr;
  double relative = 0;  // stated over printed, less 1
};
std::vector<TrainingError> training_errors(const TrainingRows& rows, const AskFlops& ask);

// Of absolute errors; 0 without any.
double median_error(const std::vector<TrainingError>& errors);
double largest_error(const std::vector<TrainingError>& errors);

}  // namespace halmark::published
