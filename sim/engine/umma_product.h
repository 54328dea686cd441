// The product of one tcgen05.mma from its staged operands (umma_operands.h).
#pragma once

#include <vector>

#include "sim/engine/umma_operands.h"

namespace drywell::sim {

class UmmaProduct {
 public:
  UmmaProduct(const Umma& u, const UmmaForm& f, const uint8_t* stage) : u_(u), f_(f), at_(f), stage_(stage) {}

  /// Writes D of the whole tile, [m][n]; `tile` holds C if the instruction reads it.
  void run(std::vector<uint32_t>& tile) const;

  /// True if D's rows are neighbouring lanes of tensor memory and all of them are written.
  bool can_run_in_place() const;
  /// Reads C from tensor memory and writes D to it.
  void run_in_place(const TmemGroup& group) const;

 private:
  // One product of rows of A and rows of B. C is read from `d` and D is written to it: element (m, n) is at
  // m * row_step + n * column_step, and one of the two steps is 1.
  struct Piece {
    uint32_t rows, columns;
    const uint8_t* a;
    const uint8_t* b;
    size_t b_stride;
    const uint8_t* sfa;
    const uint8_t* sfb;
    uint32_t* d;
    size_t row_step, column_step;
  };

  uint32_t row_blocks() const;
  Piece piece(uint32_t first_row, uint32_t rows, uint32_t copy, uint32_t first_column, uint32_t columns, uint32_t cta) const;
  void block(uint32_t g, uint32_t width, uint32_t i, uint32_t* tile) const;
  void sparse(const Piece& all, const uint8_t* meta) const;
  void select_b(const Piece& p, const uint8_t* meta, std::vector<uint8_t>& out) const;
  void multiply(const Piece& p) const;
  void multiply_integers(const Piece& p) const;
  numeric::OperandSource source_a(const Piece& p) const;
  numeric::OperandSource source_b(const Piece& p) const;
  numeric::OperandSource source(numeric::Format format, uint32_t rows, const uint8_t* codes, size_t stride, bool negate,
                                const uint8_t* scales) const;

  const Umma& u_;
  const UmmaForm& f_;
  const UmmaStage at_;
  const uint8_t* stage_;
};

}  // namespace drywell::sim
