OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q; bit[2] c;
x q[0]; /* a comment */ cz q[0], q[1]; // another
c[0] = measure q[0];
