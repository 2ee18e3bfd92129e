// A stored run as a RunReport: a fold over the journal, without a device.
#pragma once

#include <cstdint>

#include "cli/console/session.hpp"
#include "journal/store.hpp"
#include "report/report.hpp"

namespace halmark::cli {

// Utilisation is judged by the peaks of `machine` when the run is from it, else left out.
RunReport stored_report(const Store& store, std::int64_t run, const LocalMachine& machine);

}  // namespace halmark::cli
