// What `halmark plan-size` prints of a job: its FLOPs, the devices, and every assumption.
#pragma once

#include "model/sizing/job_size.hpp"
#include "model/spec/model_spec.hpp"
#include "report/views/view.hpp"

namespace halmark::tune {

// {"model", "device", "job", "plan", "assumptions", "model_notes"}, and "replica" of a served load
// that was sized by one (null: by a stated MFU).
report::View job_view(const ModelSpec& spec, const Device& device, const Job& job,
                      const SizedJob& sized, const Replica* replica);

}  // namespace halmark::tune
