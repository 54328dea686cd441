"""A simulated device and the copies of host arrays that one launch works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _core
from .arrays import Memory, View, is_unwritten


def compute_capability(target: str) -> int:
    """Of a machine's PTX target: 100 for "sm_100a"."""
    return int(target.removeprefix("sm_").rstrip("af"))


@dataclass(frozen=True)
class _Region:
    memory: Memory
    at: int  # device address

    def holds(self, m: Memory) -> bool:
        return self.memory.address <= m.address and m.address + m.bytes <= self.memory.address + self.memory.bytes

    def touches(self, m: Memory) -> bool:
        return self.memory.address < m.address + m.bytes and m.address < self.memory.address + self.memory.bytes


class Machine:
    """Device memory for the arrays of a launch. Each owner's memory is copied once, so that views of one array stay views of one
    array; ``copy_back`` writes what the kernel changed to the host."""

    def __init__(self, arch: str, sms: int = 0, contract: bool = False) -> None:
        self.device = _core.Device(arch, sms, contract)
        self._regions: list[_Region] = []

    def address_of(self, view: View, name: str = "") -> int:
        """Device address of an array's first element; copies its memory on first use."""
        region = self._region(view.memory, name)
        return region.at + view.address - region.memory.address

    def _region(self, m: Memory, name: str) -> _Region:
        for r in self._regions:
            if r.holds(m):
                return r
            if r.touches(m) and m.bytes:
                raise ValueError("two arguments overlap in memory, and neither is a view of the other: pass views of one array")
        at = self.device.allocate(max(m.bytes, 1), name)
        if not is_unwritten(m):
            self.device.write(at, m.address, m.bytes)
        region = _Region(m, at)
        self._regions.append(region)
        return region

    def copy_in(self) -> None:
        """Copies the host's memory again: for a repeated launch."""
        for r in self._regions:
            self.device.write(r.at, r.memory.address, r.memory.bytes)

    def copy_back(self) -> None:
        """Writes changed memory back. ValueError if the kernel wrote to a read-only array."""
        for r in self._regions:
            if not self.device.differs(r.at, r.memory.address, r.memory.bytes):
                continue
            if not r.memory.writable:
                raise ValueError("the kernel wrote to an array that is read-only on the host")
            self.device.read(r.memory.address, r.at, r.memory.bytes)

    def figures(self) -> dict[str, Any]:
        return self.device.figures()
