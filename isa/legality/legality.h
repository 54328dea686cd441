// Rules across slots and operands of a row, one function per family; the rows name these functions.
#pragma once

#include <initializer_list>

#include "drywell/isa/instruction.h"
#include "drywell/isa/validate.h"

namespace drywell::isa::legality {

/// .b8 to .b128.
inline bool untyped(Mod type) { return type >= Mod::b8 && type <= Mod::b128; }
/// Whether a modifier is one of a list.
template <class... M>
bool one_of(Mod m, M... list) {
  return ((m == list) || ...);
}
/// Whether an instruction of a type takes a register of one, widths apart: as ptxas 13.0 (PTX ISA 9.4 says less).
bool kinds_agree(Mod type, Mod of_register);

void add_int(const InstructionRef&, LegalityReport&);
void mad_int(const InstructionRef&, LegalityReport&);
void minmax_int(const InstructionRef&, LegalityReport&);
void minmax_f32(const InstructionRef&, LegalityReport&);
void half_arith(const InstructionRef&, LegalityReport&);
void half_approx(const InstructionRef&, LegalityReport&);
void setp_half(const InstructionRef&, LegalityReport&);
void slct(const InstructionRef&, LegalityReport&);
void setp(const InstructionRef&, LegalityReport&);
void cvt_int_int(const InstructionRef&, LegalityReport&);
void cvt_f32_half(const InstructionRef&, LegalityReport&);
void cvt_float_int(const InstructionRef&, LegalityReport&);
void cvt_int_float(const InstructionRef&, LegalityReport&);
void cvt_f64_float(const InstructionRef&, LegalityReport&);
void cvt_ftz(const InstructionRef&, LegalityReport&);
void cvt_half(const InstructionRef&, LegalityReport&);
void cvt_half2(const InstructionRef&, LegalityReport&);
void cvt_tf32(const InstructionRef&, LegalityReport&);
void cvt_x4(const InstructionRef&, LegalityReport&);
void mov(const InstructionRef&, LegalityReport&);
void ld_st(const InstructionRef&, LegalityReport&);
void ldmatrix(const InstructionRef&, LegalityReport&);
void stmatrix(const InstructionRef&, LegalityReport&);
void prefetch(const InstructionRef&, LegalityReport&);
void cache_line(const InstructionRef&, LegalityReport&);
void scalar_video(const InstructionRef&, LegalityReport&);
void vector_video(const InstructionRef&, LegalityReport&);
void vmad(const InstructionRef&, LegalityReport&);
void atomic(const InstructionRef&, LegalityReport&);
void cp_async(const InstructionRef&, LegalityReport&);
void mma_sp(const InstructionRef&, LegalityReport&);
void wmma(const InstructionRef&, LegalityReport&);
void wgmma(const InstructionRef&, LegalityReport&);
void wgmma_wait(const InstructionRef&, LegalityReport&);
void mma_sync(const InstructionRef&, LegalityReport&);
void mma_kind(const InstructionRef&, LegalityReport&);
void elect(const InstructionRef&, LegalityReport&);
void stack_alignment(const InstructionRef&, LegalityReport&);
void named_barrier(const InstructionRef&, LegalityReport&);
void mbarrier(const InstructionRef&, LegalityReport&);
void mbarrier_wait(const InstructionRef&, LegalityReport&);
void sync_restrict(const InstructionRef&, LegalityReport&);
void tensormap_replace(const InstructionRef&, LegalityReport&);
void tensormap_size(const InstructionRef&, LegalityReport&);
void st_async(const InstructionRef&, LegalityReport&);
void red_async(const InstructionRef&, LegalityReport&);
void try_cancel(const InstructionRef&, LegalityReport&);
void setmaxnreg(const InstructionRef&, LegalityReport&);
void tensor_copy(const InstructionRef&, LegalityReport&);
void bulk_copy(const InstructionRef&, LegalityReport&);
void bulk_reduce(const InstructionRef&, LegalityReport&);
void st_bulk(const InstructionRef&, LegalityReport&);
/// The operands called `names` are 32 bits wide where they are register addresses.
void tmem_address_width(const InstructionRef&, LegalityReport&, std::initializer_list<const char*> names);
void tcgen05_alloc(const InstructionRef&, LegalityReport&);
void tcgen05_mma(const InstructionRef&, LegalityReport&);
void tcgen05_cp(const InstructionRef&, LegalityReport&);
void tcgen05_ld_st(const InstructionRef&, LegalityReport&);

/// A vector operand of `count` registers of `bits` each; `is_float`: .f32 or .f64 registers are in order.
void check_registers(const InstructionRef&, LegalityReport&, const char* operand, unsigned count, unsigned bits, bool is_float);

}  // namespace drywell::isa::legality
