// The TMA engine, copies of plain byte ranges (PTX ISA 9.7.9.25.4).
#include <fmt/format.h>

#include <cstring>

#include "sim/engine/engine.h"
#include "sim/engine/reduce.h"
#include "sim/engine/signals.h"

namespace drywell::sim {
namespace {

using Kind = BulkCopy::Kind;

// .ignore_oob leaves these bytes of the destination indeterminate; here they are as in new memory, NaN in every float format.
constexpr uint8_t kIgnored = 0xFF;

GuestError outside_shared(uint32_t address, uint64_t bytes) {
  return {Code::F3307, fmt::format("bulk copy of {} bytes at offset {:#x} of CTA rank {}: outside shared memory",
                                   bytes, shared_offset(address), shared_rank(address))};
}

uint8_t* global_bytes(Cluster& c, uint64_t address, uint64_t bytes) {
  return c.launch->gmem->translate(address, bytes);
}
GuestError outside_global(const Cluster& c, uint64_t address, uint64_t bytes) {
  return {Code::F3306, fmt::format("bulk copy of {} bytes at global address {:#x}: outside every allocation{}",
                                   bytes, address, c.launch->gmem->neighbourhood(address))};
}

// Copies or reduces the staged bytes; `to`: the place of the first one that the mask chooses.
void deliver(const AsyncOp& op, const BulkCopy& b, uint8_t* to) {
  if (b.reduce_op != isa::Mod::none) {
    reduce_function(b.reduce_op, b.reduce_type)(to, op.staging.data(), b.bytes);
    return;
  }
  if (b.byte_mask == 0xFFFF) {
    std::memcpy(to, op.staging.data(), b.bytes);
    return;
  }
  for (uint32_t i = b.first_chosen(); i < b.end_chosen(); ++i) {
    if ((b.byte_mask >> (i % 16) & 1) != 0) to[i - b.first_chosen()] = op.staging[i];
  }
}

EngineResult to_shared(Cluster& c, const AsyncOp& op, const BulkCopy& b) {
  const auto dst = static_cast<uint32_t>(b.dst);
  const LoadTarget target{dst, b.mbar, b.multicast, 0};
  if (auto e = check_target(c, target); e.has_value()) return e;
  if (b.kind == Kind::shared_to_shared && shared_rank(dst) == op.issuer.cta) {
    return GuestError{Code::F3311,
                      "bulk copy from shared memory to the CTA's own; the destination must be another CTA "
                      "(PTX ISA 9.7.9.25.4.1)"};
  }
  for (uint32_t d = 0; d < kMaxClusterCtas; ++d) {
    if ((target.ctas() >> d & 1) == 0) continue;
    const uint32_t at = cluster_address(d, shared_offset(dst));
    uint8_t* to = shared_bytes(c, at, b.bytes);
    if (to == nullptr) return outside_shared(at, b.bytes);
    deliver(op, b, to);
  }
  return signal_target(c, target, b.bytes);
}

EngineResult to_global(Cluster& c, const AsyncOp& op, const BulkCopy& b) {
  const uint64_t first = b.dst + b.first_chosen();
  const uint32_t bytes = b.end_chosen() - b.first_chosen();
  if (bytes != 0) {
    uint8_t* const to = global_bytes(c, first, bytes);
    if (to == nullptr) return outside_global(c, first, bytes);
    deliver(op, b, to);
  }
  group_write_done(c, op.issuer, b.group, true);
  return std::nullopt;
}

}  // namespace

EngineResult read_operands(Cluster& c, AsyncOp& op, BulkCopy& b) {
  const bool global = b.from_global();
  const uint64_t src = b.first_read();
  const uint32_t bytes = b.bytes_read();
  op.staging.assign(b.ignored_left, kIgnored);
  if (bytes != 0) {
    const uint8_t* from = global ? global_bytes(c, src, bytes) : shared_bytes(c, static_cast<uint32_t>(src), bytes);
    if (from == nullptr) return global ? outside_global(c, src, bytes) : outside_shared(static_cast<uint32_t>(src), bytes);
    op.staging.insert(op.staging.end(), from, from + bytes);
  }
  op.staging.resize(b.bytes, kIgnored);
  if (b.to_global()) group_read_done(c, op.issuer, b.group, true);
  return std::nullopt;
}

EngineResult write_result(Cluster& c, AsyncOp& op, BulkCopy& b) {
  return b.to_global() ? to_global(c, op, b) : to_shared(c, op, b);
}

}  // namespace drywell::sim
