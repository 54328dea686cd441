// Follows values that came from no lane, or that nothing has written (absent_values.h), through the registers of a warp.
#pragma once

#include <optional>
#include <vector>

#include "sim/check/cluster_parts.h"
#include "sim/check/replay.h"

namespace drywell::sim::check {

class AbsentFlow {
 public:
  explicit AbsentFlow(ClusterParts& parts) : parts_(parts) {}

  /// `mask`, which is not empty, has executed `op`.
  void step(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  /// The operands and results of an instruction, at their places in the frame.
  struct Operands {
    std::span<const uint32_t> reads, writes;  // registers
    std::span<const uint16_t> predicate_reads, predicate_writes;
  };
  /// What the executing lanes have in one result: where it depends on a marked operand.
  struct Depends {
    std::vector<LaneMask> registers, predicates;
    std::vector<uint64_t> bits;  // of a register, in some lane
  };
  Operands operands_of(const DecodedOp& op) const;
  static bool is_written(const Operands& o, uint32_t r);
  uint32_t lane_bytes(const DecodedOp& op, uint32_t offset);
  AbsentMarks marks_read(const Warp& w, const Operands& o) const;

  void shuffle(const Warp& w, const DecodedOp& op, LaneMask mask);
  void reduce(const Warp& w, const DecodedOp& op, LaneMask mask);
  void call(const Warp& w, const DecodedOp& op, LaneMask mask);
  void load(const Warp& w, const DecodedOp& op, LaneMask mask);
  void clear_results(const Warp& w, const Operands& o, LaneMask mask);
  /// Whether what the instruction makes of values that nothing has written is followed, too.
  bool follows(const Warp& w, const DecodedOp& op, const AbsentMarks& read) const;
  void compute(const Warp& w, const DecodedOp& op, LaneMask mask, const Operands& o, const AbsentMarks& read);
  /// Which lanes of each result differ if the marked operands do.
  Depends probe(const Warp& w, const DecodedOp& op, LaneMask mask, const Operands& o);
  bool run_probe(const Warp& w, const DecodedOp& op, LaneMask mask, const Operands& o, size_t probe);
  /// Lanes in which an operand without a wrong value equals the result.
  LaneMask equal_to_operand(const Warp& w, const DecodedOp& op, uint32_t result, const Operands& o);

  ClusterParts& parts_;
  Replay replay_;
  std::vector<std::vector<uint8_t>> lane_bytes_;  // by function and register slot; made when it is needed
};

}  // namespace drywell::sim::check
