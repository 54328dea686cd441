#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

unsigned rank_of(Mod dim) { return static_cast<unsigned>(dim) - static_cast<unsigned>(Mod::_1d) + 1; }

bool is_gather4(Mod mode) { return mode == Mod::tile_gather4 || mode == Mod::tile_scatter4; }
bool is_wide(Mod mode) { return mode == Mod::im2col_w || mode == Mod::im2col_w_128; }

// Checks the target of each mode: gather4 and im2col::w into .shared::cta need sm_100 or later, the other
// forms of these modes the sm_100 family (docs/facts/tma-mbarrier.md §2.3).
void check_target(const InstructionRef& i, Mod mode, LegalityReport& out) {
  if (i.mod(Slot::cta_group) != Mod::none && !has_feature(i.module.target, Feature::sm100f))
    out.error(Code::E1210, ".cta_group needs the sm_100 family");
  if (!is_gather4(mode) && !is_wide(mode)) return;
  const bool early =
      (mode == Mod::tile_gather4 || mode == Mod::im2col_w) && i.mod(Slot::dst_space) == Mod::shared_cta;
  if (!has_feature(i.module.target, early ? Feature::sm100 : Feature::sm100f)) {
    out.error(Code::E1210, fmt::format(".{} {}", mod_text(mode),
                                       early ? "needs sm_100 or later" : "needs the sm_100 family"));
  }
}

}  // namespace

void tensor_copy(const InstructionRef& i, LegalityReport& out) {
  const Mod dim = i.mod(Slot::dim), mode = i.mod(Slot::tile_mode);
  const unsigned rank = rank_of(dim);
  const bool im2col = mode == Mod::im2col || mode == Mod::im2col_no_offs || is_wide(mode);
  check_target(i, mode, out);
  if (is_gather4(mode) && dim != Mod::_2d) out.error(Code::E1360, "gather4 and scatter4 are two-dimensional");
  if (im2col && rank < 3) out.error(Code::E1361, "im2col has three to five dimensions");
  const Operand* map = nullptr;
  for (const Operand& o : i.operands()) {
    if (o.kind == Operand::Kind::tensor) map = &o;
  }
  const auto elements = i.function.elements(*map);
  const unsigned coordinates = is_gather4(mode) ? 5 : rank;
  if (elements.size() < 2 || elements[1].count != coordinates)
    out.error(Code::E1362, fmt::format("{} coordinates are needed", coordinates));
  if (i.has(Mod::multicast_cluster) && i.mod(Slot::dst_space) != Mod::shared_cluster)
    out.error(Code::E1363, ".multicast::cluster needs .shared::cluster");
  const Operand* offsets = i.operand("offsets");
  const unsigned needed = mode == Mod::im2col ? rank - 2 : is_wide(mode) ? 2
                                                                         : 0;
  if ((offsets != nullptr ? offsets->count : 0u) != needed)
    out.error(Code::E1364, fmt::format("{} im2col offsets are needed", needed),
              "one per spatial dimension; {wHalo, wOffset} in the w modes");
}

}  // namespace drywell::isa::legality
