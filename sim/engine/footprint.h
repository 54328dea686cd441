// What an asynchronous operation reads and writes, as data: bytes of shared and global memory, cells of tensor memory. Made with
// the address functions the engines themselves use; tests/kernel/footprint_test.cpp holds the two together.
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

/// What one operation touches. A tensor copy is planned once, for both directions.
class Footprint {
 public:
  Footprint(const Cluster& c, const AsyncOp& op);
  ~Footprint();
  Footprint(const Footprint&) = delete;
  Footprint& operator=(const Footprint&) = delete;
  /// As for_each_read and for_each_write.
  void reads(const SpanVisitor& visit, Memories asked = kAllMemories) const;
  void writes(const SpanVisitor& visit) const;
  /// Of a tensor copy that is in order, otherwise nullptr.
  const TensorPlan* plan() const { return plan_.get(); }

 private:
  const Cluster& c_;
  const AsyncOp& op_;
  std::unique_ptr<TensorPlan> plan_;
};

/// Everything the operation reads between its issue and its end. Spans may touch or overlap. Nothing for operations that are
/// wrong (the engine faults when it gets to them). `asked`: the tensor core's spans in other memories are left out, unmade.
void for_each_read(const Cluster& c, const AsyncOp& op, const SpanVisitor& visit, Memories asked = kAllMemories);
/// Everything it writes, signals on mbarriers not counted.
void for_each_write(const Cluster& c, const AsyncOp& op, const SpanVisitor& visit);

/// It combines with what is there instead of overwriting: two such operations do not race with each other.
bool is_reduction(const AsyncOp& op);

}  // namespace drywell::sim
