#!/usr/bin/env python3
"""Makes the arrays of the session in docs/inspect.md: row-major scale factors of A (ue8m0 bytes, 128 rows x 4 factors) and the
product that a GEMM with A = B = 1, K = 128 and unit factors of B must give: D[m][n] = sum over j of 32 * 2^(sfa[m][j] - 127)."""
import os
import struct

ROWS, FACTORS, COLUMNS = 128, 4, 128


def npy(path, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


here = os.path.dirname(os.path.abspath(__file__))
sfa = [[127 + (5 * m + 3 * j) % 7 - 3 for j in range(FACTORS)] for m in range(ROWS)]
d = [32.0 * sum(2.0 ** (s - 127) for s in row) for row in sfa for _ in range(COLUMNS)]
npy(os.path.join(here, "sfa.npy"), "|u1", (ROWS, FACTORS), bytes(s for row in sfa for s in row))
npy(os.path.join(here, "d.npy"), "<f4", (ROWS, COLUMNS), struct.pack("<%df" % len(d), *d))
