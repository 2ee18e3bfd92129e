// Rows of the journal as rows of series.
#pragma once

#include "core/chosen/configuration.hpp"
#include "core/measured/measurement.hpp"
#include "history/series.hpp"
#include "journal/store.hpp"

namespace halmark::history {

// Of one database: what a year of nights has many times over.
inline constexpr std::size_t runs_max = 100'000;

SeriesName name_of(const Measurement& row, const std::string& fingerprint);
SeriesName name_of(const RowFigures& figures, const std::string& fingerprint);
// A suspect row has its reason as the doubt, a failed or invalid one its status and reason as the
// fault.
SeriesRow row_of(const Measurement& row, std::int64_t run);
// The step of a configuration, with the interval of its estimate.
SeriesRow row_of(const Evaluation& evaluation, std::int64_t run);

}  // namespace halmark::history
