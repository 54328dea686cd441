// Where an operand of tcgen05.mma lies in tensor memory, as blocks: lanes and columns in which rows follow
// lanes. Functions may be called at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "drywell/isa/inspect/scale_picture.h"
#include "drywell/isa/inspect/tmem_check.h"

namespace drywell::isa {

/// A block of one CTA's tensor memory, relative to the operand's address; at most the 32 lanes of a warp.
/// Element e of column c and lane l: row `row + l`, index `index + c * per_column + e`, bits from `low + e *
/// stride` on, `bits` of them.
struct TmemBlock {
  uint8_t cta = 0;                                          // 0: the even CTA of a pair, or a single one; 1: the odd
  uint16_t lane = 0, lanes = 0, column = 0, columns = 0;    // of the block
  uint32_t row = 0;                                         // m of D, A and SFA, n of SFB
  uint32_t index = 0;                                       // n of D, k of A, number of the factor of SFA and SFB
  uint8_t per_column = 1, low = 0, bits = 32, stride = 32;  // of the elements of a column
  uint8_t copy = 0;                                         // number of the copy, where lanes hold copies of the same elements
  bool operator==(const TmemBlock&) const = default;
};

/// One element of a block.
struct TmemElement {
  uint32_t row = 0, index = 0;  // as those of TmemBlock
  bool operator==(const TmemElement&) const = default;
};

/// The blocks of the operand in every CTA that has a part of it, in the order of CTAs, columns and lanes.
/// Throws InputError E1422 if there is no such MMA, E1804 for scale factors of a kind without them.
std::vector<TmemBlock> tmem_blocks(const TmemUseForm& use);
/// The elements that lie at a lane and a column of the block's CTA; none if the block does not reach there.
std::vector<TmemElement> elements_at(const TmemBlock& b, unsigned lane, unsigned column);

/// PTX's letter of D's layout. Throws InputError E1422 if there is no such MMA.
DLayout layout_of(const TmemUseForm& use);
/// 'm' and 'n' of D, 'm' and 'k' of A, 'm' and 'j' of SFA, 'n' and 'j' of SFB.
std::pair<char, char> axis_names(TmemOperand o);

/// Cells of a CTA's tensor memory, relative to the operand's address.
struct TmemCells {
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;  // a rectangle
  bool operator==(const TmemCells&) const = default;
};
/// By lane and column of a cell: row, index and first bit of its elements.
using CellElements = std::map<std::pair<uint32_t, uint32_t>, std::set<std::tuple<uint32_t, uint32_t, uint32_t>>>;
/// Adds the elements of a block.
void add_elements(const TmemBlock& b, CellElements& out);
/// The cells in which the two have other elements, or one of them has none; in the order of lanes.
std::vector<TmemCells> differing_cells(const CellElements& expected, const CellElements& actual);
/// The cells in which the layout (mode 0: rows, columns of D in one CTA) has another element than D of the
/// MMA, or one of the two has none; in the order of lanes. Throws InputError E1804 for a layout of another
/// form.
std::vector<TmemCells> differing_cells(const layout::ComposedLayout& l, const TmemUseForm& use);

/// The operand to scale: a panel for each CTA, all 128 lanes, with the warps that may read them.
ScalePicture tmem_layout_picture(const TmemUseForm& use);
/// The four partitions of 32 lanes and the warps whose tcgen05.ld and st reach them.
std::vector<ScaleGuide> partition_guides();

}  // namespace drywell::isa
