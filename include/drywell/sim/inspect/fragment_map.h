// The thread and register of each element in the fragments of tcgen05.ld/st, ldmatrix, stmatrix, mma.sync and wgmma, from the
// place functions of the executor itself (sim/exec/fragment.h, drywell/isa/tmem_layout.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/layout/picture.h"

namespace drywell::sim {

/// One element of an operand, and what holds it.
struct FragmentElement {
  uint32_t thread = 0, reg = 0, part = 0;  // part: element within the register, lowest bits first
  uint32_t row = 0, column = 0;            // in the matrix
  bool operator==(const FragmentElement&) const = default;
};

/// One operand: a matrix of rows x columns; each element is in a thread's register.
struct FragmentMap {
  std::string title;                                                              // "A of mma.sync.m16n8k16, 16-bit elements"
  std::string row_name = "row", column_name = "column";                           // of the matrix
  std::string operand;                                                            // "a", "b", "d"; "x" for instructions with one operand
  std::string thread_name = "thread", register_name = "register";                 // of what holds an element; their first letters stand in cells
  uint32_t rows = 0, columns = 0, threads = 32, registers = 0, per_register = 1;  // extents of the matrix; of what holds it; elements of a register
  std::vector<FragmentElement> elements;                                          // in the order of threads, registers and parts
};

/// The operands of an instruction in PTX spelling, without modifiers that do not affect the fragment: "tcgen05.ld.16x256b.x2",
/// "ldmatrix.x4.trans", "stmatrix.m16n8.x2.trans.b8", "mma.m16n8k16.f32.bf16.bf16.f32" (or one type for all), "wgmma.m64n64k16.f32.bf16".
/// Of tcgen05.cp each lane and column of tensor memory with the row and word of shared memory that it gets; of tcgen05.mma ("tcgen05.mma.m128n64",
/// with .ws, .sp, .cta_group::2) each lane and column with the element of D. Throws InputError E4306 for other instructions.
std::vector<FragmentMap> fragments_of(std::string_view instruction);

/// The matrix; each cell has the thread and register, coloured by thread.
layout::Grid matrix_picture(const FragmentMap& f, const layout::PictureOptions& options = {});
/// Rows are threads, columns are registers; each cell has the elements, lowest bits first.
layout::Grid register_picture(const FragmentMap& f, const layout::PictureOptions& options = {});

}  // namespace drywell::sim
