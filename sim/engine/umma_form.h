// Form of a tcgen05.mma from its descriptors: operands, shapes, layouts and places (docs/facts/tcgen05.md §4-§6).
#pragma once

#include <vector>

#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tmem_layout.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/engine/tmem_group.h"

namespace drywell::sim {

isa::MmaKind mma_kind_of(isa::Mod kind);

struct UmmaForm {
  isa::InstrDescriptor idesc;
  isa::MmaForm form;
  isa::DLayout layout = isa::DLayout::D;
  isa::ZeroColumnMask mask;
  isa::OperandTile a, b;  // each CTA's part in shared memory; b includes the columns that a column shift reads
  uint32_t ctas = 1, m = 0, n = 0;
  uint32_t stored_k = 0, k = 0;  // of A and of B: they differ if A is sparse
  uint32_t factors = 0;          // scale factors per row: 1, 2, 4, with K = 96 3 or 6; 0 = not block scaled
  uint32_t groups = 0;           // sparse: 4-bit groups of metadata per row
  uint32_t column_groups =
      1;  // lane groups over which D distributes N: each has its own copies of A in TMEM and of the metadata
  uint32_t a_copies = 1, meta_copies = 1;
  uint32_t m_per_cta = 0;
  numeric::CodeStorage storage = numeric::CodeStorage::halves;  // of the codes in AsyncOp::staging
  uint32_t a_row_bytes = 0, b_row_bytes = 0;
  const numeric::MmaRow* arithmetic = nullptr;  // null: integers

  bool integer() const { return idesc.kind == isa::MmaKind::i8; }
  numeric::Format a_format() const;
  numeric::Format b_format() const;
  bool halves_d() const { return idesc.accumulator() == isa::MmaAccumulator::f16; }
};

/// The first scale factor in each word of a row that `factors` of them from byte `id` on lie in: one word, or two with K = 96.
std::vector<uint32_t> factor_words(uint32_t id, uint32_t factors);
/// Decodes and checks the instruction and its descriptors, without the machine's state.
EngineResult decode_form(const Umma& u, UmmaForm& f);
/// Checks addresses: allocated columns, allowed lanes, operands within shared memory.
EngineResult check_places(const TmemGroup& group, const Umma& u, const UmmaForm& f);

}  // namespace drywell::sim
