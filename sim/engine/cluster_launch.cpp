// clusterlaunchcontrol.try_cancel: removes a cluster that has not started from the launch's queue.
#include <fmt/format.h>

#include <cstring>

#include "sim/engine/engine.h"
#include "sim/state/cancel_response.h"

namespace drywell::sim {
namespace {

Dim3 first_cta(const Launch& l, uint64_t cluster) {
  const Dim3 at = Dim3{l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z}.at(cluster);
  return {at.x * l.cluster.x, at.y * l.cluster.y, at.z * l.cluster.z};
}

EngineResult respond(Cluster& c, uint32_t rank, const TryCancel& t, const std::array<uint32_t, 4>& words) {
  const uint32_t at = cluster_address(rank, shared_offset(t.response));
  uint8_t* to = shared_bytes(c, at, sizeof(words));
  if (to == nullptr)
    return GuestError{
        Code::F3307,
        fmt::format("the response of try_cancel at offset {:#x} of CTA rank {}: outside shared memory",
                    shared_offset(at), rank)};
  std::memcpy(to, words.data(), sizeof(words));
  return apply_mbarrier(c, cluster_address(rank, shared_offset(t.mbar)), MbarrierOp::complete_tx, sizeof(words));
}

}  // namespace

EngineResult read_operands(Cluster&, AsyncOp&, TryCancel&) { return std::nullopt; }
EngineResult write_result(Cluster& c, AsyncOp& op, TryCancel& t) {
  CancelResponse response;
  if (const auto cluster = c.launch->queue != nullptr ? c.launch->queue->cancel() : std::nullopt;
      cluster.has_value())
    response = {first_cta(*c.launch, *cluster), true};
  const auto words = response.words();
  if (!t.multicast) return respond(c, op.issuer.cta, t, words);
  for (uint32_t rank = 0; rank < c.ctas.size(); ++rank) {
    if (auto e = respond(c, rank, t, words); e.has_value()) return e;
  }
  return std::nullopt;
}

}  // namespace drywell::sim
