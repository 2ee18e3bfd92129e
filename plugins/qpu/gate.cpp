#include "gate.hpp"

#include <cmath>

namespace hm_qpu {

Gate phase_gate(Mask mask, Complex factor) { return {.mask = mask, .m = {factor, 0, 0, 0}}; }

Gate hadamard(int target) {
  const double h = std::sqrt(0.5);
  return {.target = target, .m = {h, h, h, -h}};
}

Gate not_gate(int target, Mask controls) {
  return {.target = target, .mask = controls, .m = {0, 1, 1, 0}};
}

Gate rotation(int target, double theta, double phi, double lambda) {
  const double c = std::cos(theta / 2), s = std::sin(theta / 2);
  return {.target = target,
          .m = {c, -std::polar(1.0, lambda) * s, std::polar(1.0, phi) * s,
                std::polar(1.0, phi + lambda) * c}};
}

}  // namespace hm_qpu
