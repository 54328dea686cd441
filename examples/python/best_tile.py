"""Finds the best tile of a Triton matrix product by predicted cycles, and draws them. No GPU is needed.

    pip install '.[triton]' && python examples/python/best_tile.py [M N K]
"""

import sys

import numpy as np
import triton
import triton.language as tl

import drywell as dw


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        acc = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


def predict(M, N, K, BM, BN, BK):
    """Cycles of one product; values are not computed (values=False): the time is the same."""
    a, b, c = np.zeros((M, K), np.float16), np.zeros((K, N), np.float16), np.zeros((M, N), np.float32)
    run = dw.triton.kernel(matmul)
    return run[(M // BM, N // BN)](a, b, c, N, K, BM=BM, BN=BN, BK=BK, driver="timed", values=False)


def main():
    M, N, K = (int(x) for x in sys.argv[1:4]) if len(sys.argv) > 3 else (512, 512, 256)
    space = [{"M": M, "N": N, "K": K, "BM": bm, "BN": bn, "BK": bk} for bm in (64, 128) for bn in (64, 128) for bk in (32, 64)]
    table = dw.sweep(predict, space, path=f"best_tile_{M}x{N}x{K}.jsonl", progress=True)
    longest = max(row["cycles"] for row in table)
    for row in sorted(table, key=lambda r: r["cycles"]):
        tile = f"{row['BM']} x {row['BN']} x {row['BK']}"
        print(f"{tile:>15} {row['cycles']:>8} cycles  {'#' * round(50 * row['cycles'] / longest)}")
    for row in table.failures:
        print(f"failed: {row}")


if __name__ == "__main__":
    main()
