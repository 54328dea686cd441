#include "cudart/copy_actions.h"

#include "cudart/call.h"
#include "drywell/core/error.h"

namespace drywell::cudart {

Action copy_action(Context& c, CopyPlace to, CopyPlace from, CopyShape shape, CopyKind kind) {
  return [&memory = c.memory(), to, from, shape, kind] { memory.copy(to, from, shape, kind); };
}

Action copy_action(Context& c, void* to, const void* from, size_t bytes, CopyKind kind) {
  return copy_action(c, {to, bytes, 0}, {from, bytes, 0}, {bytes, 1, 1}, kind);
}

Action copy_action(Context& c, const Memcpy3DParms* p) {
  require_value(p != nullptr);
  if (p->src_array != nullptr || p->dst_array != nullptr) throw Unsupported("copies from and to arrays");
  const auto place = [](const PitchedPtr& q, const Pos& at) {
    const uint64_t slice = q.pitch * q.ysize;
    return CopyPlace{static_cast<const uint8_t*>(q.ptr) + at.z * slice + at.y * q.pitch + at.x, q.pitch, slice};
  };
  return copy_action(c, place(p->dst_ptr, p->dst_pos), place(p->src_ptr, p->src_pos), {p->extent.width, p->extent.height, p->extent.depth}, p->kind);
}

Work copy_work(Context& c, const Memcpy3DParms* p) {
  Action run = copy_action(c, p);
  auto kept = std::make_shared<NodeParams>();
  kept->memcpy = *p;
  return {std::move(run), std::move(kept)};
}

Memcpy3DParms linear_copy(void* to, const void* from, size_t bytes, CopyKind kind) {
  Memcpy3DParms p{};
  p.src_ptr = {const_cast<void*>(from), bytes, bytes, 1};
  p.dst_ptr = {to, bytes, bytes, 1};
  p.extent = {bytes, 1, 1};
  p.kind = kind;
  return p;
}

}  // namespace drywell::cudart
