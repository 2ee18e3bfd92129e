// Carrying times from devices where they were measured to one where they were not: the efficiency
// curve of the measured device says how a kernel uses the resource that binds it (compute, memory,
// link) by its time at peak, and is asked at the peaks of the other; what the kernel differed from
// the curve it still differs. Several devices vote, the likest most. How wrong that is shows when
// one of them is left out and predicted from the others; with a single one nothing shows it.
//
// Devices differ the more, the farther their memory rates lie apart (of collectives: their links):
// D = |log(rate / rate)|. Votes count by D^-4, errors are taken to grow by D^0.8. Of such exponents
// these were chosen on gemm, experts and nccl of A100, H100 and L40S. On the other families there
// intervals held 86-93 % (decode, all-reduce), but 67-100 % (prompts) and 26-96 % (latent
// products).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "latency/interpolation/efficiency_curve.hpp"
#include "latency/interpolation/interpolation.hpp"
#include "latency/latency_point.hpp"

namespace halmark {

// One thread: a device is left out when the first problem of a family is asked for.
class DeviceTransfer {
 public:
  // `network_bytes_per_s`: see roofline::Links. `solver`: see Interpolation.
  explicit DeviceTransfer(std::optional<double> network_bytes_per_s = {}, CurveSolver solver = {});

  // Points of one implementation on one device; of several that reach a problem the first counts.
  // Without a solver utilisation itself carries over.
  void add(std::span<const LatencyPoint> points, const Device& measured_on);

  struct Figure {
    double ns = 0, low_ns = 0, high_ns = 0;
    bool is_calibrated = false;  // 90 % of the points of devices left out lie in such intervals
    ResourceTimes::Resource binding;    // on the target
    std::vector<std::string> devices;   // that it is carried from
    std::vector<std::size_t> series;    // of each, as added
    std::vector<std::string> left_out;  // devices that calibrated it
  };
  // For a device with these resources. Nothing where no device knows the problem's family.
  std::optional<Figure> at(const Problem& problem, const ResourceRates& target) const;

 private:
  struct Series {
    std::size_t number = 0;
    std::vector<LatencyPoint> points;
    std::unique_ptr<Interpolation> interpolation;
  };
  struct Source {
    std::string id;
    ResourceRates rates;
    std::vector<Series> series;
  };
  struct Carried {
    double log_ns = 0, log_width = 0;
    std::size_t series = 0;
  };
  // |error| in logarithms over the unlikeness of devices that 90 % stay below; of devices left out.
  struct Calibration {
    double factor = 0;
    std::vector<std::string> devices;  // none: not calibrated
  };
  std::optional<Carried> from(const Source& source, const Problem& problem,
                              const ResourceTimes& target) const;
  struct Vote {
    double log_ns = 0, log_width = 0;
    double unlikeness = 0;  // of the devices that vote, to the power that errors grow by
    std::vector<std::string> devices;
    std::vector<std::size_t> series;
  };
  // Without the device `left_out`.
  std::optional<Vote> vote(const Problem& problem, const ResourceRates& target,
                           const Source* left_out) const;
  // Of the first series that has any.
  static std::vector<const LatencyPoint*> points_of(const Source& source, const std::string& group);
  const Calibration& calibration(const std::string& group) const;

  std::optional<double> network_bytes_per_s_;
  CurveSolver solver_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::size_t added_ = 0;
  mutable std::map<std::string, Calibration> calibrations_;  // by group
};

}  // namespace halmark
