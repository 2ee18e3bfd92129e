// A slowdown of a series over its nights: from where it stands, against which nights, and whether
// it has ended.
#pragma once

#include <cstdint>
#include <optional>

#include "history/recorded.hpp"

namespace halmark::history {

// A slowdown that was called, or that stands as surely as one, and what became of it.
struct Standing {
  std::int64_t begin = 0, end = 0;  // runs of the nights before it, which it is measured against
  std::int64_t run = 0;             // its first night; of a relapse the first slow one again
  double size = 0;                  // of its step, in logarithms
  std::optional<std::size_t> back;  // the first night that is back, once it has ended
};

// Logarithm of a night's time at the usual speed of the memory; the median of those from run
// `begin` on before `end`, 0 without any.
double level(const Night& night);
double median_level(const std::vector<Night>& nights, std::int64_t begin, std::int64_t end);
// Index of the first night of that run or a later one.
std::size_t place_of(const SeriesHistory& series, std::int64_t run);
// The run from which on its last change counts; there is a night.
std::int64_t place_of_change(const SeriesHistory& series);

// Night by night from its first: it ends with two nights that are back, or one of the earlier
// build, and begins again with two that are slow.
void follow(const SeriesHistory& series, const HistoryRules& rules, Standing& it);
// The latest slowdown of the nights, ended or not.
std::optional<Standing> standing_of(const SeriesHistory& series, const NightReport& report);

}  // namespace halmark::history
