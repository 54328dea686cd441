"""Times a causal attention forward (Triton, wgmma) of 4096 positions, 16 heads and 128 columns: attention.py [POSITIONS [HEADS]].

Prints seconds of the launch, warp instructions per second, and the largest error of sampled rows against NumPy (f16 results: below 0.002).
"""

import sys
import time

import numpy as np
import triton
import triton.language as tl

import drywell as dw

D = 128


@triton.jit
def attention(q, k, v, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    block, head = tl.num_programs(0) - 1 - tl.program_id(0), tl.program_id(1)
    base = head * n * D
    rows = block * BM + tl.arange(0, BM)
    columns, depth = tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + base + rows[:, None] * D + depth[None, :])
    best = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for start in range(0, (block + 1) * BM, BN):
        keys = tl.load(k + base + (start + columns)[None, :] * D + depth[:, None])
        scores = tl.dot(queries, keys) * (scale * 1.4426950408889634)
        if start + BN > block * BM:
            scores = tl.where(rows[:, None] >= start + columns[None, :], scores, float("-inf"))
        new = tl.maximum(best, tl.max(scores, 1))
        p = tl.math.exp2(scores - new[:, None])
        fade = tl.math.exp2(best - new)
        total = total * fade + tl.sum(p, 1)
        values = tl.load(v + base + (start + columns)[:, None] * D + depth[None, :])
        sums = tl.dot(p.to(tl.float16), values, sums * fade[:, None])
        best = new
    tl.store(o + base + rows[:, None] * D + depth[None, :], (sums / total[:, None]).to(tl.float16))


def expected(q, k, v, row):
    s = k[: row + 1].astype(np.float64) @ q[row].astype(np.float64) / np.sqrt(D)
    p = np.exp(s - s.max())
    return p @ v[: row + 1].astype(np.float64) / p.sum()


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    heads = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((heads, n, D), dtype=np.float32).astype(np.float16) for _ in range(3))
    o = np.zeros_like(q)

    def launch(blocks, heads):
        return dw.triton.kernel(attention)[(blocks, heads)](q, k, v, o, n, 1 / np.sqrt(D), BM=128, BN=64, D=D, num_warps=8, arch="sm_90a", driver="eager")

    launch(1, 1)  # compiles
    start = time.perf_counter()
    run = launch(n // 128, heads)
    seconds = time.perf_counter() - start
    error = max(np.abs(o[h, r] - expected(q[h], k[h], v[h], r)).max() for h in (0, heads - 1) for r in (0, 1, n // 3, n - 1))
    print(f"{seconds:.1f} s, {run.instructions / seconds / 1e6:.1f} M warp instructions/s, largest error {error:.4f}")


if __name__ == "__main__":
    main()
