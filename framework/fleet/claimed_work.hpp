// What an agent has claimed, as a campaign on its own devices.
#pragma once

#include "fleet/work_table.hpp"
#include "measure/campaign/campaign.hpp"
#include "tune/devices/named_devices.hpp"

namespace halmark::fleet {

// One round of the claim's cases, by the settings of who asked for them; limits of workers, hangs,
// sink and interrupt are the caller's. Refers to both.
CampaignOptions campaign_for(const WorkTable::Claim& claim, tune::NamedDevices& devices);

}  // namespace halmark::fleet
