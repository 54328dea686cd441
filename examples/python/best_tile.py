"""Finds the best tile by predicted cycles and draws the map of all: of a Triton matrix product, or of the shipped block-scaled GEMM. No GPU is needed.

    pip install '.[triton]' && python examples/python/best_tile.py triton [M N K]
    python examples/python/best_tile.py gemm-blockscaled [M N K]

The table is printed; NAME-MxNxK.svg is the picture, NAME-MxNxK.jsonl the results, with which a run that was stopped continues.
"""

import argparse

import numpy as np

import drywell as dw


def predict_triton(M, N, K, BM, BN, BK):
    """Cycles of one product; values are not computed (values=False): the time is the same."""
    from best_tile_kernel import matmul

    a, b, c = np.zeros((M, K), np.float16), np.zeros((K, N), np.float16), np.zeros((M, N), np.float32)
    return dw.triton.kernel(matmul)[(M // BM, N // BN)](a, b, c, N, K, BM=BM, BN=BN, BK=BK, driver="timed", values=False)


def predict_gemm_blockscaled(M, N, K, bn, cta_group, cluster_n):
    """The same for NVFP4 operands; a pair of CTAs (cta_group 2) computes tiles of 256 rows, cluster_n of them share A by multicast."""
    r = dw.kernels.gemm_blockscaled(m=M, n=N, k=K, bn=bn, cta_group=cta_group, cluster_n=cluster_n, driver="timed", values=False)
    return {"cycles": r.cycles, "microseconds": r.seconds * 1e6}


CHOICES = {
    "triton": (predict_triton, {"BM": (64, 128), "BN": (64, 128, 256), "BK": (32, 64, 128)}, ("BM", "BN"), "BK", (512, 512, 256)),
    "gemm-blockscaled": (predict_gemm_blockscaled, {"bn": (64, 128, 192, 256), "cta_group": (1, 2), "cluster_n": (1, 2, 4)}, "bn",
                         ("cta_group", "cluster_n"), (2048, 2048, 1024)),
}


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("kernel", choices=CHOICES, nargs="?", default="triton")
    words.add_argument("size", type=int, nargs="*", metavar="M N K")
    given = words.parse_args()
    fn, space, x, y, usual = CHOICES[given.kernel]
    if len(given.size) not in (0, 3):
        words.error("three sizes, M N K, or none")
    M, N, K = given.size or usual
    name = f"{given.kernel}-{M}x{N}x{K}"
    table = dw.sweep(fn, {"M": [M], "N": [N], "K": [K], **space}, path=f"{name}.jsonl", progress=True)
    for row in table.failures:
        print(f"failed: {row}")
    picture = table.picture(x, y, title=f"{given.kernel}, {M} x {N} x {K}: predicted cycles")
    with open(f"{name}.svg", "w") as f:
        f.write(picture.svg)
    print(picture)
    best = table.best()
    print("best:", ", ".join(f"{k} {best[k]}" for k in space), f"{best['cycles']} cycles; {name}.svg")


if __name__ == "__main__":
    main()
