#include "tools/tmem_form.h"

#include "tools/common/choice.h"

namespace drywell::tools {
namespace {

using isa::MmaElement, isa::MmaKind, isa::ScaleVector;

/// mxf8, mxf4 and nvf4 name kind and factors at once.
isa::MmaForm mma_form(const TmemFormFlags& f, std::string_view command) {
  struct Kind {
    MmaKind kind;
    ScaleVector scale;
  };
  static constexpr std::pair<std::string_view, Kind> kMmaKinds[] = {
      {"f16", {MmaKind::f16, ScaleVector::none}}, {"tf32", {MmaKind::tf32, ScaleVector::none}}, {"f8f6f4", {MmaKind::f8f6f4, ScaleVector::none}}, {"i8", {MmaKind::i8, ScaleVector::none}}, {"mxf8", {MmaKind::mxf8f6f4, ScaleVector::x1}}, {"mxf8f6f4", {MmaKind::mxf8f6f4, ScaleVector::x1}}, {"mxf4", {MmaKind::mxf4, ScaleVector::x2}}, {"nvf4", {MmaKind::mxf4nvf4, ScaleVector::x4}}, {"mxf4nvf4", {MmaKind::mxf4nvf4, ScaleVector::x4}}};
  const Kind k = choose(f.kind, kMmaKinds, "kind", command);
  isa::MmaForm form{k.kind, static_cast<uint8_t>(f.cta_group), f.ws, f.sparse, f.operand == "a", k.scale};
  static constexpr std::pair<std::string_view, ScaleVector> kVectors[] = {
      {"1", ScaleVector::x1}, {"2", ScaleVector::x2}, {"4", ScaleVector::x4}};
  if (!f.scale.empty()) form.scale = choose(f.scale, kVectors, "scale vector", command);
  return form;
}

std::string_view default_element(MmaKind kind) {
  if (kind == MmaKind::tf32) return "tf32";
  if (kind == MmaKind::f16) return "f16";
  if (kind == MmaKind::i8) return "s8";
  return isa::is_packed_fp4(kind) ? "e2m1" : "e4m3";
}

MmaElement element_of(const TmemFormFlags& f, MmaKind kind, std::string_view command) {
  static constexpr std::pair<std::string_view, MmaElement> kMmaElements[] = {
      {"f16", MmaElement::f16}, {"bf16", MmaElement::bf16}, {"tf32", MmaElement::tf32}, {"e4m3", MmaElement::e4m3}, {"e5m2", MmaElement::e5m2}, {"e2m3", MmaElement::e2m3}, {"e3m2", MmaElement::e3m2}, {"e2m1", MmaElement::e2m1}, {"s8", MmaElement::s8}, {"u8", MmaElement::u8}};
  return choose(f.element.empty() ? default_element(kind) : f.element, kMmaElements, "element", command);
}

}  // namespace

void add_tmem_form(Command& sub, TmemFormFlags& f) {
  sub.add_option("--operand", f.operand, "the operand of the layout: d, a, sfa, sfb")->capture_default_str();
  sub.add_option("--kind,--dtype", f.kind, "f16, tf32, f8f6f4, i8, mxf8, mxf4, nvf4")->capture_default_str();
  sub.add_option("--m", f.m, "rows of the instruction, both CTAs counted")->capture_default_str();
  sub.add_option("--n", f.n, "columns of the instruction")->capture_default_str();
  sub.add_option("--cta-group", f.cta_group, "1 or 2")->capture_default_str();
  sub.add_option("--scale-vec", f.scale, "1, 2 or 4 factors a row, when the kind allows several");
  sub.add_option("--element", f.element, "elements of A in tensor memory");
  sub.add_flag("--k96", f.k96, "K = 96 of sm_103a (kinds mxf4 and nvf4)");
  sub.add_flag("--ws", f.ws, "tcgen05.mma.ws");
  sub.add_flag("--sparse", f.sparse, "tcgen05.mma.sp");
}

isa::TmemOperand tmem_operand(std::string_view word, std::string_view command) {
  static constexpr std::pair<std::string_view, isa::TmemOperand> kOperands[] = {
      {"d", isa::TmemOperand::d},
      {"a", isa::TmemOperand::a},
      {"sfa", isa::TmemOperand::sfa},
      {"sfb", isa::TmemOperand::sfb}};
  return choose(word, kOperands, "operand", command);
}

isa::TmemUseForm tmem_use(const TmemFormFlags& f, std::string_view command) {
  if (f.cta_group != 1 && f.cta_group != 2) throw UsageError("--cta-group is 1 or 2", command);
  isa::TmemUseForm use{tmem_operand(f.operand, command), mma_form(f, command), f.m, f.n, MmaElement::f16};
  if (!isa::is_valid_shape(use.form, f.m, f.n))
    throw InputError(Code::E1422, fmt::format("M = {}, N = {} is no shape of this form", f.m, f.n),
                     isa::valid_shapes(use.form));
  use.element = element_of(f, use.form.kind, command);
  use.k96 = f.k96;
  if (f.k96 && (f.sparse || !isa::is_packed_fp4(use.form.kind))) throw UsageError("--k96 goes with dense mxf4 and nvf4", command);
  return use;
}

Dim3 cta_of(const std::string& text, std::string_view command) {
  std::vector<int64_t> v = numbers(text, 1, 3, "a CTA x,y,z", command);
  v.resize(3);
  return {static_cast<uint32_t>(v[0]), static_cast<uint32_t>(v[1]), static_cast<uint32_t>(v[2])};
}

}  // namespace drywell::tools
