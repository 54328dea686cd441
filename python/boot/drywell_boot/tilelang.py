"""TileLang: nvcc compiles its kernels to PTX instead of machine code, which the driver takes as well; its benchmarks give the predicted time."""

import functools
import math

from drywell_boot import device, triton_hooks


def nvcc(module):
    """Called when a program has imported tilelang.contrib.nvcc."""
    compile_cuda = module.compile_cuda

    @functools.wraps(compile_cuda)
    def to_ptx(code, target_format="ptx", *more, **options):
        return compile_cuda(code, "ptx", *more, **options)

    module.compile_cuda = to_ptx


def bench(module):
    """Called when a program has imported tilelang.profiler.bench: its benchmark counts repetitions by a first time, which has to be a number."""
    measure = module.do_bench

    @functools.wraps(measure)
    def do_bench(fn, *args, quantiles=None, backend="event", **options):
        if backend == "wall":
            return measure(fn, *args, quantiles=quantiles, backend=backend, **options)
        ms = triton_hooks.do_bench(fn)
        return ms if quantiles is None or len(quantiles) == 1 else [ms] * len(quantiles)

    module.do_bench = do_bench


def tuner(module):
    """Called when a program has imported tilelang.autotuner.tuner: without a clock the first configuration that runs is taken, and the others do not."""
    if device.timed():
        return
    kind = module.AutoTuner
    run, measure = kind.run, kind._benchmark_target

    @functools.wraps(run)
    def run_once(self, *args, **kwargs):
        self._drywell_taken = False
        return run(self, *args, **kwargs)

    @functools.wraps(measure)
    def first(self, *args, **kwargs):
        if self._drywell_taken:
            return math.inf, None
        device.say("autotuning takes the first configuration that can be launched: only --driver=timed has times to compare")
        measure(self, *args, **kwargs)
        self._drywell_taken = True
        return 0.0, None

    kind.run, kind._benchmark_target = run_once, first
