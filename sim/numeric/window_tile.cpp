#include "sim/numeric/window_tile.h"

#include <algorithm>
#include <array>

#include "sim/numeric/highway/exact_rounding.h"
#include "sim/numeric/highway/window_sums.h"

namespace drywell::numeric {
namespace {

/// Every product is a term of one sum, and D is truncated.
bool fits(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out) {
  return has_window_sums() && p.group == 1 && p.output != MmaOutput::f16_rn && !p.legacy_fp8 && p.window <= 25 && out.input_d_shift == 0 &&
         (p.sum_terms == 0 || static_cast<unsigned>(p.sum_terms) >= a.k) && WindowOperand::fits(a) && WindowOperand::fits(b);
}

}  // namespace

bool multiply_with_doubles(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
  if (!fits(p, a, b, out)) return false;
  WindowOperand rows, columns;
  if (!rows.assign(PanelSide::rows, a) || !columns.assign(PanelSide::columns, b)) return false;
  static constexpr std::array<uint32_t, WindowOperand::kMostRows> kNoC{};
  const bool no_c = out.c == nullptr;
  const WindowProduct product{&rows, &columns, p.window, p.output == MmaOutput::f32_rz14, no_c ? kNoC.data() : out.c, out.d, no_c ? 0 : out.c_stride, out.d_stride};
  left.assign(a.rows, 0);
  ExactRounding rounding;
  rounding.reset(KernelRounding::down);
  for (unsigned m = 0; m < a.rows; m += kWindowRows) window_sums(product, m, std::min(kWindowRows, a.rows - m), left.data() + m);
  return true;
}

}  // namespace drywell::numeric
