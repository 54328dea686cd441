// cp.async: reads bytes of global memory at one moment and writes them to shared memory at another.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "sim/engine/engine.h"

namespace drywell::sim {

EngineResult read_operands(Cluster& c, AsyncOp& op, AsyncCopy& copy) {
  const Gmem::Allocation* hint = nullptr;
  size_t total = 0;
  for (const AsyncCopy::Lane& l : copy.lanes) total += l.bytes;
  op.staging.assign(total, 0);
  uint8_t* to = op.staging.data();
  for (const AsyncCopy::Lane& l : copy.lanes) {
    if (l.src_bytes != 0) {
      const uint8_t* from = c.launch->gmem->translate(l.gmem, l.src_bytes, hint);
      if (from == nullptr) return GuestError{Code::F3001, fmt::format("cp.async reads {} bytes at {:#x}, outside any allocation{}", l.src_bytes, l.gmem, c.launch->gmem->neighbourhood(l.gmem))};
      std::memcpy(to, from, l.src_bytes);
    }
    to += l.bytes;
  }
  return std::nullopt;
}

namespace {

// libcu++'s pipelines end their mbarriers while such arrivals are under way. The chip does not disable an object that has ended
// (docs/facts/tma-mbarrier.md): the arrival is no fault. The checker reports it at mbarrier.inval (H7307).
bool has_ended(Cluster& c, uint32_t mbar) {
  const Mbarrier* b = c.cta(shared_rank(mbar)).smem.find_mbarrier(shared_offset(mbar));
  return b != nullptr && !b->live;
}

}  // namespace

EngineResult write_result(Cluster& c, AsyncOp& op, AsyncCopy& copy) {
  if (copy.lanes.empty() && has_ended(c, copy.mbar)) return std::nullopt;
  if (copy.lanes.empty()) return apply_mbarrier(c, copy.mbar, MbarrierOp::arrive, static_cast<uint32_t>(std::popcount(copy.mask)));
  const uint8_t* from = op.staging.data();
  for (const AsyncCopy::Lane& l : copy.lanes) {
    std::memcpy(shared_bytes(c, l.smem, l.bytes), from, l.bytes);
    from += l.bytes;
  }
  Issuer lane = op.issuer;
  for (LaneMask m = copy.mask; m != 0; m &= m - 1) {
    lane.lane = static_cast<uint32_t>(std::countr_zero(m));
    group_read_done(c, lane, copy.group, false);
    group_write_done(c, lane, copy.group, false);
  }
  return std::nullopt;
}

}  // namespace drywell::sim
