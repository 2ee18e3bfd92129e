// Runs the passes of a plan over a state in memory, blocks shared out among OpenMP's threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "plan.hpp"
#include "simd/block_loops.hpp"

namespace hm_qpu {

template <class T>
class Engine {
 public:
  Engine(const PlanShape& shape, int threads, const BlockLoops<T>& loops)
      : shape_(shape), threads_(threads), loops_(loops) {}

  // `state`: 2^qubits pairs. `source`: the same, read by the first pass; NULL = |0...0>.
  void run(std::span<const Pass> passes, const T* source, T* state) const;

 private:
  PlanShape shape_;
  int threads_;
  const BlockLoops<T>& loops_;
};

extern template class Engine<float>;
extern template class Engine<double>;

}  // namespace hm_qpu
