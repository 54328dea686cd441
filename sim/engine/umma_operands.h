// The operands of one tcgen05.mma between operand read and result write: codes gathered from shared and tensor memory.
#pragma once

#include "sim/engine/umma_form.h"

namespace drywell::sim {

/// Offset of each operand in AsyncOp::staging.
///   a     [copy][row m][stored k]   codes, UmmaForm::storage
///   b     [column n][k]             likewise; zero-column mask and shift applied
///   sfa   [row m][factor]           one byte each
///   sfb   [CTA][column n][factor]
///   meta  [copy][row m][group]      the 4-bit group of metadata, one byte each
struct UmmaStage {
  explicit UmmaStage(const UmmaForm& f);
  size_t b, sfa, sfb, meta, bytes;  // a starts at 0
};

/// Fills `stage` (UmmaStage::bytes bytes). F3217 for scale factors that differ between lane partitions, F3218 for metadata
/// that PTX does not list.
EngineResult read_operands(const TmemGroup& group, const Umma& u, const UmmaForm& f, uint8_t* stage);

/// Logical k of stored element `i` of a sparse row whose metadata groups are `meta` (docs/facts/tcgen05.md §6.3).
uint32_t selected_k(isa::MmaKind kind, const uint8_t* meta, uint32_t i);

}  // namespace drywell::sim
