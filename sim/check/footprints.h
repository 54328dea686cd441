// The memory that the tensor core's operations access, cached: a main loop issues the same few operations over and over.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/check/operand_strides.h"
#include "sim/engine/footprint.h"

namespace drywell::sim::check {

/// Bytes of shared memory.
struct SharedRun {
  uint32_t cta, begin, bytes;
};
struct TensorCells {
  std::vector<Span> reads, writes;
};

/// Whether two operations access the same memory.
bool same(const Umma& a, const Umma& b);
bool same(const TmemCopy& a, const TmemCopy& b);

/// The latest answers about operations of one kind, by the fields that they depend on.
template <class Op, class Answer>
class Memo {
 public:
  /// make(answer) fills an empty answer. The reference is valid until the next call.
  template <class Make>
  const Answer& of(const Op& op, uint32_t cta, uint64_t hash, Make make) {
    hash = (hash ^ cta) * 0x9E3779B97F4A7C15u;
    std::unique_ptr<Entry>& e = entries_[hash >> (64 - kBits)];
    if (e == nullptr) {
      e = std::make_unique<Entry>();
    } else if (e->cta == cta && same(e->op, op)) {
      return e->answer;
    }
    *e = {op, cta, {}};
    make(e->answer);
    return e->answer;
  }

 private:
  static constexpr unsigned kBits = 9;
  struct Entry {
    Op op;
    uint32_t cta = 0;
    Answer answer;
  };
  std::array<std::unique_ptr<Entry>, size_t{1} << kBits> entries_;
};

class KnownFootprints {
 public:
  /// Tensor memory; the accumulator of a tcgen05.mma counts as written only.
  const TensorCells& cells(const Cluster& c, const AsyncOp& op, const Umma& u);
  const TensorCells& cells(const Cluster& c, const AsyncOp& op, const TmemCopy& p);
  /// Shared memory, which these operations only read.
  const std::vector<SharedRun>& operands(const Cluster& c, const AsyncOp& op, const Umma& u);
  const std::vector<SharedRun>& operands(const Cluster& c, const AsyncOp& op, const TmemCopy& p);

  OperandStrides strides;

 private:
  Memo<Umma, TensorCells> mma_cells_;
  Memo<Umma, std::vector<SharedRun>> mma_operands_;
  Memo<TmemCopy, TensorCells> copy_cells_;
  Memo<TmemCopy, std::vector<SharedRun>> copy_operands_;
};

}  // namespace drywell::sim::check
