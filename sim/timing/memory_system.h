// L2 and device memory, shared by all SMs. SMs run apart from each other for a window shorter than the L2's
// latency; then their requests come here, in the order of their cycles, and each gets the cycle of its
// answer. So queueing is exact whatever the number of host threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "drywell/sim/access.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/run.h"
#include "sim/state/gmem.h"
#include "sim/state/state_vector.h"
#include "sim/timing/l2_contents.h"
#include "sim/timing/l2_distance.h"
#include "sim/timing/l2_places.h"
#include "sim/timing/recent_requests.h"
#include "sim/timing/server.h"

namespace drywell::sim {

enum class MemoryKind : uint8_t {
  load,
  tma_load,
  store,
  atomic,
  float_atomic
};

struct MemoryRequest {
  double time = 0;  // when the request leaves the SM
  MemoryKind kind = MemoryKind::load;
  uint32_t token = 0;             // the SM's identifier of the request
  uint32_t first = 0, count = 0;  // the request's runs, in the group's list
  float more = 0;                 // bytes whose time it takes at the L2, beside those of the runs
  Time done = 0;                  // answer: when the last byte is back at the SM
};

class MemorySystem {
 public:
  MemorySystem(const ArchConfig& arch, const Gmem& gmem, uint32_t sms, StateMemory* memory = nullptr);

  /// Puts into the L2 what is there when the launch starts; `before` may be nullptr.
  void start(Caches caches, const Gmem& gmem, const L2Contents* before);
  /// Writes down what the launch leaves in the L2.
  void leave(L2Contents& after) const;

  /// Answers one request of an SM, which is of `gpc`; call in the order of their times.
  void serve(MemoryRequest& r, const ByteRange* runs, uint32_t gpc = 0, uint32_t sm = 0);
  /// No request is answered sooner, in cycles.
  double soonest() const;

  /// Prefetches, on the host, the entries that serve() will read.
  void prefetch(const MemoryRequest& r, const ByteRange* runs) const;

  double l2_busy() const { return std::max({l2_reads_.busy(), l2_writes_.busy(), l2_both_.busy()}); }
  double hbm_busy() const { return hbm_.busy(); }
  uint64_t l2_bytes() const { return l2_bytes_; }
  uint64_t hbm_read() const { return hbm_read_; }
  uint64_t hbm_written() const { return hbm_written_; }
  /// Stores run ahead of the L2 and of its write-backs by as much as the queues hold; then they wait.
  Time stores_wait_until() const;
  /// Cycle when all bytes in flight have reached memory, and the SMs know that their stores have.
  double drained() const { return std::max({hbm_.free_at(), l2_reads_.free_at(), l2_writes_.free_at(), units_end_, stores_end_}); }
  double l2_bytes_per_clk(MemoryKind k) const { return 1 / l2_cycles_per_byte(k); }

 private:
  /// Consecutive bytes of one channel of device memory.
  struct Piece {
    uint64_t index = 0;  // address / hbm.interleave
    uint64_t bytes = 0;
  };
  double hbm_cycles_per_byte(MemoryKind k) const;
  double transfer(MemoryKind k, const std::vector<Piece>& pieces, double from);
  double latency_of(uint64_t hash) const;
  double at_units(const MemoryRequest& q, const ByteRange& r, double from);
  double lone_sector(const ByteRange& r, double from);
  double parts_at_units(const ByteRange& r, uint64_t before, double from);
  size_t unit_of(uint64_t address) const;
  double fill(uint64_t bytes, double from);
  double slice_wait(double start, double time);
  static double answer(uint64_t bytes);
  void add_piece(std::vector<Piece>& to, uint64_t line, uint32_t sectors) const;
  double mixed() const { return 4 * write_share_ * (1 - write_share_); }
  double l2_cycles_per_byte(MemoryKind k) const;
  struct Lookup {
    uint64_t bytes = 0;
    double billed = 0, shared = 0;   // bytes whose time the request takes; those of lines that are on their way to the GPC
    uint64_t line = ~uint64_t{0};    // the last one
    uint32_t sectors = 0;            // of it
    Time arriving = 0;               // latest arrival of sectors that another request already loads
    std::optional<double> distance;  // of the farthest line: cycles over the mean
  };
  struct Asker {
    uint32_t gpc, half;
  };
  double bill_sectors(uint64_t line, uint32_t sectors, Lookup& out) const;
  void look_up(const ByteRange& r, MemoryKind kind, const Asker& who, Time now, Lookup& out);
  void make_room(uint32_t half, uint32_t index);
  uint32_t& at_home(uint32_t index);
  uint8_t& copy_of(uint32_t index);
  uint8_t without_place(uint32_t index) const;
  double reach(uint32_t index, uint32_t want, MemoryKind kind, uint32_t half);
  double ends_copy(uint32_t index, uint32_t want) const;
  double through_copy(uint32_t index, uint32_t want);
  void insert(uint64_t address, uint64_t bytes, uint32_t written);
  void insert_copy(uint64_t address, uint32_t sectors);
  void insert_newest(const Gmem& gmem);
  void move_epoch(Time now);
  /// The cycle in a line's entry, and the entry's part for a cycle.
  Time cycle_of(uint32_t line) const { return (epoch_ + (line >> kArrivalShift)) * kArrivalUnit; }
  uint32_t stamp(Time cycle) const { return static_cast<uint32_t>(std::min<Time>(cycle / kArrivalUnit - epoch_, kLastStamp)) << kArrivalShift; }

  // Per 128-byte line: bits 0..3 sectors present, 4..7 sectors written, 8..31 cycle / 64 of its arrival,
  // counted from epoch_, which follows the clock.
  static constexpr uint8_t kPlaced = 1u << 4, kStored = 1u << 5;  // of copies_: it has a place; a store made it, and no load has used it
  static constexpr uint32_t kArrivalShift = 8, kArrivalUnit = 64, kLastStamp = (1u << 24) - 1;
  const ArchConfig& arch_;
  uint64_t sms_;
  uint64_t base_ = 0;
  Time epoch_ = 0;  // cycle / 64
  L2Distance distance_;
  StateVector<uint32_t> lines_;
  StateVector<uint8_t> copies_;  // per line, of the half where it is not at home: bits 0..3 sectors, 4 it has a place there
  std::vector<L2Places> halves_;
  std::vector<Piece> missing_, displaced_;  // of the request being served; displaced: written lines that were evicted
  Server l2_reads_, l2_writes_, l2_both_;   // both: the interference between the directions
  struct Unit {
    Server queue;
    uint64_t last = 0;  // the sector of its last operation
  };
  std::vector<Unit> units_;  // of the L2, for atomic operations and stores of parts of sectors
  double units_end_ = 0, stores_end_ = 0;
  RecentRequests recent_;
  Time in_flight_ = 0;  // of a request that is served now, with those before it in the queue
  std::vector<Server> channels_;
  Server hbm_;  // the channels together: how far writes may run ahead, and the report
  uint64_t l2_bytes_ = 0, hbm_read_ = 0, hbm_written_ = 0;
  double hbm_latency_, hbm_tail_;              // cycles
  double write_share_ = 0;                     // of device memory's recent traffic
  double read_share_ = 0, read_share_at_ = 0;  // of the L2's read rate, recently
  uint64_t reads_ = 0;
  double foreign_dirty_ = 0;  // bytes of other kernels' written lines displaced so far, less those written
  uint64_t foreign_lines_ = 0;
};

}  // namespace drywell::sim
