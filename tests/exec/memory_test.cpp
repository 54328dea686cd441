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
                    "ld.global.nc.L1::no_allocate.L2::evict_normal.L2::256B.v4.u64 {%o0, %o1, %o2, %o3}, [%d9]", 4, 64, doubles),
            doubles);
}

// A sink of a 256-bit store leaves its element as it was (PTX ISA 9.7.9.11); a sink of a load drops it.
TEST(LdSt, SinksLeaveElementsOut) {
  const auto in = random_words(8 * 32, 32, 3);
  auto want = in;
  std::swap_ranges(want.begin(), want.begin() + 32, want.begin() + 32);  // element 0 and 1 exchanged
  for (size_t i = 0; i < 32; ++i) want[i] = in[i];                       // element 0 is then left out
  for (size_t i = 0; i < 32; ++i) want[5 * 32 + i] = 0;                  // element 5 is not loaded
  EXPECT_EQ(through("st.global.v8.b32 [%d9], {%i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7};\n  st.global.v8.b32 [%d9], {_, %i0, %i2, %i3, %i4, %i5, %i6, %i7}",
                    "ld.global.v8.f32 {%o0, %o1, %o2, %o3, %o4, _, %o6, %o7}, [%d9]", 8, 32, in),
            want);
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
                        values),
                values)
          << n << " of " << bits;
    }
  }
}

TEST(LdSt, Wide128) {
  const auto in = random_words(2 * 32, 64, 9);
  for (const std::string at : {"shared.b128 [%t9]", "global.b128 [%d9]"}) {
    const std::string space = at.substr(0, at.find('.')), address = at.substr(at.find('['));
    EXPECT_EQ(through(fmt::format(".reg .b128 %q<2>;\n  mov.b128 %q0, {{%i0, %i1}};\n  st.{}.b128 {}, %q0", space, address),
                      fmt::format("ld.{}.b128 %q1, {};\n  mov.b128 {{%o0, %o1}}, %q1", space, address), 2, 64, in),
              in);
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

// Where the lanes of a warp store and load.
struct Pattern {
  const char* name;
  uint64_t (*element)(uint64_t lane);
};
constexpr Pattern kPatterns[] = {
    {"consecutive", [](uint64_t lane) { return lane; }},
    {"uniform", [](uint64_t) { return uint64_t{5}; }},
    {"backwards", [](uint64_t lane) { return 31 - lane; }},
    {"pairs share", [](uint64_t lane) { return lane / 2 * 3; }},
    {"scattered", [](uint64_t lane) { return lane * 13 % 32 * 2 + 1; }},
};

/// Memory of 1 KiB after the lanes of `mask` stored their values in order, and the values that they then load.
struct Expected {
  std::vector<uint8_t> memory;
  std::vector<uint64_t> loaded = std::vector<uint64_t>(32);
};
Expected expected(Expected e, const std::vector<uint64_t>& in, uint32_t mask, size_t bytes, bool is_signed, unsigned register_bits) {
  const auto lanes = [&](auto each) {
    for (size_t i = 0; i < 32; ++i)
      if ((mask >> i & 1) != 0) each(i, &e.memory[in[i]]);
  };
  lanes([&](size_t i, uint8_t* at) { std::memcpy(at, &in[32 + i], bytes); });
  lanes([&](size_t i, const uint8_t* at) {
    uint64_t v = 0;
    std::memcpy(&v, at, bytes);
    const bool negative = is_signed && (v >> (8 * bytes - 1) & 1) != 0;
    if (negative && bytes < 8) v |= ~uint64_t{0} << (8 * bytes);
    e.loaded[i] = register_bits == 32 ? v & 0xFFFFFFFF : v;
  });
  return e;
}

struct Type {
  const char* name;
  size_t bytes;
  bool is_signed;
};

/// Stores %i1 at byte %i0 in the lanes where %i2 is set, and loads it back: in shared memory to %o0, in global memory to %o1. The
/// values pass through registers of `bits`.
WarpProgram store_and_load(const Type& type, unsigned bits, const std::vector<uint8_t>& memory) {
  WarpProgram p{.inputs = 3, .outputs = 2, .bits = 64, .smem = memory, .store_smem = memory.size()};
  p.body = "  setp.ne.u64 %p0, %i2, 0;\n  cvt.u32.u64 %t0, %i0;\n  add.u32 %t0, %s, %t0;\n  ld.param.u64 %d0, [spill];\n  add.u64 %d0, %d0, %i0;\n";
  p.body += bits == 32 ? "  cvt.u32.u64 %t1, %i1;\n  mov.b32 %t2, 0;\n  mov.b32 %t3, 0;\n" : "  mov.b64 %d1, %i1;\n  mov.b64 %d2, 0;\n  mov.b64 %d3, 0;\n";
  const char* r = bits == 32 ? "%t" : "%d";
  p.body += fmt::format("  @%p0 st.shared.{0} [%t0], {1}1;\n  @%p0 ld.shared.{0} {1}2, [%t0];\n", type.name, r);
  p.body += fmt::format("  @%p0 st.global.{0} [%d0], {1}1;\n  @%p0 ld.{0} {1}3, [%d0];\n", type.name, r);
  p.body += bits == 32 ? "  cvt.u64.u32 %o0, %t2;\n  cvt.u64.u32 %o1, %t3;\n" : "  mov.b64 %o0, %d2;\n  mov.b64 %o1, %d3;\n";
  return p;
}

void expect_as_modelled(const Type& type, const Pattern& pattern, uint32_t mask, unsigned bits) {
  std::vector<uint8_t> memory(1024);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 37);
  std::vector<uint64_t> in = random_words(3 * 32, 64, mask + type.bytes);
  for (size_t i = 0; i < 32; ++i) {
    in[i] = pattern.element(i) * type.bytes;
    in[64 + i] = mask >> i & 1;
  }
  const WarpResult got = run_warps(store_and_load(type, bits, memory), in);
  const Expected want = expected({memory}, in, mask, type.bytes, type.is_signed, bits);
  const std::string where = fmt::format("{} {} mask {:08x} registers of {}", type.name, pattern.name, mask, bits);
  EXPECT_EQ(got.smem, want.memory) << where;
  const auto half = got.registers.begin() + 32;
  EXPECT_EQ(std::vector<uint64_t>(got.registers.begin(), half), want.loaded) << where << ", shared";
  EXPECT_EQ(std::vector<uint64_t>(half, got.registers.end()), want.loaded) << where << ", global";
}

// A warp's access is resolved as one where it can be: every type, pattern, mask and space, beside a model in bytes.
TEST(LdSt, LanesInEveryPattern) {
  constexpr Type kTypes[] = {{"u8", 1, false}, {"s8", 1, true}, {"u16", 2, false}, {"s16", 2, true}, {"u32", 4, false}, {"s32", 4, true}, {"u64", 8, false}};
  for (const Type& type : kTypes)
    for (const Pattern& pattern : kPatterns)
      for (const uint32_t mask : {0xFFFFFFFFu, 0xFFFF0000u, 0x80000001u, 0x00000100u, 0u})
        for (const unsigned bits : {32u, 64u})
          if (8 * type.bytes <= bits) expect_as_modelled(type, pattern, mask, bits);
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
