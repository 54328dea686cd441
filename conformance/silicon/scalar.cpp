// Scalar instructions on the edge values of their types and random ones: behaviour that PTX does not specify (NaN
// payloads, flushing, clamping), as a device has it. Approximations are not included: the simulator has no device's
// tables.
#include <fmt/format.h>

#include "conformance/programs/values.h"
#include "conformance/silicon/probes.h"

namespace drywell::kernels::silicon {
namespace {

using conformance::kRows;
constexpr uint32_t kThreads = 128;
static_assert(kRows % kThreads == 0);

// Operand letters as in conformance/programs/lanes.h: p predicate, h w d integers, f g e k E K floats, s a shift
// amount.
std::string_view register_type(char letter) {
  switch (letter) {
    case 'h':
    case 'e':
    case 'k': return "b16";
    case 'd':
    case 'g': return "b64";
    default: return "b32";
  }
}
uint32_t bytes_of(char letter) {
  return letter == 'p' || register_type(letter) == "b32" ? 4 : register_type(letter) == "b16" ? 2
                                                                                              : 8;
}

/// Opcodes with the same operands: each is applied to all rows.
struct Group {
  std::string name, inputs;
  char output;
  std::vector<std::string> forms;
};

std::string kernel_text(const Group& g) {
  std::string s = kernel_head(512, false) + "mul.wide.u32 %rd4, %r0, 8;\nadd.u64 %rd0, %rd0, %rd4;\n";
  s += fmt::format("mul.wide.u32 %rd4, %r0, {};\nadd.u64 %rd1, %rd1, %rd4;\n", bytes_of(g.output));
  s += g.output == 'p' ? ".reg .pred result;\n.reg .b32 word;\n"
                       : fmt::format(".reg .{} result;\n", register_type(g.output));
  for (size_t k = 0; k < g.inputs.size(); ++k)
    s += fmt::format(".reg .{} a{};\n", register_type(g.inputs[k]), k);
  const std::string_view stored = g.output == 'p' ? "word" : "result";
  for (size_t round = 0; round < kRows / kThreads; ++round) {
    std::string operands;
    for (size_t k = 0; k < g.inputs.size(); ++k) {
      s += fmt::format("ld.global.{} a{}, [%rd0+{}];\n", register_type(g.inputs[k]), k,
                       (k * kRows + round * kThreads) * 8);
      operands += fmt::format(", a{}", k);
    }
    for (size_t i = 0; i < g.forms.size(); ++i) {
      s += fmt::format("{} result{};\n", g.forms[i], operands);
      if (g.output == 'p') s += "selp.b32 word, 1, 0, result;\n";
      s += fmt::format("st.global.{} [%rd1+{}], {};\n", register_type(g.output),
                       (i * kRows + round * kThreads) * bytes_of(g.output), stored);
    }
  }
  return s + "ret;\n}\n";
}

Probe scalar_probe(const Group& g, uint64_t seed) {
  std::vector<uint8_t> input;
  for (size_t k = 0; k < g.inputs.size(); ++k) {
    for (const uint64_t v : conformance::operand_values(g.inputs[k], k, seed)) {
      for (unsigned b = 0; b < 64; b += 8) input.push_back(static_cast<uint8_t>(v >> b));
    }
  }
  std::vector<uint8_t> output(g.forms.size() * kRows * bytes_of(g.output));
  return probe("scalar", "scalar." + g.name,
               {kernel_text(g), {{1}, {kThreads}}, {std::move(input), std::move(output)}, {}});
}

using Texts = std::vector<std::string>;
/// Returns all combinations: first[0] + second[0], …
Texts product(const Texts& first, const Texts& second) {
  Texts out;
  for (const std::string& a : first) {
    for (const std::string& b : second) out.push_back(a + b);
  }
  return out;
}
const Texts kRoundings = {".rn", ".rz", ".rm", ".rp"}, kIntegral = {".rni", ".rzi", ".rmi", ".rpi"};
const Texts kOrders = {".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".equ",
                       ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"};

void floats(std::vector<Group>& out) {
  const Texts f32 = product(product(kRoundings, {"", ".ftz"}), {".f32"}),
              f32_sat = product(product(kRoundings, {".sat", ".ftz.sat"}), {".f32"}),
              f64 = product(kRoundings, {".f64"});
  for (const char* op : {"add", "sub", "mul"}) {
    out.push_back({op + std::string(".f32"), "ff", 'f', product(product({op}, f32), {""})});
    out.push_back({op + std::string(".sat.f32"), "ff", 'f', product({op}, f32_sat)});
    out.push_back({op + std::string(".f64"), "gg", 'g', product({op}, f64)});
  }
  out.push_back({"fma.f32", "fff", 'f', product({"fma"}, f32)});
  out.push_back({"fma.sat.f32", "fff", 'f', product({"fma"}, f32_sat)});
  out.push_back({"fma.f64", "ggg", 'g', product({"fma"}, f64)});
  out.push_back({"div.f32", "ff", 'f', product({"div"}, f32)});
  out.push_back({"div.f64", "gg", 'g', product({"div"}, f64)});
  out.push_back({"roots.f32", "f", 'f', product({"rcp", "sqrt"}, f32)});
  out.push_back({"roots.f64", "g", 'g', product({"rcp", "sqrt"}, f64)});
  out.push_back(
      {"minmax.f32", "ff", 'f',
       product(product({"min", "max"}, {"", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs"}),
               {".f32"})});
  out.push_back({"minmax.f64", "gg", 'g', {"min.f64", "max.f64", "copysign.f64"}});
  out.push_back({"signs.f32", "f", 'f', {"neg.f32", "abs.f32", "neg.ftz.f32", "abs.ftz.f32"}});
  out.push_back({"signs.f64", "g", 'g', {"neg.f64", "abs.f64"}});
  for (const auto& [letter, type] :
       {std::pair{'e', ".f16"}, {'E', ".f16x2"}, {'k', ".bf16"}, {'K', ".bf16x2"}}) {
    const bool f16 = type[1] == 'f';
    const std::string two(2, letter), three(3, letter);
    out.push_back({"sums" + std::string(type), two, letter,
                   product(product({"add.rn", "sub.rn", "mul.rn"},
                                   f16 ? Texts{"", ".ftz", ".sat", ".ftz.sat"} : Texts{""}),
                           {type})});
    out.push_back({"fma" + std::string(type), three, letter,
                   product(product({"fma.rn"}, f16 ? Texts{"", ".ftz", ".sat", ".relu", ".ftz.relu", ".oob"}
                                                   : Texts{"", ".relu", ".oob"}),
                           {type})});
    out.push_back(
        {"minmax" + std::string(type), two, letter,
         product(product({"min", "max"}, {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"}), {type})});
    out.push_back(
        {"signs" + std::string(type), std::string(1, letter), letter, product({"neg", "abs"}, {type})});
  }
}

void comparisons(std::vector<Group>& out) {
  for (const auto& [inputs, type] :
       {std::pair{"ff", ".f32"}, {"gg", ".f64"}, {"ee", ".f16"}, {"kk", ".bf16"}}) {
    out.push_back({"setp" + std::string(type), inputs, 'p', product(product({"setp"}, kOrders), {type})});
    out.push_back({"set.u32" + std::string(type), inputs, 'w',
                   product(product({"set"}, kOrders), {".u32" + std::string(type)})});
  }
  const Texts classes = {".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"};
  out.push_back({"testp.f32", "f", 'p', product(product({"testp"}, classes), {".f32"})});
  out.push_back({"testp.f64", "g", 'p', product(product({"testp"}, classes), {".f64"})});
  out.push_back({"slct", "wwf", 'w', {"slct.u32.f32", "slct.ftz.u32.f32"}});
}

void conversions(std::vector<Group>& out) {
  const auto letter_of = [](std::string_view bits) { return bits == "64" ? 'd' : bits == "32" ? 'w'
                                                                                              : 'h'; };
  for (const auto& [letter, type] : {std::pair{'e', ".f16"}, {'k', ".bf16"}, {'f', ".f32"}, {'g', ".f64"}}) {
    for (const char* bits : {"8", "16", "32", "64"}) {
      if (letter == 'k' && bits[0] == '8') continue;
      const Texts ints = {std::string(".u") + bits, std::string(".s") + bits};
      const std::string from_int(1, letter_of(bits)), name = std::string("cvt") + type + ".int" + bits;
      out.push_back({name, from_int, letter, product(product({"cvt"}, kRoundings), product({type}, ints))});
      out.push_back({name + ".back", std::string(1, letter), letter_of(bits),
                     product(product({"cvt"}, kIntegral), product(ints, {type}))});
    }
    out.push_back({"cvt" + std::string(type) + ".integral", std::string(1, letter), letter,
                   product(product({"cvt"}, kIntegral), {std::string(type) + type})});
  }
  out.push_back({"cvt.f32.f64", "g", 'f',
                 product(product({"cvt"}, kRoundings), {".f32.f64", ".ftz.f32.f64", ".sat.f32.f64"})});
  out.push_back({"cvt.half.f64", "g", 'h', product(product({"cvt"}, kRoundings), {".f16.f64", ".bf16.f64"})});
  out.push_back(
      {"cvt.half.f32", "f", 'h',
       product(product({"cvt"}, kRoundings), {".f16.f32", ".bf16.f32", ".ftz.f16.f32", ".ftz.bf16.f32"})});
  out.push_back({"cvt.f64.f32", "f", 'g', {"cvt.f64.f32", "cvt.ftz.f64.f32", "cvt.sat.f64.f32"}});
  out.push_back({"cvt.f32.f32", "f", 'f', {"cvt.f32.f32", "cvt.ftz.f32.f32", "cvt.sat.f32.f32"}});
  out.push_back({"cvt.wide.f16", "e", 'g', {"cvt.f64.f16"}});
  out.push_back({"cvt.wide.bf16", "k", 'g', {"cvt.f64.bf16"}});
  out.push_back({"cvt.fp8x2.f32",
                 "ff",
                 'h',
                 {"cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.relu.e4m3x2.f32",
                  "cvt.rn.satfinite.e5m2x2.f32", "cvt.rn.satfinite.relu.e5m2x2.f32"}});
  out.push_back({"cvt.half2.f32", "ff", 'w',
                 product(product({"cvt.rn", "cvt.rz"}, {"", ".relu", ".satfinite", ".relu.satfinite"}),
                         {".f16x2.f32", ".bf16x2.f32"})});
}

void integers(std::vector<Group>& out) {
  for (const auto& [letter, bits] : {std::pair{'h', "16"}, {'w', "32"}, {'d', "64"}}) {
    const Texts types = {std::string(".u") + bits, std::string(".s") + bits};
    const std::string two(2, letter), three(3, letter), name = std::string("int") + bits;
    out.push_back(
        {name, two, letter, product({"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"}, types)});
    out.push_back({name + ".three", three, letter, product({"mad.lo", "mad.hi", "sad"}, types)});
    out.push_back({name + ".shift", std::string(1, letter) + "s", letter, product({"shr"}, types)});
  }
  for (const auto& [letter, bits] : {std::pair{'w', ".b32"}, {'d', ".b64"}}) {
    out.push_back(
        {"count" + std::string(bits), std::string(1, letter), 'w', product({"popc", "clz"}, {bits})});
    out.push_back({"bits" + std::string(bits), std::string(1, letter), letter,
                   product({"brev", "cnot", "not"}, {bits})});
  }
  out.push_back({"bfind", "w", 'w', {"bfind.u32", "bfind.s32", "bfind.shiftamt.u32", "bfind.shiftamt.s32"}});
  out.push_back({"fields", "wss", 'w', {"bfe.u32", "bfe.s32"}});
  out.push_back({"masks",
                 "ss",
                 'w',
                 {"bmsk.clamp.b32", "bmsk.wrap.b32", "szext.clamp.u32", "szext.clamp.s32", "szext.wrap.u32",
                  "szext.wrap.s32"}});
  out.push_back(
      {"funnel", "wws", 'w', {"shf.l.wrap.b32", "shf.l.clamp.b32", "shf.r.wrap.b32", "shf.r.clamp.b32"}});
  out.push_back({"permute",
                 "www",
                 'w',
                 {"prmt.b32", "prmt.b32.f4e", "prmt.b32.b4e", "prmt.b32.rc8", "prmt.b32.ecl", "prmt.b32.ecr",
                  "prmt.b32.rc16"}});
  out.push_back({"dot", "www", 'w',
                 product(product({"dp4a", "dp2a.lo", "dp2a.hi"}, {".u32", ".s32"}), {".u32", ".s32"})});
  out.push_back(
      {"video", "www", 'w',
       product(product({"vabsdiff4.u32", "vabsdiff4.s32"}, {".u32.u32", ".u32.s32", ".s32.u32", ".s32.s32"}),
               {"", ".sat", ".add"})});
  out.push_back({"mul24", "ww", 'w', product({"mul24.lo", "mul24.hi"}, {".u32", ".s32"})});
  out.push_back({"mad24",
                 "www",
                 'w',
                 {"mad24.lo.u32", "mad24.lo.s32", "mad24.hi.u32", "mad24.hi.s32", "mad24.hi.sat.s32",
                  "mad.hi.sat.s32"}});
  out.push_back({"pairs",
                 "ww",
                 'w',
                 {"add.u16x2", "add.s16x2", "min.u16x2", "max.u16x2", "min.s16x2", "max.s16x2",
                  "min.relu.s16x2", "max.relu.s16x2", "add.sat.s32", "sub.sat.s32"}});
  out.push_back({"pack",
                 "www",
                 'w',
                 {"cvt.pack.sat.u8.s32.b32", "cvt.pack.sat.s8.s32.b32", "cvt.pack.sat.u4.s32.b32",
                  "cvt.pack.sat.s4.s32.b32"}});
}

}  // namespace

void add_scalar(std::vector<Probe>& out) {
  std::vector<Group> groups;
  floats(groups);
  comparisons(groups);
  conversions(groups);
  integers(groups);
  uint64_t seed = 20000;
  for (const Group& g : groups) out.push_back(scalar_probe(g, seed++));
}

}  // namespace drywell::kernels::silicon
