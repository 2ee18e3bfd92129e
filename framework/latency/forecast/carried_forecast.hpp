// What an engine's kernels take on a device that no table is of: the forecast of the nearest device
// with tables, at what binds a kernel there and here. A launch takes the same everywhere.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "latency/forecast/forecast_source.hpp"
#include "latency/interpolation/efficiency_curve.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

// Distance of two devices: of the logarithms of their memory rates and 16-bit peaks. Errors of
// carrying grow with it; of collectives with that of the links.
struct NearDevice {
  Device device;
  double distance = 0;
  bool is_of_another_maker = false;
};
// Of those with tables in `forecasts` the nearest of the same kind, those of the same maker first,
// then those that multiply the same narrow types; nothing where none lies
// within a factor of ten, of another maker five.
std::optional<NearDevice> nearest_with_tables(const Device& target,
                                              const std::vector<std::filesystem::path>& forecasts,
                                              const std::vector<std::filesystem::path>& devices);

class CarriedForecast final : public PlacedSource {
 public:
  // `from` predicts for `near`. `network_bytes_per_s`: see roofline::Links.
  CarriedForecast(std::unique_ptr<ForecastSource> from, const NearDevice& near,
                  const Device& target, std::optional<double> network_bytes_per_s);

  using PlacedSource::latency;
  // Its origin names the device that it is carried from; its interval holds what is carried and the
  // error of carrying. Nothing where either device states no figure for what the kernel needs.
  std::optional<Latency> latency(const Problem& problem, const Work& work,
                                 std::int64_t stride) const override;

  const ForecastSource& from() const { return *from_; }

 private:
  std::unique_ptr<ForecastSource> from_;
  NearDevice near_;
  ResourceRates there_, here_;
  roofline::Ceilings ceilings_;
};

}  // namespace halmark
