#include "drywell/sim/inspect/smem_expect.h"

#include <algorithm>

namespace drywell::sim {
namespace {

using isa::CellElements;

constexpr int64_t kMostElements = int64_t{1} << 20;  // of four bits: more than the largest window has

/// (rows, elements of a row): the layout itself, or its mode 0.
layout::Layout matrix_of(const layout::Layout& l) {
  const layout::Layout m = l.rank() == 2 || l.rank() == 0 || !l.shape().is_tuple() ? l : l.mode(0);
  if (m.rank() != 2 || !m.shape().is_tuple()) layout::fail(Code::E1804, "the layout's modes are (rows, elements of a row)");
  if (layout::size(m).value > kMostElements) layout::fail(Code::E1808, "more elements than shared memory has");
  return m;
}

/// Places of elements, in bits of the window.
class Places {
 public:
  Places(const layout::ComposedLayout& l, const SmemForm& form)
      : bits_(l.element_bits().value_or(form.blocks.empty() ? 8 : form.blocks.front().bits)), start_(int64_t{form.start} * 8) {
    if (const auto* flag = std::get_if<layout::SmemFlag>(&l.origin())) start_ += flag->offset * bits_;
    if (!l.swizzle().has_value()) return;
    const bool of_bytes = std::holds_alternative<layout::SmemFlag>(l.origin()) || std::holds_alternative<layout::Pointer>(l.origin());
    swizzle_ = of_bytes ? *l.swizzle() : layout::recast_layout(*l.swizzle(), bits_, 8);
  }
  int64_t bits() const { return bits_; }
  /// Of the element with this index before the swizzle.
  int64_t operator()(int64_t index) const {
    const int64_t at = start_ + index * bits_;
    return swizzle_(at / 8) * 8 + at % 8;
  }

 private:
  int64_t bits_, start_;
  layout::Swizzle swizzle_;
};

}  // namespace

std::vector<isa::TmemCells> differing_cells(const layout::ComposedLayout& l, const SmemForm& form) {
  const layout::Layout matrix = matrix_of(l.layout());
  const Places place(l, form);
  CellElements expected, actual;
  for (const isa::TmemBlock& b : form.blocks) isa::add_elements(b, actual);
  const int64_t rows = layout::size(matrix.mode(0)).value, columns = layout::size(matrix.mode(1)).value;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto bit = static_cast<uint64_t>(place(matrix(layout::IntTuple::of({r, c})).leaf().value));
      if (bit % 32 + static_cast<uint64_t>(place.bits()) > 32) continue;  // in two words: a form has only whole ones
      const auto line = static_cast<uint32_t>(bit / 8 / kSmemLineBytes), bank = static_cast<uint32_t>(bit / 32 % kSmemBanks);
      expected[{line, bank}].insert({static_cast<uint32_t>(r), static_cast<uint32_t>(c), static_cast<uint32_t>(bit % 32)});
    }
  }
  return isa::differing_cells(expected, actual);
}

}  // namespace drywell::sim
