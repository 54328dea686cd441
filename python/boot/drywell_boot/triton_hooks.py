"""Triton: benchmarks give the predicted time after one call, because every run of a simulated kernel takes the same time."""

import functools
import math

from drywell_boot import device


def _measure(fn):
    """Calls fn once. Returns milliseconds of its kernels; not a number without --driver=timed."""
    before = device.kernel_seconds()
    fn()
    after = device.kernel_seconds()
    if not device.timed():
        device.say("times are not a number without --driver=timed: the other drivers have no clock")
    # PyTorch's own operations take no simulated time: a function without a kernel has none.
    # The sum so far rounds; to a femtosecond, equal launches have equal times.
    return round((after - before) * 1e15, 0) / 1e12 if after != before else float("nan")


def _clear(grad_to_none):
    for x in grad_to_none or ():
        x.grad = None


def _bench(fn, grad_to_none=None, quantiles=None, return_mode="mean"):
    _clear(grad_to_none)
    ms = _measure(fn)
    if quantiles is not None:
        return [ms] * len(quantiles) if len(quantiles) != 1 else ms
    return [ms] if return_mode == "all" else ms


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    """Calls `fn` once and returns the predicted time of its kernels in milliseconds, in the form of triton.testing.do_bench."""
    return _bench(fn, grad_to_none, quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    """As do_bench: a graph would hide launch latencies, which the predicted time of the kernels does not have."""
    return _bench(fn, grad_to_none, quantiles, return_mode)


def testing(module):
    names = {"do_bench": do_bench, "do_bench_proton": do_bench, "do_bench_cudagraph": do_bench_cudagraph, "do_bench_cudagraph_proton": do_bench_cudagraph}
    for name, ours in names.items():
        if hasattr(module, name):
            setattr(module, name, functools.wraps(getattr(module, name))(ours))


def package(module):
    """Called when a program has imported triton: cuBLAS, which Triton's tests compare with, is machine code."""
    try:
        from triton._C.libtriton import nvidia
    except ImportError:
        return
    if hasattr(nvidia, "cublas"):
        from drywell_boot.cublas import CublasLt

        nvidia.cublas.CublasLt = CublasLt


def autotuner(module):
    """Without a clock no configuration is the best: the first that can be launched is taken, and the others do not run."""
    if device.timed():
        return
    tuner = module.Autotuner
    run, bench = tuner.run, tuner._bench
    refused = [math.inf] * 3

    @functools.wraps(run)
    def run_once(self, *args, **kwargs):
        self._drywell_taken = False
        return run(self, *args, **kwargs)

    @functools.wraps(bench)
    def bench_first(self, *args, config, **meta):
        if getattr(self, "_drywell_taken", False):
            return refused
        device.say("autotuning takes the first configuration that can be launched: only --driver=timed has times to compare")
        times = bench(self, *args, config=config, **meta)
        if times == refused:
            return times
        self._drywell_taken = True
        return [0.0] * 3

    tuner.run, tuner._bench = run_once, bench_first


def _comparable(times, launched):
    """Times that can be compared, which torch.compile asks of at least one choice: without a clock simulated kernels are equal, so that the
    first is taken; PyTorch's own operations, which take no simulated time, come behind every kernel."""
    if isinstance(times, list):
        return [_comparable(t, launched) for t in times]
    if math.isfinite(times):
        return times
    device.say("what has no simulated time has one of 1 ms (kernels) or 1e9 ms (PyTorch's own operations) for torch.compile to choose by")
    return 1.0 if launched else 1e9


def inductor(module):
    """torch.compile measures each configuration of its kernels hundreds of times: once gives the same time."""

    def benchmark_gpu(self, _callable, *_, grad_to_none=None, quantiles=None, return_mode="min", **__):
        before = device.kernel_launches()
        times = _bench(_callable, grad_to_none, quantiles, return_mode)
        return _comparable(times, device.kernel_launches() != before)

    for name in ("TritonBenchmarker", "InductorBenchmarker", "TorchProfilerBenchmarker"):
        kind = getattr(module, name, None)
        for method in ("benchmark_gpu", "benchmark_gpu_with_cuda_graph"):
            if kind is not None and hasattr(kind, method):
                setattr(kind, method, benchmark_gpu)
