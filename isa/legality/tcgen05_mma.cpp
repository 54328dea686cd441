// Rules of tcgen05.mma, cp and shift that a row cannot express (docs/facts/tcgen05.md §1.3, §3, §4.5, §4.9: the
// forms that ptxas 13.0 accepts).
#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

void ashift(const InstructionRef& i, LegalityReport& out) {
  const Mod collector = i.mod(Slot::collector);
  if (i.operand("a")->kind != Operand::Kind::addr) out.error(Code::E1371, ".ashift needs A in tensor memory");
  if (collector == Mod::collector_a_use || collector == Mod::collector_a_fill)
    out.error(Code::E1372, ".ashift cannot go with collector use or fill");
}

void scale_input_d(const InstructionRef& i, LegalityReport& out, int64_t s) {
  const Mod kind = i.mod(Slot::kind);
  if (kind != Mod::kind_f16 && kind != Mod::kind_tf32)
    out.error(Code::E1374, "scale-input-d is for kind::f16 and kind::tf32");
  if (s < 0 || s > 15) out.error(Code::E1374, "scale-input-d is 0 to 15");
  if (!has_feature(i.module.target, Feature::sm100f_103f))
    out.error(Code::E1210, "scale-input-d needs the sm_100 or sm_103 family");
}

// Vector sizes of each kind; only mxf4nvf4 must name one.
bool admits_scale_vec(Mod kind, Mod size) {
  switch (kind) {
    case Mod::kind_mxf8f6f4: return size == Mod::none || size == Mod::scale_vec_1X || size == Mod::block32;
    case Mod::kind_mxf4: return size == Mod::none || size == Mod::scale_vec_2X || size == Mod::block32;
    default: return size != Mod::none && size != Mod::scale_vec_1X;
  }
}

void scale_vec(const InstructionRef& i, LegalityReport& out) {
  const Mod kind = i.mod(Slot::kind), size = i.mod(Slot::scale_vec);
  if (!admits_scale_vec(kind, size)) {
    out.error(Code::E1390,
              size == Mod::none ? fmt::format(".{} must say the size of the scale vector", mod_text(kind))
                                : fmt::format(".{} has no .{}", mod_text(kind), mod_text(size)),
              "mxf8f6f4: 1X or block32; mxf4: 2X or block32; mxf4nvf4: 2X, 4X, block16 or block32");
  }
  const bool by_factor = size == Mod::scale_vec_1X || size == Mod::scale_vec_2X || size == Mod::scale_vec_4X;
  if (by_factor && !has_feature(i.module.target, Feature::sm100a)) {
    out.error(Code::E1210, ".scale_vec::NX needs sm_100a, sm_103a or sm_110a", "write .block16 or .block32");
  }
  const bool sparse = i.operand("meta") != nullptr;
  if (sparse && kind != Mod::kind_mxf8f6f4 && !has_feature(i.module.target, Feature::sm100a)) {
    out.error(Code::E1210, fmt::format("sparse .{} needs sm_100a, sm_103a or sm_110a", mod_text(kind)));
  }
}

}  // namespace

void tcgen05_mma(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::ashift)) ashift(i, out);
  if (const Operand* mask = i.operand("disable"); mask != nullptr) {
    const unsigned want = i.has(Mod::cta_group_1) ? 4 : 8;
    if (mask->count != want)
      out.error(Code::E1373, fmt::format("the disable-output-lane vector has {} words here", want));
  }
  if (const Operand* s = i.operand("scale_d"); s != nullptr) scale_input_d(i, out, s->value);
  if (i.has(Mod::block_scale)) scale_vec(i, out);
  if (i.mod(Slot::kind) == Mod::kind_i8 && !has_feature(i.module.target, Feature::sm100a_only))
    out.error(Code::E1210, "kind::i8 needs sm_100a");
  tmem_address_width(i, out, {"d", "a", "meta", "sfa", "sfb"});
}

void tcgen05_cp(const InstructionRef& i, LegalityReport& out) {
  const Mod shape = i.mod(Slot::shape), multicast = i.mod(Slot::multicast);
  const bool pairs = multicast == Mod::warpx2_02_13 || multicast == Mod::warpx2_01_23;
  const bool fits = shape == Mod::_64x128b   ? pairs
                    : shape == Mod::_32x128b ? multicast == Mod::warpx4
                                             : multicast == Mod::none;
  if (!fits) {
    out.error(Code::E1378,
              multicast == Mod::none
                  ? fmt::format(".{} must say which lane partitions it fills", mod_text(shape))
                  : fmt::format(".{} does not take .{}", mod_text(shape), mod_text(multicast)),
              "64x128b: warpx2::02_13 or warpx2::01_23; 32x128b: warpx4; the others: none");
  }
  if ((i.mod(Slot::fmt) == Mod::none) != (i.mod(Slot::fmt_src) == Mod::none)) {
    out.error(Code::E1379, "a decompression names both formats", ".b8x16.b6x16_p32 or .b8x16.b4x16_p64");
  }
  tmem_address_width(i, out, {"taddr"});
}

}  // namespace drywell::isa::legality
