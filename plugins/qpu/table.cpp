// The kernel table: a declaration and a line per kernel.
#include "kernel.hpp"

namespace hm_qpu {

const Kernel& gate_layers_kernel();
const Kernel& ghz_kernel();
const Kernel& grover_kernel();
const Kernel& qaoa_layer_kernel();
const Kernel& qft_kernel();
const Kernel& random_circuit_kernel();

std::span<const Kernel* const> kernel_table() {
  static const Kernel* const table[] = {&gate_layers_kernel(), &ghz_kernel(),
                                        &grover_kernel(),      &qaoa_layer_kernel(),
                                        &qft_kernel(),         &random_circuit_kernel()};
  return table;
}

}  // namespace hm_qpu
