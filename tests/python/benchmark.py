"""do_bench calls once and gives the predicted time; the autotuner compares predicted times, or takes the first configuration."""

import math
import os

import numpy as np
import triton
import triton.language as tl
import triton.testing
from device_array import Array, zeros

timed = "driver=timed" in os.environ["DRYWELL_EXEC"]


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=1) for block in (32, 1024)], key=["n"])
@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


n = 200_000
values = np.arange(n, dtype=np.float32)
x, out = Array(values), zeros(n)
calls = 0


def launch():
    global calls
    calls += 1
    double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)


launch()
assert (out.numpy() == 2 * values).all()
# 6,250 CTAs of one warp with one element a thread take longer than 196 with 32 elements a thread.
assert double.best_config.kwargs["BLOCK"] == (1024 if timed else 32), double.best_config
calls = 0
once, several = triton.testing.do_bench(launch), triton.testing.do_bench(launch, quantiles=[0.5, 0.2, 0.8])
assert calls == 2
assert triton.testing.do_bench(launch, return_mode="all") == [once] or not timed
if timed:
    # 1.6 MB at most at the 8 TB/s of HBM3e is 0.2 us; a launch of microseconds, not of milliseconds.
    assert several == [once] * 3 and 0.2e-3 < once < 0.1, once
else:
    assert math.isnan(once) and all(map(math.isnan, several))
