// wmma: fragments are opaque, so matrices go from memory through fragments to memory and are compared there.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "support/ptx_run.h"
#include "support/warp_run.h"

namespace drywell::test {
namespace {

struct Form {
  unsigned m, n, k;
  const char* a_layout;
  const char* b_layout;
  const char* cd_layout;
  const char* type;  // of A and B
  const char* d;
};

unsigned bits_of(const std::string& t) { return t == "f32" || t == "tf32" || t == "s32" ? 32 : t.find("16") != std::string::npos ? 16
                                                                                           : t == "s4" || t == "u4"              ? 4
                                                                                                                                 : 8; }

uint32_t code_of(const std::string& type, int v) {
  if (type[0] == 's' || type[0] == 'u') return static_cast<uint32_t>(v) & (bits_of(type) == 32 ? ~0u : (1u << bits_of(type)) - 1);
  const uint32_t f32 = std::bit_cast<uint32_t>(static_cast<float>(v));
  if (type == "f32" || type == "tf32") return f32;
  if (type == "bf16") return f32 >> 16;
  return v == 0 ? 0 : (f32 >> 16 & 0x8000) | (((f32 >> 23 & 0xFF) - 112) << 10) | (f32 >> 13 & 0x3FF);
}

std::string list(const char* name, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i) s += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return s + "}";
}

class Wmma : public testing::TestWithParam<Form> {};

TEST_P(Wmma, FromMemoryToMemory) {
  const Form f = GetParam();
  Words random(f.m + 3 * f.k);
  const auto value = [&](const std::string& type) {
    const int v = static_cast<int>(random.next() % 7) - 3;
    return type[0] == 'u' ? std::abs(v) : v;
  };
  std::vector<int> a(f.m * f.k), b(f.k * f.n), c(f.m * f.n);
  for (int& v : a) v = value(f.type);
  for (int& v : b) v = value(f.type);
  for (int& v : c) v = value("s");
  WarpProgram p;
  p.smem.assign(8192, 0);
  const unsigned bits = bits_of(f.type), d_bits = bits_of(f.d), a_at = 0, b_at = 2048, c_at = 4096, pad = bits == 4 ? 0 : 16;
  const auto place = [](const std::string& layout, unsigned row, unsigned column, unsigned rows, unsigned columns, unsigned extra) {
    return layout == "row" ? row * (columns + extra) + column : column * (rows + extra) + row;
  };
  const auto put = [&](unsigned base, unsigned index, unsigned width, uint32_t code) {
    for (unsigned bit = 0; bit < width; ++bit) {
      const unsigned at = index * width + bit;
      p.smem[base + at / 8] = static_cast<uint8_t>(p.smem[base + at / 8] | (code >> bit & 1) << (at % 8));
    }
  };
  for (unsigned i = 0; i < f.m; ++i)
    for (unsigned j = 0; j < f.k; ++j) put(a_at, place(f.a_layout, i, j, f.m, f.k, pad), bits, code_of(f.type, a[i * f.k + j]));
  for (unsigned i = 0; i < f.k; ++i)
    for (unsigned j = 0; j < f.n; ++j) put(b_at, place(f.b_layout, i, j, f.k, f.n, pad), bits, code_of(f.type, b[i * f.n + j]));
  for (unsigned i = 0; i < f.m; ++i)
    for (unsigned j = 0; j < f.n; ++j) put(c_at, place(f.cd_layout, i, j, f.m, f.n, 0), d_bits, code_of(f.d, c[i * f.n + j]));
  const bool half = std::string(f.type) == "f16";
  const unsigned ra = half ? 8 : f.m * f.k * bits / 1024, rb = half ? 8 : f.k * f.n * bits / 1024, rd = f.m * f.n * d_bits / 1024;
  const std::string shape = fmt::format("m{}n{}k{}", f.m, f.n, f.k);
  const auto lead = [](const std::string& layout, unsigned rows, unsigned columns, unsigned extra) { return (layout == "row" ? columns : rows) + extra; };
  p.body = fmt::format("  .reg .b32 %a<8>, %b<8>, %c<8>;\n  .reg .f32 %f<8>;\n  mov.u32 %t0, {};\n", lead(f.a_layout, f.m, f.k, pad));
  p.body += fmt::format("  wmma.load.a.sync.aligned.{}.{}.shared.{} {}, [%s], %t0;\n", f.a_layout, shape, f.type, list("a", ra));
  p.body += fmt::format("  wmma.load.b.sync.aligned.{}.{}.shared.{} {}, [%s+{}], {};\n", f.b_layout, shape, f.type, list("b", rb), b_at, lead(f.b_layout, f.k, f.n, pad));
  p.body += fmt::format("  wmma.load.c.sync.aligned.{}.{}.shared.{} {}, [%s+{}];\n", f.cd_layout, shape, f.d, list("c", rd), c_at);
  p.body += fmt::format("  wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n", f.a_layout, f.b_layout, shape,
                        half ? fmt::format("{}.{}", f.d, f.d) : fmt::format("{}.{}.{}.{}", f.d, f.type, f.type, f.d), list("c", rd), list("a", ra), list("b", rb), list("c", rd));
  p.body += fmt::format("  bar.sync 0;\n  wmma.store.d.sync.aligned.{}.{}.shared.{} [%s], {}, {};", f.cd_layout, shape, f.d, list("c", rd), lead(f.cd_layout, f.m, f.n, 0));
  p.store_smem = 4096;
  const WarpResult r = run_warps(p, {});
  for (unsigned i = 0; i < f.m; ++i) {
    for (unsigned j = 0; j < f.n; ++j) {
      int want = c[i * f.n + j];
      for (unsigned x = 0; x < f.k; ++x) want += a[i * f.k + x] * b[x * f.n + j];
      uint32_t got = 0;
      std::memcpy(&got, &r.smem[place(f.cd_layout, i, j, f.m, f.n, 0) * d_bits / 8], d_bits / 8);
      EXPECT_EQ(got, code_of(f.d, want)) << i << ", " << j;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, Wmma,
                         testing::Values(Form{16, 16, 16, "row", "col", "row", "f16", "f32"}, Form{16, 16, 16, "col", "row", "col", "f16", "f16"},
                                         Form{16, 16, 16, "row", "row", "row", "bf16", "f32"}, Form{32, 8, 16, "row", "col", "col", "bf16", "f32"},
                                         Form{8, 32, 16, "col", "col", "row", "f16", "f32"}, Form{16, 16, 16, "row", "col", "row", "s8", "s32"},
                                         Form{32, 8, 16, "col", "row", "row", "u8", "s32"}, Form{8, 8, 32, "row", "col", "row", "s4", "s32"},
                                         Form{8, 8, 32, "row", "col", "col", "u4", "s32"}, Form{16, 16, 8, "row", "col", "row", "tf32", "f32"},
                                         Form{16, 16, 8, "col", "row", "col", "tf32", "f32"}));

}  // namespace
}  // namespace drywell::test
