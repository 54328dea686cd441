// mma.sync and cvt on random bits: every lane's operands from the first buffer, results into the second.
#include <fmt/format.h>

#include <iterator>

#include "conformance/silicon/probes.h"

namespace drywell::kernels::silicon {
namespace {

struct MmaForm {
  const char* op;
  uint32_t a, b, c, d;  // registers of each operand
  const char* type;     // of the accumulator's registers
};

std::string list(const char* prefix, uint32_t first, uint32_t n) {
  std::string out = "{";
  for (uint32_t i = 0; i < n; ++i) out += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, first + i);
  return out + "}";
}

// Bits of one operand: random bits, or floats of moderate size whose sums round.
enum class Bits {
  any,
  moderate
};

uint32_t draw_word(Draw& d, Bits bits, std::string_view type) {
  const auto w = static_cast<uint32_t>(d.word() >> 32);
  if (bits == Bits::any) return w;
  if (type == "f32") return (w & 0x807FFFFF) | (120 + d.below(14)) << 23;
  if (type == "f16") return (w & 0x83FF83FF) | (10 + d.below(9)) << 10 | (10 + d.below(9)) << 26;
  if (type == "bf16") return (w & 0x807F807F) | (120 + d.below(12)) << 7 | (120 + d.below(12)) << 23;
  if (type == "e4m3") return w & 0xBFBFBFBF;
  return w;
}

struct TypedForm {
  MmaForm form;
  std::string_view input, accumulator;
};

constexpr TypedForm kMma[] = {
    {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 4, "f32"}, "f16", "f32"},
    {{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 4, "f32"}, "f16", "f32"},
    {{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 2, "b32"}, "f16", "f16"},
    {{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 4, "f32"}, "bf16", "f32"},
    {{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 4, "f32"}, "f32", "f32"},
    {{"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 4, "f32"}, "f32", "f32"},
    {{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, 4, "f32"}, "e4m3", "f32"},
    {{"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 2, 4, 4, "f32"}, "e4m3", "f32"},
    {{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, 4, "b32"}, "", ""},
    {{"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2, 4, 4, "b32"}, "", ""},
};

// Four warps, each with its own operands; `rounds` rounds.
Probe mma_probe(const TypedForm& t, Bits bits, uint64_t seed) {
  constexpr uint32_t kRounds = 8, kThreads = 128;
  const MmaForm& f = t.form;
  const uint32_t words = f.a + f.b + f.c;
  Draw d(seed);
  std::vector<uint8_t> input;
  for (uint32_t i = 0; i < kRounds * words * kThreads; ++i) {
    const bool c = i / kThreads % words >= f.a + f.b;
    const uint32_t w = draw_word(d, bits, c ? t.accumulator : t.input);
    for (unsigned b = 0; b < 4; ++b) input.push_back(static_cast<uint8_t>(w >> (8 * b)));
  }
  std::string body = "shl.b32 %r3, %r0, 2;\ncvt.u64.u32 %rd3, %r3;\nadd.u64 %rd0, %rd0, %rd3;\nadd.u64 %rd1, %rd1, %rd3;\n";
  const bool floats = std::string_view(f.type) == "f32";
  if (floats) body += ".reg .f32 %f<16>;\n";
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t at = round * words * kThreads * 4;
    for (uint32_t i = 0; i < f.a + f.b; ++i) body += fmt::format("ld.global.b32 %r{}, [%rd0+{}];\n", 10 + i, at + i * kThreads * 4);
    const char* prefix = floats ? "%f" : "%r";
    const uint32_t c = floats ? 0 : 30, result = floats ? 8 : 40;
    for (uint32_t i = 0; i < f.c; ++i) body += fmt::format("ld.global.{} {}{}, [%rd0+{}];\n", f.type, prefix, c + i, at + (f.a + f.b + i) * kThreads * 4);
    body += fmt::format("{} {}, {}, {}, {};\n", f.op, list(prefix, result, f.d), list("%r", 10, f.a), list("%r", 10 + f.a, f.b), list(prefix, c, f.c));
    for (uint32_t i = 0; i < f.d; ++i) body += fmt::format("st.global.{} [%rd1+{}], {}{};\n", f.type, (round * f.d + i) * kThreads * 4, prefix, result + i);
  }
  const std::string text = kernel_head(512, false) + body + "ret;\n}\n";
  return probe("mma", fmt::format("{}.{}", f.op, bits == Bits::any ? "any" : "moderate"),
               {text, {{1}, {kThreads}}, {input, std::vector<uint8_t>(kRounds * f.d * kThreads * 4)}, {}});
}

struct CvtForm {
  const char* op;
  const char* from;  // register prefix and memory type
  const char* to;
};

constexpr CvtForm kCvt[] = {
    {"cvt.rn.f16.f32", "f32", "b16"},
    {"cvt.rz.f16.f32", "f32", "b16"},
    {"cvt.rn.bf16.f32", "f32", "b16"},
    {"cvt.rz.bf16.f32", "f32", "b16"},
    {"cvt.rn.relu.bf16.f32", "f32", "b16"},
    {"cvt.rna.tf32.f32", "f32", "b32"},
    {"cvt.f32.f16", "b16", "f32"},
    {"cvt.f32.bf16", "b16", "f32"},
    {"cvt.rn.f16x2.e4m3x2", "b16", "b32"},
    {"cvt.rn.f16x2.e5m2x2", "b16", "b32"},
    {"cvt.rni.s32.f32", "f32", "b32"},
    {"cvt.rzi.u32.f32", "f32", "b32"},
    {"cvt.rmi.s32.f32", "f32", "b32"},
    {"cvt.rpi.s8.f32", "f32", "b32"},
    {"cvt.rn.f32.s32", "b32", "f32"},
    {"cvt.rz.f32.u32", "b32", "f32"},
    {"cvt.rzi.s64.f32", "f32", "b64"},
    {"cvt.rn.f16.s32", "b32", "b16"},
    {"cvt.rni.s16.f16", "b16", "b16"},
    {"cvt.rni.f32.f32", "f32", "f32"},
    {"cvt.rzi.ftz.f32.f32", "f32", "f32"},
    {"cvt.sat.f32.f32", "f32", "f32"},
    {"cvt.rn.satfinite.e4m3x2.f16x2", "b32", "b16"},
    {"cvt.rn.satfinite.e5m2x2.f16x2", "b32", "b16"},
};

uint32_t bytes_of(std::string_view type) { return type == "b16" ? 2 : type == "b64" ? 8
                                                                                    : 4; }

/// Source and result registers have letters by width: f, h, w, d.
char letter(std::string_view type) { return type == "f32" ? 'f' : type == "b16" ? 'h'
                                                              : type == "b64"   ? 'd'
                                                                                : 'w'; }

Probe cvt_probe(const CvtForm& c, uint64_t seed) {
  constexpr uint32_t kRounds = 32, kThreads = 128;
  const uint32_t in = bytes_of(c.from), result = bytes_of(c.to);
  Draw d(seed);
  std::string body = fmt::format(
      ".reg .f32 f0, f1;\n.reg .b16 h0, h1;\n.reg .b32 w0, w1;\n.reg .b64 d0, d1;\n"
      "mul.wide.u32 %rd3, %r0, {};\nadd.u64 %rd0, %rd0, %rd3;\nmul.wide.u32 %rd3, %r0, {};\nadd.u64 %rd1, %rd1, %rd3;\n",
      in, result);
  const std::string from = std::string(1, letter(c.from)) + "0", to = std::string(1, letter(c.to)) + "1";
  for (uint32_t i = 0; i < kRounds; ++i) {
    body += fmt::format("ld.global.{} {}, [%rd0+{}];\n{} {}, {};\nst.global.{} [%rd1+{}], {};\n", c.from, from, i * kThreads * in, c.op, to, from, c.to,
                        i * kThreads * result, to);
  }
  const std::string text = kernel_head(512, false) + body + "ret;\n}\n";
  return probe("cvt", c.op, {text, {{1}, {kThreads}}, {d.bytes(kRounds * kThreads * in), std::vector<uint8_t>(kRounds * kThreads * result)}, {}});
}

// All combinations of special binary64 values: the record shows which NaN (sign, payload) a result is.
Probe f64_probe(const char* op, uint32_t sources) {
  constexpr uint64_t kValues[] = {0, 1ull << 63, 0x3FF0000000000000, 0xBFF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
                                  0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFF4000000000123, 0x7FFABCDE00000321, 0xFFFFFFFFFFFFFFFF,
                                  1, 0x800FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0x4008000000000000};
  constexpr uint32_t kCount = std::size(kValues), kThreads = 128;
  const uint32_t rows = sources == 1 ? kThreads : sources == 2 ? kCount * kCount
                                                               : kCount * kCount * kCount;
  std::vector<uint8_t> input;
  for (uint32_t k = 0; k < sources; ++k) {
    for (uint32_t i = 0; i < rows; ++i) {
      const uint64_t v = kValues[(i >> (4 * k)) % kCount];
      for (unsigned b = 0; b < 8; ++b) input.push_back(static_cast<uint8_t>(v >> (8 * b)));
    }
  }
  std::string body = ".reg .f64 x<3>, y;\nmul.wide.u32 %rd3, %r0, 8;\nadd.u64 %rd0, %rd0, %rd3;\nadd.u64 %rd1, %rd1, %rd3;\n";
  const std::string list = sources == 1 ? "x0" : sources == 2 ? "x0, x1"
                                                              : "x0, x1, x2";
  for (uint32_t row = 0; row < rows; row += kThreads) {
    for (uint32_t k = 0; k < sources; ++k) body += fmt::format("ld.global.f64 x{}, [%rd0+{}];\n", k, 8 * (k * rows + row));
    body += fmt::format("{} y, {};\nst.global.f64 [%rd1+{}], y;\n", op, list, 8 * row);
  }
  return probe("f64", fmt::format("specials.{}", op), {kernel_head(512, false) + body + "ret;\n}\n", {{1}, {kThreads}}, {input, std::vector<uint8_t>(8 * rows)}, {}});
}

}  // namespace

void add_numerics(std::vector<Probe>& out) {
  uint64_t seed = 10000;
  for (const TypedForm& t : kMma) {
    out.push_back(mma_probe(t, Bits::any, seed++));
    if (!t.input.empty()) out.push_back(mma_probe(t, Bits::moderate, seed++));
  }
  for (const CvtForm& c : kCvt) out.push_back(cvt_probe(c, seed++));
  for (const char* op : {"rcp.rn.f64", "sqrt.rn.f64", "neg.f64", "abs.f64"}) out.push_back(f64_probe(op, 1));
  for (const char* op : {"add.rn.f64", "sub.rn.f64", "mul.rn.f64", "div.rn.f64", "min.f64", "max.f64"}) out.push_back(f64_probe(op, 2));
  out.push_back(f64_probe("fma.rn.f64", 3));
}

}  // namespace drywell::kernels::silicon
