OPENQASM 2.0;
include "qelib1.inc";
qreg q[3]; creg c[3];
h q[0]; cx q[0],q[1]; rz(pi/4 - 2*0.5) q[2]; u3(0.1,-pi,1e-3) q[1];
barrier q; swap q[0],q[2];
measure q -> c;
