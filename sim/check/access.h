// Accesses, the unit that findings are about: which thread accessed memory, and when the access is known to be complete.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "drywell/core/types.h"
#include "sim/check/clock.h"
#include "sim/check/strong_writes.h"

namespace drywell::sim::check {

/// alloc: tcgen05.alloc's write of its result; map: a copy's read of its tensor map; arrival: on a peer's mbarrier; expect: of bytes on an mbarrier;
/// shuffle: of a lane that does not take part; hole, unset, blank, vacant: of local memory, shared memory, a register, tensor memory that nothing has
/// written; contested: lanes of one store wrote different values there.
enum class Agent : uint8_t {
  thread,
  atomic,
  cp_async,
  load,
  store,
  remote,
  mma,
  copy,
  shift,
  tmem_ld,
  tmem_st,
  wgmma,
  mbarrier,
  alloc,
  dealloc,
  map,
  arrival,
  expect,
  ended,
  shuffle,
  hole,
  unset,
  blank,
  vacant,
  contested
};

/// Bulk and tensor copies, tensor core operands: memory through the async proxy (docs/facts/tma-mbarrier.md §3.1).
constexpr bool is_async_proxy(Agent a) { return a == Agent::load || a == Agent::store || a == Agent::mma || a == Agent::copy || a == Agent::wgmma; }
/// Ordinary accesses, which are complete when the instruction is.
constexpr bool is_plain(Agent a) { return a == Agent::thread || a == Agent::atomic || a == Agent::mbarrier || a == Agent::alloc; }
/// Operations of the tensor core, which keep their thread's order.
constexpr bool is_tensor_core(Agent a) { return a == Agent::mma || a == Agent::copy || a == Agent::shift; }

/// Access::form of tcgen05.cp.4x256b, which follows a shift.
inline constexpr uint32_t kCopy4x256b = 1;

struct Access {
  Agent agent = Agent::thread;
  bool write = false;
  bool reduction = false;
  bool modifies = false;                    // an atomic of a thread
  bool reads = false;                       // and what it leaves depends on what it found
  bool in_cta = false, in_cluster = false;  // a strong access whose scope does not reach beyond its CTA, its cluster
  uint32_t strong_number = 0;               // a strong write: its number among those of its place, or of each of them (strong_writes.h); 0: not known
  StrongWrites behind{};                    // an ordinary access: the strong writes of each of its places that its warp has read
  bool incoherent = false;                  // a load of memory that no thread of the kernel writes
  bool guesses = false;                     // a load whose value an atomic of the thread checks (guesses.h)
  bool unchanging = false;                  // a store of the values that the memory has
  uint32_t repeated = 0;                    // such a store to global memory: its number among the RepeatedStores; 0: not kept
  uint64_t stored = 0;                      // digest of the places and values of a store; 0: not known
  uint64_t value = 0;                       // digest of the value that each lane of a store stores; 0: of others, or values differ
  uint32_t places = 0;                      // of an ordinary access: its number among its warp's RecentPlaces; 0: not kept
  uint64_t from = 0, to = 0;                // of a lane that accesses shared memory alone: bounds of its places, as in LanePlaces; equal: not kept
  bool spare = false;                       // mbarrier.init: nothing has used the object since
  bool lone = false;                        // an asynchronous operation issued by one lane of its warp only
  bool scales = false;                      // reads scale factors
  uint8_t copies = 0;                       // tcgen05.cp: places in tensor memory each row goes to; reader of scale factors: how many copies it reads
  uint32_t form = 0;                        // tensor core: the properties that PTX's pipelines distinguish (PTX ISA 9.7.16.6.2)
  uint8_t swizzles = 0;                     // bit per isa::Swizzle: written with (tensor copy), read with (tensor core); 0: neither
  uint8_t elements = 0;                     // bit per kind of element (element_types.h): brought as (tensor copy), read as (tensor core); 0: any
  uint16_t cta = 0, warp = 0;               // issuer: rank and warp
  LaneMask lanes = 0;
  uint32_t pc = 0;
  Component done = 0;  // complete for every clock that has reached done_at
  uint32_t done_at = kInFlight;
  Component used = 0;    // tcgen05.ld: a clock with done_at of this component has its registers used; 0: does not apply
  Component issuer = 0;  // the warp's component and its time at issue
  uint32_t issued_at = 0;
  uint32_t cross_cluster = 0;  // the warp's clock of other clusters: number of a CrossClusterKnowledge
  uint64_t cluster = 0;        // serial of the checker
  uint64_t when = 0;
  Dim3 index{0, 0, 0};  // %ctaid
};

/// Every lane of both stores the same value: where they overlap, either may come first (marks of a search, flags).
inline bool store_one_value(const Access& a, const Access& b) { return a.write && b.write && a.value != 0 && a.value == b.value; }

using AccessId = uint32_t;  // 0: none

/// A table that grows without moving its elements.
class AccessTable {
 public:
  AccessTable() { clear(); }
  AccessId add(const Access& a) {
    if (size_ % kBlock == 0) blocks_.push_back(std::make_unique<Access[]>(kBlock));
    at(size_) = a;
    return size_++;
  }
  const Access& operator[](AccessId id) const { return blocks_[id / kBlock][id % kBlock]; }
  Access& at(AccessId id) { return blocks_[id / kBlock][id % kBlock]; }
  size_t size() const { return size_; }
  void clear() {
    blocks_.clear();
    size_ = 0;
    add({});
  }

 private:
  static constexpr uint32_t kBlock = 256;
  std::vector<std::unique_ptr<Access[]>> blocks_;
  AccessId size_ = 0;
};

}  // namespace drywell::sim::check
