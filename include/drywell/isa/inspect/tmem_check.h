// Compares a CuTe layout of tensor memory with the cells that tcgen05 instructions read and write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/layout/composed.h"
#include "drywell/isa/tmem_layout.h"

namespace drywell::isa {

/// Operands that lie in tensor memory.
enum class TmemOperand : uint8_t {
  d,
  a,
  sfa,
  sfb
};
/// "D", "A", "SFA" or "SFB".
std::string_view to_string(TmemOperand o);

/// The instruction that will use the layout. `m` and `n` are those of the instruction, both CTAs counted.
struct TmemUseForm {
  TmemOperand operand = TmemOperand::d;  // which of them
  MmaForm form;                          // kind, CTAs and sparsity
  unsigned m = 128, n = 128;             // of the instruction
  MmaElement element = MmaElement::f16;  // of A in tensor memory
  bool k96 = false;                      // K = 96 of sm_103
  /// Scale factors of a row; 0 if the kind has none.
  unsigned factors() const { return static_cast<unsigned>(form.scale) * (k96 ? 3 : 2) / 2; }
};

/// An address as CuTe counts it: lane, column, and the bit inside the 32-bit cell.
struct TmemPlace {
  int64_t lane = 0, column = 0;  // of the cell
  unsigned bit = 0;              // in the cell
  bool operator==(const TmemPlace&) const = default;
};
/// "lane 3 column 8 bit 16".
std::string to_string(const TmemPlace& p);

/// The result of a comparison.
struct TmemCheck {
  bool ok = false;               // no cell differs
  std::string detail;            // the form that was compared, or the first cell that differs
  std::vector<TmemPlace> bases;  // start of each MMA's part of the layout, modes 1… in order
};

/// Compares the layout's mode 0 with the cells that one instruction touches in one CTA, for every coordinate of the other modes.
/// Offsets count elements: 32-bit cells for d (for every type, as in CUTLASS), bytes for scale factors, elements for a.
/// D's mode 0 is (rows, columns); A's (rows, K); scale factors' ((rows, 4 copies), (vector, factors)).
/// Throws InputError E1804 for a layout of another form.
TmemCheck check_tmem_layout(const layout::ComposedLayout& l, const TmemUseForm& use);

/// The same check for one warp's tcgen05.ld or tcgen05.st: mode 0 is (registers, 32 threads) or ((registers,
/// threads), …).
TmemCheck check_tmem_access(const layout::ComposedLayout& l, const TmemAccess& access);

}  // namespace drywell::isa
