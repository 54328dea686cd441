// Loads and stores: widths, vectors, spaces and modifiers move the bytes PTX says.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "drywell/core/error.h"
#include "support/ptx_run.h"
#include "support/warp_run.h"

namespace drywell::test {
namespace {

std::vector<uint64_t> random_words(size_t count, unsigned bits, uint64_t seed) {
  Words words(seed);
  std::vector<uint64_t> v(count);
  for (uint64_t& w : v) w = bits == 64 ? words.next() : words.next() & ((uint64_t{1} << bits) - 1);
  return v;
}

/// Stores the inputs with `store`, loads them with `load`; both name %d9 (a global address of 32 bytes per lane) or %t9 (shared).
std::vector<uint64_t> through(const std::string& store, const std::string& load, unsigned values, unsigned bits, const std::vector<uint64_t>& in) {
  WarpProgram p;
  p.bits = bits;
  p.inputs = p.outputs = values;
  p.body = "  ld.param.u64 %d9, [spill];\n  mad.wide.u32 %d9, %lane, 32, %d9;\n  mad.lo.u32 %t9, %lane, 32, %s;\n  " + store + ";\n  " + load + ";";
  p.smem = {};
  p.store_smem = 1024;  // makes `spill` 1 KiB
  return run_warps(p, in).registers;
}

TEST(LdSt, VectorsOf256Bits) {
  const auto words = random_words(8 * 32, 32, 1), doubles = random_words(4 * 32, 64, 2);
  EXPECT_EQ(through("st.global.v8.b32 [%d9], {%i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7}", "ld.global.v8.b32 {%o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7}, [%d9]", 8, 32, words), words);
  EXPECT_EQ(through("st.global.L1::no_allocate.L2::evict_first.v4.b64 [%d9], {%i0, %i1, %i2, %i3}",
                    "ld.global.nc.L1::no_allocate.L2::evict_normal.L2::256B.v4.u64 {%o0, %o1, %o2, %o3}, [%d9]", 4, 64, doubles), doubles);
}

// A sink of a 256-bit store leaves its element as it was (PTX ISA 9.7.9.11); a sink of a load drops it.
TEST(LdSt, SinksLeaveElementsOut) {
  const auto in = random_words(8 * 32, 32, 3);
  auto want = in;
  std::swap_ranges(want.begin(), want.begin() + 32, want.begin() + 32);  // element 0 and 1 exchanged
  for (size_t i = 0; i < 32; ++i) want[i] = in[i];                       // element 0 is then left out
  for (size_t i = 0; i < 32; ++i) want[5 * 32 + i] = 0;                  // element 5 is not loaded
  EXPECT_EQ(through("st.global.v8.b32 [%d9], {%i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7};\n  st.global.v8.b32 [%d9], {_, %i0, %i2, %i3, %i4, %i5, %i6, %i7}",
                    "ld.global.v8.f32 {%o0, %o1, %o2, %o3, %o4, _, %o6, %o7}, [%d9]", 8, 32, in), want);
}

TEST(LdSt, EveryVectorOfShared) {
  for (const unsigned n : {1u, 2u, 4u}) {
    for (const unsigned bits : {32u, 64u}) {
      if (n * bits > 128) continue;
      std::string in_names, out_names;
      for (unsigned k = 0; k < n; ++k) {
        in_names += fmt::format("{}%i{}", k == 0 ? "" : ", ", k);
        out_names += fmt::format("{}%o{}", k == 0 ? "" : ", ", k);
      }
      if (n > 1) {
        in_names = "{" + in_names + "}";
        out_names = "{" + out_names + "}";
      }
      const std::string v = n == 1 ? "" : fmt::format(".v{}", n);
      const auto values = random_words(n * 32, bits, n + bits);
      EXPECT_EQ(through(fmt::format("st.shared{}.b{} [%t9], {}", v, bits, in_names), fmt::format("ld.volatile.shared{}.u{} {}, [%t9]", v, bits, out_names), n, bits,
                        values), values) << n << " of " << bits;
    }
  }
}

TEST(LdSt, Wide128) {
  const auto in = random_words(2 * 32, 64, 9);
  for (const std::string at : {"shared.b128 [%t9]", "global.b128 [%d9]"}) {
    const std::string space = at.substr(0, at.find('.')), address = at.substr(at.find('['));
    EXPECT_EQ(through(fmt::format(".reg .b128 %q<2>;\n  mov.b128 %q0, {{%i0, %i1}};\n  st.{}.b128 {}, %q0", space, address),
                      fmt::format("ld.{}.b128 %q1, {};\n  mov.b128 {{%o0, %o1}}, %q1", space, address), 2, 64, in), in);
  }
}

// Every order and cache modifier moves the same bytes.
TEST(LdSt, ModifiersAreNeutral) {
  const auto in = random_words(32, 32, 4);
  for (const char* load : {"ld.global.ca.b32", "ld.global.cg.b32", "ld.global.cs.b32", "ld.global.lu.b32", "ld.global.cv.b32", "ld.global.nc.b32", "ld.global.ca.nc.b32",
                           "ld.weak.global.b32", "ld.relaxed.gpu.global.b32", "ld.acquire.sys.global.b32", "ld.volatile.global.b32", "ld.mmio.relaxed.sys.global.b32",
                           "ld.global.L1::evict_last.b32", "ld.global.L2::128B.b32", "ld.global.L1::no_allocate.L2::64B.b32", "ld.b32", "ldu.global.b32", "ldu.b32"}) {
    EXPECT_EQ(through("st.global.b32 [%d9], %i0", fmt::format("{} %o0, [%d9]", load), 1, 32, in), in) << load;
  }
  for (const char* store : {"st.global.wb.b32", "st.global.cg.b32", "st.global.cs.b32", "st.global.wt.b32", "st.weak.global.b32", "st.relaxed.cta.global.b32", "st.release.gpu.global.b32",
                            "st.volatile.global.b32", "st.mmio.relaxed.sys.global.b32", "st.global.L1::evict_first.b32", "st.b32"}) {
    EXPECT_EQ(through(fmt::format("{} [%d9], %i0", store), "ld.global.b32 %o0, [%d9]", 1, 32, in), in) << store;
  }
  const std::string policy = "mov.u64 %d8, 0;\n  ";
  EXPECT_EQ(through(policy + "st.global.L2::cache_hint.b32 [%d9], %i0, %d8", "ld.global.L2::cache_hint.b32 %o0, [%d9], %d8", 1, 32, in), in);
}

// Local, shared and parameter memory through generic addresses.
TEST(LdSt, GenericAddresses) {
  const auto in = random_words(32, 32, 5);
  EXPECT_EQ(through(".local .align 8 .b8 own[8];\n  mov.u64 %d0, own;\n  cvta.local.u64 %d1, %d0;\n  st.b32 [%d1+4], %i0", "ld.local.b32 %o0, [own+4]", 1, 32, in), in);
  EXPECT_EQ(through("cvt.u64.u32 %d0, %t9;\n  cvta.shared.u64 %d1, %d0;\n  st.b32 [%d1], %i0", "ld.shared.b32 %o0, [%t9]", 1, 32, in), in);
  WarpProgram p;
  p.bits = 64;
  p.outputs = 1;
  p.body = "  mov.u64 %d0, out;\n  cvta.param.u64 %d1, %d0;\n  ld.u64 %d2, [%d1];\n  ld.param.u64 %d3, [out];\n  sub.s64 %o0, %d2, %d3;";
  for (uint64_t v : run_warps(p, {}).registers) EXPECT_EQ(v, 0u);
}

// PTX ISA 9.7.9.17: indeterminate; the simulator shows it as poison.
TEST(LdSt, DiscardPoisonsTheLine) {
  const auto in = random_words(32, 32, 6);
  EXPECT_EQ(through("st.global.b32 [%d9], %i0;\n  bar.sync 0;\n  ld.param.u64 %d1, [spill];\n  discard.global.L2 [%d1], 128;\n  prefetch.global.L2::evict_last [%d1];\n  prefetchu.L1 [%d1];\n"
                    "  applypriority.global.L2::evict_normal [%d1], 128",
                    "ld.global.b32 %o0, [%d9]", 1, 32, in),
            [&] {
              auto want = in;
              for (size_t lane = 0; lane < 4; ++lane) want[lane] = 0xFFFFFFFF;  // 32 bytes a lane
              return want;
            }());
}

TEST(LdSt, PrefetchMayNameAnything) {
  WarpProgram p;
  p.outputs = 1;
  p.body = "  mov.u64 %d0, 64;\n  prefetch.global.L1 [%d0];\n  prefetch.L2 [%d0];\n  mov.u32 %o0, 1;";
  for (uint64_t v : run_warps(p, {}).registers) EXPECT_EQ(v, 1u);
}

}  // namespace
}  // namespace drywell::test
