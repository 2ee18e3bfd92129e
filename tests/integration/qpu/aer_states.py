"""States of OpenQASM 2 circuits by Qiskit Aer in double precision.

    aer_states.py FILE...

Prints one JSON list per file: real and imaginary parts in turn, amplitude by amplitude; qubit q is bit q of the index.
"""
import json
import sys

import numpy
from qiskit import qasm2, transpile
from qiskit_aer import AerSimulator

simulator = AerSimulator(method="statevector", precision="double")
for path in sys.argv[1:]:
    circuit = qasm2.load(path, custom_instructions=qasm2.LEGACY_CUSTOM_INSTRUCTIONS)
    circuit.save_statevector()
    in_its_gates = transpile(circuit, simulator, optimization_level=0)
    state = numpy.asarray(simulator.run(in_its_gates).result().get_statevector())
    print(json.dumps(state.view(numpy.float64).tolist()))
