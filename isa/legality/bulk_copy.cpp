#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

void check_size(const InstructionRef& i, LegalityReport& out, int64_t multiple) {
  const Operand* size = i.operand("size");
  if (size->kind == Operand::Kind::imm && size->value % multiple != 0)
    out.error(Code::E1365, fmt::format("a size of {} bytes; a multiple of {} is needed", size->value, multiple));
}

void check_ignored(const InstructionRef& i, LegalityReport& out) {
  for (const char* end : {"ignoreBytesLeft", "ignoreBytesRight"}) {
    const Operand* o = i.operand(end);
    if (o != nullptr && o->kind == Operand::Kind::imm && (o->value < 0 || o->value > 15))
      out.error(Code::E1365, fmt::format("{} is {}; 0 to 15 bytes can be ignored", end, o->value));
  }
}

bool is_bitwise_reduction(Mod op) { return op == Mod::and_ || op == Mod::or_ || op == Mod::xor_; }

// Legal reductions (docs/facts/tma-mbarrier.md §2.3, as ptxas accepts them). Shared memory has fewer types; the
// row of that instruction lists them.
bool reduces(Mod op, Mod type, bool remote) {
  if (is_bitwise_reduction(op)) return type == Mod::b32 || type == Mod::b64;
  if (op == Mod::inc || op == Mod::dec) return type == Mod::u32;
  if (type == Mod::b32 || type == Mod::b64) return false;
  if (op == Mod::add) return type != Mod::s64;
  return type != Mod::f32 && type != Mod::f64 && !(remote && type == Mod::u64);
}

}  // namespace

void bulk_copy(const InstructionRef& i, LegalityReport& out) {
  check_size(i, out, 16);
  check_ignored(i, out);
  if (i.has(Mod::multicast_cluster) && i.mod(Slot::dst_space) != Mod::shared_cluster)
    out.error(Code::E1363, ".multicast::cluster needs .shared::cluster");
  if (i.has(Mod::cp_mask) && !has_feature(i.module.target, Feature::sm100))
    out.error(Code::E1210, ".cp_mask needs sm_100 or later");
}

void bulk_reduce(const InstructionRef& i, LegalityReport& out) {
  const Mod op = i.mod(Slot::op), type = i.mod(Slot::type);
  check_size(i, out, 16);
  if (!reduces(op, type, i.mod(Slot::dst_space) == Mod::shared_cluster))
    out.error(Code::E1366, fmt::format("no .{} reduction of .{}", mod_text(op), mod_text(type)));
  const bool half = type == Mod::f16 || type == Mod::bf16;
  if (i.has(Mod::noftz) != (half && op == Mod::add))
    out.error(Code::E1367, ".noftz goes with .add of .f16 and .bf16, which need it");
}

void st_bulk(const InstructionRef& i, LegalityReport& out) {
  check_size(i, out, 8);
  if (i.operand("initval")->value != 0) out.error(Code::E1368, "st.bulk writes zeros only");
}

}  // namespace drywell::isa::legality
