#include "sim/check/footprints.h"

#include <initializer_list>
#include <tuple>

namespace drywell::sim::check {
namespace {

auto fields(const Umma& u) {
  return std::tie(u.kind, u.idesc, u.d, u.a_in_tmem, u.a, u.b, u.cta_group, u.ws, u.sparse, u.ashift, u.sfa, u.sfb, u.meta, u.scale_vec, u.disable_lane, u.zero_column_mask);
}
auto fields(const TmemCopy& p) { return std::tie(p.shape, p.multicast, p.format, p.taddr, p.desc, p.cta_group); }

// Sets the fields that do not affect an answer to zero.
Umma about_cells(Umma u) {
  if (!u.a_in_tmem) u.a = 0;
  u.b = 0;
  u.accumulate = false;
  return u;
}
Umma about_operands(Umma u) {
  if (u.a_in_tmem) u.a = 0;
  u.d = u.sfa = u.sfb = u.meta = 0;
  u.accumulate = false;
  u.disable_lane = {};
  return u;
}
uint64_t mixed(std::initializer_list<uint64_t> all) {
  uint64_t h = 0;
  for (const uint64_t v : all) {
    h = (h ^ v) * 0xBF58476D1CE4E5B9u;
    h ^= h >> 29;
  }
  return h;
}
uint64_t hash_of(const Umma& u) { return mixed({u.a, u.b, uint64_t{u.d} << 32 | u.idesc, uint64_t{u.sfa} << 32 | u.sfb}); }
uint64_t hash_of(const TmemCopy& p) { return mixed({p.desc, p.taddr}); }

template <class Payload>
AsyncOp with(const AsyncOp& op, const Payload& p) {
  AsyncOp other;
  other.issuer = op.issuer;
  other.payload = p;
  return other;
}

template <class Payload>
TensorCells cells_of(const Cluster& c, const AsyncOp& op, const Payload& p) {
  TensorCells found;
  const AsyncOp asked = with(op, p);
  for_each_read(
      c, asked, [&](const Span& s) { if (s.memory == Memory::tmem) found.reads.push_back(s); }, only(Memory::tmem));
  for_each_write(c, asked, [&](const Span& s) { if (s.memory == Memory::tmem) found.writes.push_back(s); });
  return found;
}

template <class Payload>
std::vector<SharedRun> operands_of(const Cluster& c, const AsyncOp& op, const Payload& p) {
  std::vector<SharedRun> found;
  const auto keep = [&](const Span& s) {
    if (s.memory == Memory::shared) found.push_back({s.cta, static_cast<uint32_t>(s.begin), static_cast<uint32_t>(s.bytes)});
  };
  for_each_read(c, with(op, p), keep, only(Memory::shared));
  return found;
}

}  // namespace

bool same(const Umma& a, const Umma& b) { return fields(a) == fields(b); }
bool same(const TmemCopy& a, const TmemCopy& b) { return fields(a) == fields(b); }

const TensorCells& KnownFootprints::cells(const Cluster& c, const AsyncOp& op, const Umma& u) {
  const Umma key = about_cells(u);
  return mma_cells_.of(key, op.issuer.cta, hash_of(key), [&](TensorCells& out) { out = cells_of(c, op, key); });
}
const TensorCells& KnownFootprints::cells(const Cluster& c, const AsyncOp& op, const TmemCopy& p) {
  TmemCopy key = p;
  key.desc = 0;
  return copy_cells_.of(key, op.issuer.cta, hash_of(key), [&](TensorCells& out) { out = cells_of(c, op, key); });
}

const std::vector<SharedRun>& KnownFootprints::operands(const Cluster& c, const AsyncOp& op, const Umma& u) {
  const Umma key = about_operands(u);
  return mma_operands_.of(key, op.issuer.cta, hash_of(key), [&](std::vector<SharedRun>& out) { out = operands_of(c, op, key); });
}
const std::vector<SharedRun>& KnownFootprints::operands(const Cluster& c, const AsyncOp& op, const TmemCopy& p) {
  TmemCopy key = p;
  key.taddr = 0;
  return copy_operands_.of(key, op.issuer.cta, hash_of(key), [&](std::vector<SharedRun>& out) { out = operands_of(c, op, key); });
}

}  // namespace drywell::sim::check
