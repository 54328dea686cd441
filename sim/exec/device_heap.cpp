// malloc and free of kernels (CUDA C++ Programming Guide, dynamic global memory allocation and operations): each allocation is one of device
// memory, so that accesses beside it and after its free are faults that name it.
#include <fmt/format.h>

#include <bit>

#include "sim/exec/call.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kAlignment = 16;  // "The allocated memory is guaranteed to be aligned to a 16-byte boundary"
constexpr uint64_t kMost = 1 << 20;  // alignments beyond this are a mistake of the program

Gmem& memory_of(const Warp& w) { return *w.cta->cluster->launch->gmem; }

uint64_t alignment(Warp& w, const CallSite& site, uint32_t lane) {
  const uint64_t asked = site.builtin == Builtin::aligned_malloc ? call_argument(w, site, 1, lane) : kAlignment;
  return std::has_single_bit(asked) && asked <= kMost ? std::max(asked, kAlignment) : 0;
}

}  // namespace

Effect exec_malloc(Warp& w, const CallSite& site, LaneMask mask) {
  Gmem& memory = memory_of(w);
  if (memory.heap_frozen()) return fault(w, Code::U5000, "malloc in a kernel, in a debugging session");
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t align = alignment(w, site, lane);
    set_call_result(w, site, lane, align == 0 ? 0 : memory.heap_allocate(call_argument(w, site, 0, lane), align));
  });
  return Effect::next;
}

Effect exec_free(Warp& w, const CallSite& site, LaneMask mask) {
  Gmem& memory = memory_of(w);
  if (memory.heap_frozen()) return fault(w, Code::U5000, "free in a kernel, in a debugging session");
  uint64_t wrong = 0;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t address = call_argument(w, site, 0, lane);
    if (address != 0 && !memory.heap_release(address)) wrong = address;
  });
  if (wrong == 0) return Effect::next;
  return fault(w, Code::F3008, fmt::format("free of {:#x}, which malloc in a kernel did not return, or which is free{}", wrong, memory.neighbourhood(wrong)));
}

}  // namespace drywell::sim
