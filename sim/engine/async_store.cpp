// st.async and red.async: data and its mbarrier signal to another CTA's shared memory, or data alone to global memory.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "sim/engine/engine.h"
#include "sim/engine/reduce.h"

namespace drywell::sim {
namespace {

void deliver(const RemoteStore& r, uint8_t* to) {
  std::array<uint8_t, 16> bytes{};
  for (uint32_t k = 0; k < r.elements; ++k)
    std::memcpy(bytes.data() + k * r.element_bytes, &r.data[k], r.element_bytes);
  if (r.reduce_op == isa::Mod::none) {
    std::memcpy(to, bytes.data(), r.bytes());
  } else {
    reduce_function(r.reduce_op, r.type)(to, bytes.data(), r.bytes());
  }
}

EngineResult to_shared(Cluster& c, const AsyncOp& op, const RemoteStore& r) {
  const auto at = static_cast<uint32_t>(r.dst);
  if (shared_rank(at) != shared_rank(r.mbar))
    return GuestError{
        Code::F3507,
        fmt::format("asynchronous store to CTA rank {} with its mbarrier in rank {}: they must be in one CTA",
                    shared_rank(at), shared_rank(r.mbar))};
  const bool reduces = r.reduce_op != isa::Mod::none;
  if (reduces && shared_rank(at) == op.issuer.cta)
    return GuestError{
        Code::F3508, "red.async to the CTA's own shared memory; it must be another CTA's (PTX ISA 9.7.13.8)"};
  if (shared_rank(at) >= c.ctas.size())
    return GuestError{Code::F3501, fmt::format("shared address {:#x} names CTA rank {} of a cluster of {}", at,
                                               shared_rank(at), c.ctas.size())};
  uint8_t* to = shared_bytes(c, at, r.bytes());
  if (to == nullptr)
    return GuestError{
        Code::F3307,
        fmt::format("asynchronous store of {} bytes at offset {:#x} of CTA rank {}: outside shared memory",
                    r.bytes(), shared_offset(at), shared_rank(at))};
  deliver(r, to);
  return apply_mbarrier(c, r.mbar, MbarrierOp::complete_tx, r.bytes());
}

}  // namespace

EngineResult read_operands(Cluster&, AsyncOp&, RemoteStore&) { return std::nullopt; }
EngineResult write_result(Cluster& c, AsyncOp& op, RemoteStore& r) {
  if (!r.global) return to_shared(c, op, r);
  uint8_t* to = c.launch->gmem->translate(r.dst, r.bytes());
  if (to == nullptr)
    return GuestError{
        Code::F3306,
        fmt::format("asynchronous store of {} bytes at global address {:#x}: outside every allocation{}",
                    r.bytes(), r.dst, c.launch->gmem->neighbourhood(r.dst))};
  deliver(r, to);
  return std::nullopt;
}

}  // namespace drywell::sim
