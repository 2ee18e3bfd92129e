// What `halmark plan-size` prints of a job: its FLOPs, the devices, and every assumption.
#pragma once

#include "model/sizing/job_size.hpp"
#include "model/spec/model_spec.hpp"
#include "report/views/view.hpp"

namespace halmark::pages {

// {"model", "device", "job", "plan", "assumptions", "model_notes"}.
report::View job_page(const ModelSpec& spec, const Device& device, const Job& job,
                      const SizedJob& sized);

}  // namespace halmark::pages
