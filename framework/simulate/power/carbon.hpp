// Carbon of energy, and of the devices that were made for it.
#pragma once

#include <string>

namespace halmark::power {

struct CarbonQuestion {
  // Of the grid. Default: the world's mean of 2023, Ember, Global Electricity Review 2024.
  double g_per_kwh = 480;
  double pue = 1;  // energy of the building over that of the devices, at least 1
  // Of making one device. Default: 1,312 kg for a board of eight H100, NVIDIA, HGX H100 Product
  // Carbon Footprint Summary (2025), cradle to gate.
  double embodied_kg = 164;
  double life_years = 5;  // that it is shared out over
};

struct Carbon {
  double operational_g = 0, embodied_g = 0;
  double total_g() const { return operational_g + embodied_g; }
};

// Of `energy_j` drawn by devices within `device_seconds` of their lives. Throws Error (exit 2) for
// figures that cannot be.
Carbon carbon_of(double energy_j, double device_seconds, const CarbonQuestion& question);

}  // namespace halmark::power
