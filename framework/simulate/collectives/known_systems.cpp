// Parameters of A100 SXM (NCCL 2.27.3), H100 SXM, B200 SXM (2.29.2) and L40S on PCIe without
// peer-to-peer (2.27.3), 2, 4 and 8 ranks of one node, 512 bytes to 512 MiB, fitted to the NCCL
// tables of ai-dynamo/aiconfigurator@095f58a5 (Apache-2.0) by fit_collective with one shape.
#include "simulate/collectives/known_systems.hpp"

#include <array>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::simulate {
namespace {

using Parameters = std::array<double, CollectiveCurve::parameters>;

struct KnownSystem {
  std::string_view id;  // of the device
  Wire wire;
  double link_bytes_per_s;
  // all_reduce, all_gather, reduce_scatter, all_to_all
  std::array<Parameters, 4> curves;
};

constexpr KnownSystem systems[] = {
    {"a100",
     Wire::nvlink,
     300e9,
     {{{1.241e-05, 0.5172, 1.039e-11, 9.837e-06, 4.611e-12, 0.2845},
       {1.127e-05, 0.3223, 1.676e-11, 9.066e-06, 5.579e-12, 0.4045},
       {1.076e-05, 0.2985, 1.567e-11, 9.022e-06, 5.029e-12, 0.3169},
       {1.092e-05, 0.2054, 6.977e-11, 1.171e-05, 6.451e-12, 0.2367}}}},
    {"h100-sxm",
     Wire::nvlink,
     450e9,
     {{{6.938e-06, 0.6687, 7.717e-12, 5.939e-06, 2.833e-12, 0.4507},
       {6.08e-06, 0.4829, 9.06e-12, 5.127e-06, 3.34e-12, 0.4496},
       {5.911e-06, 0.4531, 8.537e-12, 5.122e-06, 3.588e-12, 0.5308},
       {6.436e-06, 0.1208, 1.624e-10, 6.507e-06, 3.82e-12, 0.1376}}}},
    {"b200",
     Wire::nvlink,
     900e9,
     {{{1.045e-05, 0.6701, 4.142e-12, 9.72e-06, 1.388e-12, 0.3364},
       {9.605e-06, 0.4526, 5.108e-12, 8.61e-06, 1.553e-12, 0.413},
       {9.223e-06, 0.4483, 5.505e-12, 8.562e-06, 1.705e-12, 0.4655},
       {8.9e-06, 0.1751, 1.643e-10, 6.913e-06, 3.008e-12, 0.5073}}}},
    {"l40s",
     Wire::pcie,
     32e9,
     {{{6.422e-06, 0.8583, 9.276e-11, 2.311e-05, 4.823e-11, 1.97},
       {5.537e-06, 0.5812, 1.174e-10, 1.971e-05, 4.992e-11, 2.033},
       {5.623e-06, 0.5873, 1.196e-10, 2.12e-05, 5.096e-11, 1.892},
       {7.472e-06, 0.2724, 1.388e-10, 1.765e-05, 4.612e-11, 2.135}}}},
};

// 90 % of log(measured / predicted) of a system that the others predict lie within.
constexpr double unseen_log_half_width = 0.5;

CurveShape shape_of(Collective collective, Wire wire) {
  if (wire == Wire::pcie) return CurveShape::shared;
  return collective == Collective::all_to_all ? CurveShape::direct : CurveShape::pipelined;
}

// Latencies do not follow links: the mean of the systems, unless one has the same link.
double weight_of(double log_ratio) { return 1 + 8 * std::exp(-std::pow(log_ratio / 0.15, 2)); }

// What a parameter is averaged as: times and costs as logarithms.
bool is_logarithmic(std::size_t parameter) { return parameter != 1 && parameter != 5; }

}  // namespace

std::optional<CollectiveFit> fit_of_known_systems(Collective collective, Wire wire,
                                                  const FitLink& link, std::string_view without) {
  if (!std::isfinite(link.bytes_per_s) || link.bytes_per_s <= 0) {
    throw refused("the rate of a link must be above 0, found " + number_text(link.bytes_per_s));
  }
  const auto at = as_size(collective);
  if (at >= systems[0].curves.size()) return std::nullopt;
  Parameters mean{};
  double weights = 0;
  for (const KnownSystem& system : systems) {
    if (system.wire != wire || system.id == without) continue;
    const double ratio = std::log(system.link_bytes_per_s / link.bytes_per_s);
    const double weight = weight_of(ratio);
    weights += weight;
    for (const auto i : indices(mean)) {
      const double value = system.curves[at][i];
      mean[i] += weight * (is_logarithmic(i) ? std::log(value) : value);
      if (i == 4) mean[i] += weight * ratio;  // a faster link costs less per byte
    }
  }
  if (weights == 0) return std::nullopt;
  for (const auto i : indices(mean)) {
    mean[i] /= weights;
    if (is_logarithmic(i)) mean[i] = std::exp(mean[i]);
  }
  return CollectiveFit{.curve = {.collective = collective,
                                 .shape = shape_of(collective, wire),
                                 .base_s = mean[0],
                                 .latency_exponent = mean[1],
                                 .first_s_per_byte = mean[2],
                                 .second_s = mean[3],
                                 .s_per_byte = mean[4],
                                 .ranks_effect = mean[5]},
                       .log_half_width = unseen_log_half_width,
                       .link_bytes_per_s = link.bytes_per_s,
                       .adds_in_switch = link.adds_in_switch};
}

}  // namespace halmark::simulate
