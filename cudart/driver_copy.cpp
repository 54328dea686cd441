#include "cudart/driver_copy.h"

#include "cudart/call.h"
#include "drywell/core/error.h"

namespace drywell::cudart {
namespace {

DriverEnd3D flat(const DriverEnd2D& e) { return {e.x, e.y, 0, 0, e.type, e.host, e.device, e.array, nullptr, e.pitch, 0}; }

/// A pitch of 0 means rows without a gap.
PitchedPtr pitched(const DriverEnd3D& e, size_t width, size_t height) {
  if (e.type == DriverMemory::array) throw Unsupported("copies from and to arrays");
  void* const at = e.type == DriverMemory::host ? const_cast<void*>(e.host) : reinterpret_cast<void*>(e.device);
  return {at, e.pitch != 0 ? e.pitch : width, width, e.height != 0 ? e.height : height};
}

CopyKind kind_of(DriverMemory to, DriverMemory from) {
  if (to == DriverMemory::unified || from == DriverMemory::unified) return CopyKind::inferred;
  if (from == DriverMemory::host) return to == DriverMemory::host ? CopyKind::host_to_host : CopyKind::host_to_device;
  return to == DriverMemory::host ? CopyKind::device_to_host : CopyKind::device_to_device;
}

DriverEnd3D end_of(const PitchedPtr& p, const Pos& at) {
  return {at.x, at.y, at.z, 0, DriverMemory::unified, nullptr, reinterpret_cast<uint64_t>(p.ptr), nullptr, nullptr, p.pitch, p.ysize};
}

}  // namespace

Memcpy3DParms runtime_copy(const DriverCopy3D* p) {
  require_value(p != nullptr);
  Memcpy3DParms out{};
  out.src_pos = {p->from.x, p->from.y, p->from.z};
  out.dst_pos = {p->to.x, p->to.y, p->to.z};
  out.src_ptr = pitched(p->from, p->width, p->height);
  out.dst_ptr = pitched(p->to, p->width, p->height);
  out.extent = {p->width, p->height, p->depth};
  out.kind = kind_of(p->to.type, p->from.type);
  return out;
}

Memcpy3DParms runtime_copy(const DriverCopy2D* p) {
  require_value(p != nullptr);
  const DriverCopy3D deep{flat(p->from), flat(p->to), p->width, p->height, 1};
  return runtime_copy(&deep);
}

DriverCopy3D driver_copy(const Memcpy3DParms& p) {
  return {end_of(p.src_ptr, p.src_pos), end_of(p.dst_ptr, p.dst_pos), p.extent.width, p.extent.height, p.extent.depth};
}

}  // namespace drywell::cudart
