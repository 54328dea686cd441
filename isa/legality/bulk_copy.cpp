#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

unsigned rank_of(Mod dim) { return static_cast<unsigned>(dim) - static_cast<unsigned>(Mod::_1d) + 1; }

}  // namespace

// facts/tma-mbarrier.md §2.3.
void tensor_copy(const InstructionRef& i, LegalityReport& out) {
  const Mod dim = i.mod(Slot::dim), mode = i.mod(Slot::tile_mode);
  unsigned rank = rank_of(dim);
  if (mode == Mod::tile_gather4 || mode == Mod::tile_scatter4) {
    if (dim != Mod::_2d) out.error("E1360", "gather4 and scatter4 are two-dimensional");
    if (!has_feature(i.module.target, Feature::sm100)) out.error("E1210", "gather4 and scatter4 need sm_100 or later");
    rank = 5;
  }
  const bool im2col = mode == Mod::im2col || mode == Mod::im2col_w || mode == Mod::im2col_w_128 || mode == Mod::im2col_no_offs;
  if (im2col && rank < 3) out.error("E1361", "im2col has three to five dimensions");
  const Operand* map = nullptr;
  for (const Operand& o : i.operands()) {
    if (o.kind == Operand::Kind::tensor) map = &o;
  }
  const auto elements = i.function.elements(*map);
  if (elements.size() < 2 || elements[1].count != rank) {
    out.error("E1362", fmt::format("{} coordinates are needed", rank));
  }
  if (i.has(Mod::multicast_cluster) && i.mod(Slot::dst_space) != Mod::shared_cluster) out.error("E1363", ".multicast::cluster needs .shared::cluster");
  if (i.mod(Slot::cta_group) != Mod::none && !has_feature(i.module.target, Feature::sm100f)) out.error("E1210", ".cta_group needs the sm_100 family");
  const bool offsets = i.operand("offsets") != nullptr;
  const bool needs_offsets = mode == Mod::im2col || mode == Mod::im2col_w || mode == Mod::im2col_w_128;
  if (offsets != needs_offsets) out.error("E1364", "im2col offsets go with the im2col modes");
}

}  // namespace drywell::isa::legality
