"""PyTorch's allocator gives one allocation of the device to many tensors: before each checked launch the checker gets their bounds."""

import ctypes

from drywell_boot import device

_asker = None  # the stand-in has its address only


def _ranges(pairs):
    flat = [end for pair in sorted(pairs) for end in pair]
    return (ctypes.c_ulonglong * len(flat))(*flat), len(flat) // 2


def _divided(segments):
    """Segments of the default pool, and their blocks in use. A captured graph may use blocks of its own pool that are free by now."""
    pools, used = [], []
    for s in segments:
        if tuple(s.get("segment_pool_id", (0, 0))) != (0, 0):
            continue
        pools.append((s["address"], s["address"] + s["total_size"]))
        at = s["address"]
        for b in s["blocks"]:
            if b["state"].startswith("active"):
                used.append((at, at + b.get("requested_size", b["size"])))
            at += b["size"]
    return pools, used


def watch(torch):
    """With full checks, accesses between tensors are findings (H7508)."""
    global _asker
    if device.options().get("check") != "full" or not hasattr(torch._C, "_cuda_memorySnapshot"):
        return

    def answer():
        pools, blocks = _divided(torch._C._cuda_memorySnapshot(None)["segments"])
        device.library().drywellMemoryPools(*_ranges(pools), *_ranges(blocks))

    _asker = ctypes.CFUNCTYPE(None)(answer)
    device.library().drywellAskForMemoryPools(_asker)
