// Which thread and register holds which element: fragments of tcgen05.ld/st, ldmatrix, stmatrix, mma.sync and wgmma, from the place
// functions that the executor itself uses (sim/exec/fragment.h, drywell/isa/tmem_layout.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/layout/picture.h"

namespace drywell::sim {

struct FragmentElement {
  uint32_t thread = 0, reg = 0, part = 0;  // part: element within the register, lowest bits first
  uint32_t row = 0, column = 0;
  bool operator==(const FragmentElement&) const = default;
};

/// One operand: a rows x columns matrix, every element of it in some thread's register.
struct FragmentMap {
  std::string title;        // "A of mma.sync.m16n8k16, 16-bit elements"
  std::string row_name = "row", column_name = "column";
  std::string operand;      // "a", "b", "d"; "x" of instructions with one
  uint32_t rows = 0, columns = 0, threads = 32, registers = 0, per_register = 1;
  std::vector<FragmentElement> elements;
};

/// The operands of an instruction written as in PTX, modifiers that do not matter left out: "tcgen05.ld.16x256b.x2",
/// "ldmatrix.x4.trans", "stmatrix.m16n8.x2.trans.b8", "mma.m16n8k16.f32.bf16.bf16.f32" (or one type for all), "wgmma.m64n64k16.f32.bf16".
/// Throws InputError E4306 for anything else.
std::vector<FragmentMap> fragments_of(std::string_view instruction);

/// The matrix; each cell says thread and register, coloured by thread.
layout::Grid matrix_picture(const FragmentMap& f, const layout::PictureOptions& options = {});
/// Threads down, registers across; each cell says which elements, lowest bits first.
layout::Grid register_picture(const FragmentMap& f, const layout::PictureOptions& options = {});

}  // namespace drywell::sim
