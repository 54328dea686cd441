// The bytes of shared and global memory and the cells of tensor memory that an asynchronous operation reads and writes, from
// the engines' own address functions; tests/kernel/footprint_test.cpp compares footprints with the engines' accesses.
#pragma once

#include <functional>
#include <memory>

#include "drywell/sim/span.h"
#include "sim/state/async_op.h"
#include "sim/state/cta.h"

namespace drywell::sim {

using SpanVisitor = std::function<void(const Span&)>;

/// A set of memories.
using Memories = uint8_t;
constexpr Memories only(Memory m) { return static_cast<Memories>(1u << static_cast<unsigned>(m)); }
inline constexpr Memories kAllMemories = 7;

struct TensorPlan;

/// The spans that one operation reads and writes. The plan of a tensor copy is made once for both.
class Footprint {
 public:
  Footprint(const Cluster& c, const AsyncOp& op);
  ~Footprint();
  Footprint(const Footprint&) = delete;
  Footprint& operator=(const Footprint&) = delete;
  /// As for_each_read and for_each_write.
  void reads(const SpanVisitor& visit, Memories asked = kAllMemories) const;
  void writes(const SpanVisitor& visit) const;
  /// The plan of a valid tensor copy, otherwise nullptr.
  const TensorPlan* plan() const { return plan_.get(); }

 private:
  const Cluster& c_;
  const AsyncOp& op_;
  std::unique_ptr<TensorPlan> plan_;
};

/// Visits everything that the operation reads between issue and completion. Spans may touch or overlap. Visits nothing for an
/// operation that is wrong (its engine will fault). `asked`: the tensor core's spans in other memories are not computed.
void for_each_read(const Cluster& c, const AsyncOp& op, const SpanVisitor& visit, Memories asked = kAllMemories);
/// Visits everything that the operation writes, without its signals on mbarriers.
void for_each_write(const Cluster& c, const AsyncOp& op, const SpanVisitor& visit);

/// True if the operation combines its data with the old content of memory: two such operations do not race with each other.
bool is_reduction(const AsyncOp& op);

}  // namespace drywell::sim
