"""torch.profiler records the CPU only: what it knows of a GPU comes from CUPTI, a library of the real driver (it calls itself without end here)."""

from drywell_boot import device


def profiler(module):
    """torch.autograd.profiler: the two functions that start a recording are asked without the GPU."""
    for name in ("_prepare_profiler", "_enable_profiler"):
        if hasattr(module, name):
            setattr(module, name, _without_gpu(getattr(module, name), module.ProfilerActivity))


def _without_gpu(start, activity):
    def call(config, activities, *rest, **more):
        if activity.CUDA in activities:
            device.say("torch.profiler records the CPU only; the simulated kernels are in the reports of --driver=timed")
        return start(config, {a for a in activities if a != activity.CUDA} or {activity.CPU}, *rest, **more)

    return call
