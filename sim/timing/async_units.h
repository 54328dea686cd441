// Asynchronous operations of a group's clusters in time: when they read operands, write results and signal. Each of these moments
// is an event; at its cycle the engine (sim/engine) executes it.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "drywell/sim/run.h"
#include "sim/state/cta.h"
#include "sim/timing/event_queue.h"
#include "sim/timing/memory_port.h"
#include "sim/timing/tensor_units.h"
#include "sim/timing/tma_transfer.h"

namespace drywell::sim {

class AsyncUnits {
 public:
  /// `values`: the tensor core's products are computed.
  AsyncUnits(const ArchConfig& arch, bool values, std::vector<SmUnits>& sms, EventQueue& events, MemoryPort& memory)
      : arch_(arch), values_(values), sms_(sms), events_(events), memory_(memory), tensor_(arch, sms) {}

  /// A cluster becomes resident; `resident` identifies it in the calls below.
  void begin(uint32_t resident, Cluster& cluster);

  /// Starts an operation of the cluster's list that was issued at `t`.
  void dispatch(uint32_t resident, const AsyncOp& op, Time t);
  /// The copy engine starts the operation. Returns true for a load, whose first moment happens now.
  bool start_copy(uint32_t resident, uint64_t id, Time t);
  /// Memory has answered the operation's request.
  void data(const OutstandingRequest& request, Time t);

  /// Executes the operation's next moment, or all that are left. Returns the operation's fault, if any.
  std::optional<Fault> moment(uint32_t resident, uint64_t id, Time t, bool to_end);

 private:
  struct Track {
    uint64_t id;
    Time done;
  };
  /// The wgmma operations of each of the group's warps that have not entered the pipe.
  using Warpgroup = std::array<std::deque<uint64_t>, 4>;
  struct Resident {
    Cluster* cluster = nullptr;
    std::vector<Track> tracks;                 // operations whose completion cycle is known
    std::map<uint32_t, Warpgroup> warpgroups;  // by CTA rank * 64 + warpgroup
  };

  struct Dispatch;

  Time done_of(const Resident& r, uint64_t id) const;
  Time after(const Resident& r, const AsyncOp& op) const;
  Time after_but_mmas(const Resident& r, const AsyncOp& op) const;
  Time remote_leg() const;
  void expect(uint32_t resident, uint64_t id, const Service& s, bool at_once);
  void dispatch_wgmma(uint32_t resident, const AsyncOp& op, const Wgmma& m, Time t);
  void queue_copy(uint32_t resident, const AsyncOp& op, Time t);
  void begin_copy(uint32_t resident, const AsyncOp& op, Time t);
  void request(uint32_t resident, const AsyncOp& op, MemoryKind kind, const TmaTransfer& transfer, Time t);
  bool without_product(Cluster& c, size_t index, bool& completed);
  void completed(uint32_t resident, uint64_t id, uint32_t cta, bool tma, Time t);
  uint32_t sm_of(const AsyncOp& op) const { return op.issuer.cta % static_cast<uint32_t>(sms_.size()); }
  TmaEngine& tma_of(const AsyncOp& op) { return sms_[sm_of(op)].tma; }

  const ArchConfig& arch_;
  bool values_;
  std::vector<SmUnits>& sms_;
  EventQueue& events_;
  MemoryPort& memory_;
  TensorUnits tensor_;
  std::vector<Resident> residents_;
};

}  // namespace drywell::sim
