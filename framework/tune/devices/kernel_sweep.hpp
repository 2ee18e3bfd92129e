// A sweep of kernels on several backends: asked, measured, compared. The one call that `halmark
// tune` makes for it.
#pragma once

#include <span>
#include <vector>

#include "report/views/backend_views.hpp"
#include "tune/devices/named_devices.hpp"
#include "tune/search/kernels/backend_search.hpp"

namespace halmark::tune {

// The problems with what each backend offers for them: its own choice, and the sweep's variants. A
// backend that is not here stays in it; its rows say why. Throws Error (exit 2) as
// backend_questions does.
std::vector<BackendQuestion> offered_questions(const KernelSweep& sweep,
                                               const NamedDevices& devices,
                                               const std::vector<FoundPlugin>& found);

// One per question, in their order.
std::vector<report::BackendComparison> compare_backends(std::span<const BackendQuestion> questions,
                                                        std::span<const Measurement> rows,
                                                        const ReportingMachine& machine);

}  // namespace halmark::tune
