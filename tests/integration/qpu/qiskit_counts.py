"""Circuits that Qiskit draws and writes, each with the gates that Qiskit itself counts in it.

    qiskit_counts.py COUNT

Prints a JSON list of {"qasm", "counts", "qubits"}: text of OpenQASM 2 and 3 in turns, with gates of qelib1.inc, gates that the writer defines in
the file, and gates of their own over both, some controlled or inverse; how often each gate stands there when those of the file are taken apart.
"""
import collections
import json
import random
import sys

from qiskit import QuantumCircuit, qasm2, qasm3
from qiskit.circuit import library as gates

SHARED = [gates.XGate, gates.YGate, gates.ZGate, gates.HGate, gates.SGate, gates.SdgGate, gates.TGate, gates.TdgGate, gates.SXGate, gates.RXGate, gates.RYGate,
          gates.RZGate, gates.PhaseGate, gates.U1Gate, gates.U2Gate, gates.U3Gate, gates.CXGate, gates.CYGate, gates.CZGate, gates.CHGate, gates.CPhaseGate,
          gates.CRXGate, gates.CRYGate, gates.CRZGate, gates.CUGate, gates.SwapGate, gates.CCXGate, gates.CSwapGate]
ONLY_2 = [gates.SXdgGate, gates.UGate, gates.CU1Gate, gates.CU3Gate, gates.CSXGate, gates.RXXGate, gates.RZZGate, gates.RCCXGate,
          gates.C3SXGate]
DEFINED = [gates.RYYGate, gates.RZXGate, gates.ECRGate, gates.iSwapGate, gates.DCXGate, gates.XXPlusYYGate, gates.CCZGate, gates.RGate, gates.CSGate,
           gates.RC3XGate, gates.C3XGate, gates.C4XGate]
QUBITS = 6


def angles_of(kind):
    return {gates.RXGate: 1, gates.RYGate: 1, gates.RZGate: 1, gates.PhaseGate: 1, gates.U1Gate: 1, gates.U2Gate: 2, gates.U3Gate: 3, gates.UGate: 3,
            gates.CPhaseGate: 1, gates.CRXGate: 1, gates.CRYGate: 1, gates.CRZGate: 1, gates.CUGate: 4, gates.CU1Gate: 1, gates.CU3Gate: 3,
            gates.RXXGate: 1, gates.RYYGate: 1, gates.RZZGate: 1, gates.RZXGate: 1, gates.XXPlusYYGate: 2, gates.RGate: 2}.get(kind, 0)


def drawn(draw, kinds, qubits, size, name=None):
    out = QuantumCircuit(qubits, name=name)
    for _ in range(size):
        gate = draw.choice(kinds)
        gate = gate(*[draw.uniform(-6, 6) for _ in range(angles_of(gate))])
        if gate.num_qubits <= qubits:
            out.append(gate, draw.sample(range(qubits), gate.num_qubits))
    return out


def count(circuit, known, into):
    for item in circuit.data:
        operation = item.operation
        if operation.name in ("measure", "barrier"):
            continue
        if getattr(operation, "base_class", type(operation)) in known or operation.definition is None:
            into["c3sqrtx" if operation.name == "c3sx" else operation.name] += 1
        else:
            count(operation.definition, known, into)
    return into


def case(number):
    draw = random.Random(number)
    is_two = number % 2 == 0
    known = SHARED + (ONLY_2 if is_two else [])
    circuit = QuantumCircuit(QUBITS, QUBITS)
    kinds = known + DEFINED
    circuit.compose(drawn(draw, kinds, QUBITS, 25), inplace=True)
    inner = drawn(draw, kinds, 3, 5, f"inner{number}").to_gate()
    outer = QuantumCircuit(4, name=f"outer{number}")
    outer.append(inner, [3, 0, 1])
    outer.compose(drawn(draw, kinds, 4, 4), inplace=True)
    outer.append(inner, [2, 1, 0])
    for _ in range(3):
        circuit.append(outer.to_gate(), draw.sample(range(QUBITS), 4))
    circuit.append(inner.inverse(), [0, 1, 2])
    circuit.barrier()
    circuit.measure(range(QUBITS), range(QUBITS))
    text = qasm2.dumps(circuit) if is_two else qasm3.dumps(circuit)
    return {"qasm": text, "qubits": QUBITS, "counts": count(circuit, set(known), collections.Counter())}


print(json.dumps([case(number) for number in range(int(sys.argv[1]))]))
