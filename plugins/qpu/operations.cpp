// A sweep reads and writes the whole block: as many rotations as the registers hold share one.
#include "operations.hpp"

#include <algorithm>

namespace hm_qpu {
namespace {

// Sweeps of at most `fusion` rotations above a vector's width; those within go with the first.
template <class T>
void add_turns(std::vector<Rotation> rotations, int fusion, int lane_bits,
               std::vector<Operation<T>>& out) {
  std::ranges::sort(rotations, {}, &Rotation::qubit);
  Turns<T> sweep;
  for (const Rotation& rotation : rotations) {
    const auto ratio = static_cast<T>(rotation.ratio);
    const Turn<T> turn{rotation.qubit, rotation.exchanges, ratio, ratio};
    if (rotation.qubit < lane_bits) {
      sweep.lane[sweep.lane_count++] = turn;
      continue;
    }
    if (sweep.count == fusion) {
      out.push_back(sweep);
      sweep = {};
    }
    sweep.above[sweep.count++] = turn;
  }
  out.push_back(sweep);
}

template <class T>
Controlled<T> controlled(const Step& step) {
  Controlled<T> out{.arguments = {.target = step.target, .controls = step.controls},
                    .outer_controls = step.outer_controls};
  for (std::size_t i = 0; i < step.matrix.size(); ++i) {
    out.arguments.real[i] = static_cast<T>(step.matrix[i].real());
    out.arguments.imaginary[i] = static_cast<T>(step.matrix[i].imag());
  }
  return out;
}

}  // namespace

template <class T>
std::vector<Operation<T>> make_operations(const Pass& pass, const PlanShape& shape, int lane_bits) {
  std::vector<Operation<T>> out;
  for (const Step& step : pass.steps) {
    switch (step.kind) {
      case Step::Kind::rotations:
        add_turns<T>(step.rotations, shape.fusion, lane_bits, out);
        break;
      case Step::Kind::phases:
        out.push_back(Diagonal<T>(step.phases, shape.block));
        break;
      case Step::Kind::controlled:
        out.push_back(controlled<T>(step));
        break;
    }
  }
  return out;
}

template std::vector<Operation<float>> make_operations(const Pass&, const PlanShape&, int);
template std::vector<Operation<double>> make_operations(const Pass&, const PlanShape&, int);

}  // namespace hm_qpu
