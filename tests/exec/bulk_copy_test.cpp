// Bulk copies and reductions of byte ranges through executed instructions, against plain host arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {
namespace {

constexpr uint32_t kBytes = 1024;

template <class T>
std::vector<T> random_words(size_t n, uint32_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(rng());
  return v;
}

Bytes random_bytes(size_t n, uint32_t seed) { return to_bytes(random_words<uint8_t>(n, seed)); }

const std::string kCommitAndWait = R"(
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)";

TEST(BulkLoad, CopiesAndCountsItsBytes) {
  for (const char* space : {"shared::cta", "shared::cluster"}) {
    AsyncCase c;
    c.buffers = {random_bytes(kBytes, 1), Bytes(kBytes)};
    c.body = fill_smem(kBytes) + init_bar() + R"(
  mov.u32 %r1, 320;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;
)" +
             fmt::format(R"(
  createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;
  @first cp.async.bulk.{}.global.mbarrier::complete_tx::bytes.L2::cache_hint [smem+16], [buf0+32], %r1, [bar], %rd1;
)",
                         space) +
             wait_for("[bar]", 0) + dump_smem("buf1", kBytes);
    Bytes want(kBytes, kSmemFill);
    std::memcpy(want.data() + 16, c.buffers[0].data() + 32, 320);
    EXPECT_EQ(run_everywhere(c).at(1), want);
  }
}

// A size of 0 or 8 copies no bytes and signals none, 24 copies 16 (docs/facts/tma-mbarrier.md §2.3, measured).
TEST(BulkLoad, DropsWhatIsBeyondAMultipleOfSixteen) {
  AsyncCase c;
  c.buffers = {random_bytes(kBytes, 1), Bytes(kBytes)};
  c.body =
      fill_smem(kBytes) + init_bar() + "  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n";
  for (const auto& [size, at] : {std::pair{0, 0}, {8, 64}, {24, 128}}) {
    c.body += fmt::format(R"(
  mov.u32 %r1, {0};
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem+{1}], [buf0+{1}], %r1, [bar];
)",
                          size, at);
  }
  c.body += wait_for("[bar]", 0) + dump_smem("buf1", kBytes);
  Bytes want(kBytes, kSmemFill);
  std::memcpy(want.data() + 128, c.buffers[0].data() + 128, 16);
  EXPECT_EQ(run_everywhere(c).at(1), want);
}

TEST(BulkLoad, MulticastReachesTheSelectedCtas) {
  AsyncCase c;
  c.cluster = c.ctas = 4;
  c.buffers = {random_bytes(kBytes, 1), Bytes(4 * kBytes)};
  c.body = fill_smem(kBytes) + init_bar() + R"(
  setp.ne.u32 %p1, rank, 2;
  selp.u32 %r1, 128, 0, %p1;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;
)" + cluster_sync() +
           R"(
  mov.b16 %h1, 0xB;
  @leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem], [buf0], 128, [bar], %h1;
)" + wait_for("[bar]", 0) +
           cluster_sync() + dump_smem("buf1", kBytes);
  Bytes want(4 * kBytes, kSmemFill);
  for (size_t r : {0, 1, 3}) std::memcpy(want.data() + kBytes * r, c.buffers[0].data(), 128);
  EXPECT_EQ(run_everywhere(c).at(1), want);
}

TEST(BulkRemote, CopiesIntoTheNextCta) {
  AsyncCase c;
  c.cluster = c.ctas = 2;
  c.buffers = {random_bytes(2 * kBytes, 1), Bytes(2 * kBytes)};
  c.body = load_smem("buf0", kBytes) + init_bar() +
           "  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n" + cluster_sync() +
           R"(
  xor.b32 %r1, rank, 1;
  mapa.shared::cluster.u32 %r2, smem, %r1;
  mapa.shared::cluster.u32 %r3, bar, %r1;
  @first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2+512], [smem], 256, [%r3];
)" + wait_for("[bar]", 0) +
           cluster_sync() + dump_smem("buf1", kBytes);
  Bytes want = c.buffers[0];
  for (size_t r : {0, 1})
    std::memcpy(want.data() + kBytes * r + 512, c.buffers[0].data() + kBytes * (1 - r), 256);
  EXPECT_EQ(run_everywhere(c).at(1), want);
}

TEST(BulkStore, CopiesAllOrTheBytesOfTheMask) {
  for (const uint32_t mask : {0xFFFFu, 0x8001u, 0x0FF0u, 0u}) {
    AsyncCase c;
    c.buffers = {random_bytes(kBytes, 1), random_bytes(kBytes, 2)};
    c.body = load_smem("buf0", kBytes) +
             fmt::format(R"(
  mov.b16 %h1, {};
  @first cp.async.bulk.global.shared::cta.bulk_group.cp_mask [buf1+16], [smem+64], 192, %h1;
)",
                         mask) +
             kCommitAndWait;
    Bytes want = c.buffers[1];
    for (size_t i = 0; i < 192; ++i) {
      if ((mask >> i % 16 & 1) != 0) want[16 + i] = c.buffers[0][64 + i];
    }
    EXPECT_EQ(run_everywhere(c).at(1), want) << mask;
  }
}

// The last bytes of an array that does not end at a multiple of 16: those that the mask leaves out lie behind it.
TEST(BulkStore, TouchesOnlyTheBytesOfTheMask) {
  const auto copy = [](uint32_t size, const std::string& to, uint32_t mask) {
    AsyncCase c;
    c.buffers = {random_bytes(kBytes, 1), random_bytes(size, 2)};
    c.body = load_smem("buf0", kBytes) + fmt::format("mov.b16 %h1, {};\n@first cp.async.bulk.global.shared::cta.bulk_group.cp_mask [{}], [smem+64], 16, %h1;\n", mask, to) + kCommitAndWait;
    return c;
  };
  const AsyncCase inside = copy(72, "buf1+64", 0x00F0);
  Bytes want = inside.buffers[1];
  std::copy_n(inside.buffers[0].begin() + 68, 4, want.begin() + 68);
  EXPECT_EQ(run_everywhere(inside).at(1), want);
  EXPECT_EQ(run_everywhere(copy(72, "buf1+4096", 0)).at(1), want = copy(72, "buf1", 0).buffers[1]);
  expect_fault(copy(72, "buf1+64", 0x0100), Code::F3306);
}

// ---- reductions

struct Reduction {
  std::string op, type;
  std::function<uint64_t(uint64_t, uint64_t)> apply;  // (memory, operand), right-aligned
  unsigned bytes;
};

double half_value(uint64_t v, int fraction, int bias) {
  const int e = static_cast<int>((v & 0x7FFF) >> fraction);
  const auto f = static_cast<double>(v & ((1u << fraction) - 1));
  const double m =
      e == 0 ? std::ldexp(f, 1 - bias - fraction) : std::ldexp(f + (1 << fraction), e - bias - fraction);
  return (v & 0x8000) != 0 ? -m : m;
}
// Nearest 16-bit number, ties to even; the host rounds to an integer number of units in the last place.
uint64_t half_bits(double v, int fraction, int bias) {
  const uint64_t sign = std::signbit(v) ? 0x8000 : 0;
  const double m = std::fabs(v);
  if (m == 0) return sign;
  int e = std::max(std::ilogb(m), 1 - bias);
  double units = std::nearbyint(std::ldexp(m, fraction - e));
  const uint64_t one = uint64_t{1} << fraction;
  const uint64_t code =
      static_cast<uint64_t>(e + bias - 1) * one +
      static_cast<uint64_t>(units);  // the carry moves the exponent; subnormals have e = 1 - bias
  const uint64_t infinity = 0x7FFF & ~(one - 1);
  return sign | std::min(code, infinity);
}
bool half_nan(uint64_t v, int fraction) { return (v & 0x7FFF) > (0x7FFFu & ~((1u << fraction) - 1)); }

Reduction half_add(const char* type, int fraction, int bias) {
  return {
      "add.noftz", type,
      [=](uint64_t a, uint64_t b) -> uint64_t {
        const uint64_t infinity = 0x7FFF & ~((uint64_t{1} << fraction) - 1);
        const auto is_infinite = [&](uint64_t v) { return (v & 0x7FFF) == infinity; };
        if (half_nan(a, fraction) || half_nan(b, fraction) || (is_infinite(a) && is_infinite(b) && a != b))
          return 0x7FFF;
        if (is_infinite(a) || is_infinite(b)) return is_infinite(a) ? a : b;
        return half_bits(half_value(a, fraction, bias) + half_value(b, fraction, bias), fraction, bias);
      },
      2};
}
Reduction half_order(const char* op, const char* type, int fraction, int bias) {
  const bool max = op[1] == 'a';
  return {op, type,
          [=](uint64_t a, uint64_t b) -> uint64_t {
            if (half_nan(a, fraction)) return half_nan(b, fraction) ? 0x7FFF : b;
            if (half_nan(b, fraction)) return a;
            const double x = half_value(a, fraction, bias), y = half_value(b, fraction, bias);
            if (x == y) return (a >> 15) != (b >> 15) ? ((a >> 15 != 0) == max ? b : a) : a;
            return (x > y) == max ? a : b;
          },
          2};
}

template <class T>
Reduction integer(const char* op, const char* type, std::function<T(T, T)> f) {
  return {op, type,
          [f](uint64_t a, uint64_t b) {
            return static_cast<uint64_t>(
                static_cast<std::make_unsigned_t<T>>(f(static_cast<T>(a), static_cast<T>(b))));
          },
          sizeof(T)};
}

std::vector<Reduction> integer_reductions() {
  using U = uint32_t;
  using V = uint64_t;
  return {integer<U>("add", "u32", [](U a, U b) { return a + b; }),
          integer<U>("add", "s32", [](U a, U b) { return a + b; }),
          integer<V>("add", "u64", [](V a, V b) { return a + b; }),
          integer<U>("min", "u32", [](U a, U b) { return std::min(a, b); }),
          integer<U>("max", "u32", [](U a, U b) { return std::max(a, b); }),
          integer<int32_t>("min", "s32", [](int32_t a, int32_t b) { return std::min(a, b); }),
          integer<int32_t>("max", "s32", [](int32_t a, int32_t b) { return std::max(a, b); }),
          integer<U>("inc", "u32", [](U d, U s) { return d >= s ? 0u : d + 1; }),
          integer<U>("dec", "u32", [](U d, U s) { return d == 0 || d > s ? s : d - 1; }),
          integer<U>("and", "b32", [](U a, U b) { return a & b; }),
          integer<U>("or", "b32", [](U a, U b) { return a | b; }),
          integer<U>("xor", "b32", [](U a, U b) { return a ^ b; }),
          integer<V>("min", "u64", [](V a, V b) { return std::min(a, b); }),
          integer<V>("max", "u64", [](V a, V b) { return std::max(a, b); }),
          integer<int64_t>("min", "s64", [](int64_t a, int64_t b) { return std::min(a, b); }),
          integer<int64_t>("max", "s64", [](int64_t a, int64_t b) { return std::max(a, b); }),
          integer<V>("and", "b64", [](V a, V b) { return a & b; }),
          integer<V>("or", "b64", [](V a, V b) { return a | b; }),
          integer<V>("xor", "b64", [](V a, V b) { return a ^ b; })};
}

std::vector<Reduction> all_reductions() {
  std::vector<Reduction> all = integer_reductions();
  for (const auto& [type, fraction, bias] : {std::tuple{"f16", 10, 15}, {"bf16", 7, 127}}) {
    all.push_back(half_add(type, fraction, bias));
    all.push_back(half_order("min", type, fraction, bias));
    all.push_back(half_order("max", type, fraction, bias));
  }
  // Subnormals stay (measured); the host adds to nearest even too.
  all.push_back({"add", "f32",
                 [](uint64_t a, uint64_t b) -> uint64_t {
                   const float s = std::bit_cast<float>(static_cast<uint32_t>(a)) +
                                   std::bit_cast<float>(static_cast<uint32_t>(b));
                   return std::isnan(s) ? 0x7FFFFFFFu : std::bit_cast<uint32_t>(s);
                 },
                 4});
  all.push_back({"add", "f64",
                 [](uint64_t a, uint64_t b) -> uint64_t {
                   // Measured on an H200: a NaN operand comes through, then one in memory, and ∞ - ∞ is
                   // FFF8….
                   for (const uint64_t v : {b, a}) {
                     if (std::isnan(std::bit_cast<double>(v))) return v;
                   }
                   const double s = std::bit_cast<double>(a) + std::bit_cast<double>(b);
                   return std::isnan(s) ? 0xFFF8000000000000 : std::bit_cast<uint64_t>(s);
                 },
                 8});
  return all;
}

// Random words and, for every type, words that are edges of something.
Bytes operands(uint32_t seed) {
  std::vector<uint16_t> v = random_words<uint16_t>(kBytes / 2, seed);
  const uint16_t edges[] = {0, 0x8000, 0x7FFF, 0xFFFF, 0x7C00, 0xFC00, 0x7F80,
                            0xFF80, 1, 0x8001, 0x3C00, 0xBC00, 0x3F80};
  for (size_t i = 0; i < 200; ++i) v[i] = edges[(i * 7 + seed * 5 + i / 13) % 13];
  for (size_t i = 200; i < 300; ++i) v[i] = i % 4 == seed % 4 ? v[i] : 0;
  return to_bytes(v);
}

Bytes reduced(const Reduction& r, Bytes memory, const Bytes& operand, size_t bytes) {
  for (size_t at = 0; at < bytes; at += r.bytes) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, memory.data() + at, r.bytes);
    std::memcpy(&b, operand.data() + at, r.bytes);
    const uint64_t result = r.apply(a, b);
    std::memcpy(memory.data() + at, &result, r.bytes);
  }
  return memory;
}

TEST(BulkReduce, EveryOperationAndTypeIntoGlobalMemory) {
  for (const Reduction& r : all_reductions()) {
    AsyncCase c;
    c.buffers = {operands(1), operands(2)};
    c.body =
        load_smem("buf0", kBytes) +
        fmt::format("  @first cp.reduce.async.bulk.global.shared::cta.bulk_group.{}.{} [buf1], [smem], {};\n",
                    r.op, r.type, kBytes) +
        kCommitAndWait;
    EXPECT_EQ(run_everywhere(c).at(1), reduced(r, c.buffers[1], c.buffers[0], kBytes))
        << r.op << " " << r.type;
  }
}

TEST(BulkReduce, EveryOperationAndTypeIntoAnotherCta) {
  const std::vector<Reduction> all = integer_reductions();
  for (size_t i = 0; i < 12; ++i) {  // those of shared memory come first
    const Reduction& r = all[i];
    AsyncCase c;
    c.cluster = c.ctas = 2;
    c.buffers = {to_bytes(random_words<uint8_t>(2 * kBytes, 3)), Bytes(2 * kBytes)};
    c.body =
        load_smem("buf0", kBytes) + init_bar() +
        "  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n" + cluster_sync() +
        R"(
  xor.b32 %r1, rank, 1;
  mapa.shared::cluster.u32 %r2, smem, %r1;
  mapa.shared::cluster.u32 %r3, bar, %r1;
)" +
        fmt::format(
            "  @first cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{}.{} "
            "[%r2+512], [smem], 256, [%r3];\n",
            r.op, r.type) +
        wait_for("[bar]", 0) + cluster_sync() + dump_smem("buf1", kBytes);
    Bytes want = c.buffers[0];
    for (size_t rank : {0, 1}) {
      const Bytes to(c.buffers[0].begin() + static_cast<ptrdiff_t>(kBytes * rank + 512),
                     c.buffers[0].begin() + static_cast<ptrdiff_t>(kBytes * rank + 768));
      const Bytes from(c.buffers[0].begin() + static_cast<ptrdiff_t>(kBytes * (1 - rank)),
                       c.buffers[0].begin() + static_cast<ptrdiff_t>(kBytes * (1 - rank) + 256));
      const Bytes sum = reduced(r, to, from, 256);
      std::memcpy(want.data() + kBytes * rank + 512, sum.data(), 256);
    }
    EXPECT_EQ(run_everywhere(c).at(1), want) << r.op << " " << r.type;
  }
}

// The tensor form: the map has the type. Elements that share the last 16 bytes with a valid one are also
// reduced.
TEST(TensorReduce, EveryOperationAndType) {
  using isa::TensorType;
  const auto map_type = [](const std::string& t, uint64_t which) {
    if (t == "u32") return TensorType::u32;
    if (t == "s32") return TensorType::s32;
    if (t == "u64") return TensorType::u64;
    if (t == "s64") return TensorType::s64;
    if (t == "b32") return which % 2 == 0 ? TensorType::u32 : TensorType::s32;
    if (t == "b64") return TensorType::u64;
    return t == "f16" ? TensorType::f16 : t == "bf16" ? TensorType::bf16
                                                      : TensorType::f32;
  };
  uint64_t which = 0;
  for (const Reduction& r : all_reductions()) {
    if (r.type == "f64") continue;
    AsyncCase c;
    c.buffers = {operands(1), operands(2)};
    isa::TensorMapFields f;
    f.type = map_type(r.type, ++which);
    f.rank = 2;
    f.dim = {88 / r.bytes, 6, 1, 1, 1};  // 88 bytes: five and a half times 16
    f.stride[0] = 128;
    f.box = {128 / r.bytes, 4, 1, 1, 1};
    c.maps = {{f, 1}};
    const std::string op = r.op.substr(0, r.op.find('.'));
    c.body = load_smem("buf0", kBytes) +
             fmt::format(
                 "  @first cp.reduce.async.bulk.tensor.2d.global.shared::cta.{}.tile.bulk_group [map0, {{0, "
                 "3}}], [smem];\n",
                 op) +
             kCommitAndWait;
    Bytes want = c.buffers[1];
    for (size_t row = 0; row < 3; ++row) {  // the box's fourth row is outside
      const Bytes to(want.begin() + static_cast<ptrdiff_t>(128 * (row + 3)),
                     want.begin() + static_cast<ptrdiff_t>(128 * (row + 3) + 96));
      const Bytes from(c.buffers[0].begin() + static_cast<ptrdiff_t>(128 * row),
                       c.buffers[0].begin() + static_cast<ptrdiff_t>(128 * row + 96));
      const Bytes sum = reduced(r, to, from, 96);
      std::memcpy(want.data() + 128 * (row + 3), sum.data(), 96);
    }
    EXPECT_EQ(run_everywhere(c).at(1), want) << r.op << " " << r.type;
  }
}

TEST(TensorReduce, RefusesTypesWithoutTheOperation) {
  using isa::TensorType;
  for (const auto& [type, op] : {std::pair{TensorType::u8, "add"},
                                 {TensorType::s64, "add"},
                                 {TensorType::s64, "and"},
                                 {TensorType::f32, "min"},
                                 {TensorType::f64, "add"},
                                 {TensorType::f16, "and"},
                                 {TensorType::s32, "inc"}}) {
    AsyncCase c;
    c.buffers = {operands(1), operands(2)};
    isa::TensorMapFields f;
    f.type = type;
    f.rank = 1;
    f.dim = {16, 1, 1, 1, 1};
    f.box = {16, 1, 1, 1, 1};
    c.maps = {{f, 1}};
    c.body = load_smem("buf0", kBytes) +
             fmt::format(
                 "  @first cp.reduce.async.bulk.tensor.1d.global.shared::cta.{}.tile.bulk_group [map0, "
                 "{{0}}], [smem];\n",
                 op) +
             kCommitAndWait;
    expect_fault(c, Code::F3308);
  }
}

// If every CTA adds 1, the result is the number of CTAs, for any order.
TEST(BulkReduce, ElementsAreAtomicAcrossCtas) {
  AsyncCase c;
  c.ctas = 24;
  c.buffers = {to_bytes(std::vector<uint32_t>(256, 1)), to_bytes(std::vector<uint32_t>(256, 0))};
  c.body =
      load_smem("buf0", kBytes) +
      fmt::format("  @first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [buf1], [smem], {};\n",
                  kBytes) +
      kCommitAndWait;
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(1)), std::vector<uint32_t>(256, 24));
}

// ---- the rest

TEST(BulkPrefetch, ChecksTheRangeAndChangesNothing) {
  AsyncCase c;
  c.buffers = {random_bytes(kBytes, 1)};
  c.body = R"(
  mov.u32 %r1, 512;
  cp.async.bulk.prefetch.L2.global [buf0+512], %r1;
)";
  EXPECT_EQ(run_everywhere(c).at(0), c.buffers[0]);
  c.body = R"(
  mov.u32 %r1, 528;
  cp.async.bulk.prefetch.L2.global [buf0+512], %r1;
)";
  expect_fault(c, Code::F3001);
}

TEST(StBulk, ZeroesARange) {
  AsyncCase c;
  c.buffers = {Bytes(kBytes)};
  c.body = fill_smem(kBytes) + R"(
  mov.u64 %rd1, 88;
  @first st.bulk.weak.shared::cta [smem+8], %rd1, 0;
  mov.u32 %r1, smem;
  cvt.u64.u32 %rd2, %r1;
  cvta.shared.u64 %rd2, %rd2;
  @first st.bulk [%rd2+512], 16, 0;
  bar.sync 0;
)" + dump_smem("buf0", kBytes);
  Bytes want(kBytes, kSmemFill);
  std::fill_n(want.begin() + 8, 88, uint8_t{0});
  std::fill_n(want.begin() + 512, 16, uint8_t{0});
  EXPECT_EQ(run_everywhere(c).at(0), want);
  c.body = R"(
  mov.u64 %rd1, 12;
  st.bulk.weak.shared::cta [smem], %rd1, 0;
)";
  expect_fault(c, Code::F3310);
  c.body = R"(
  mov.u64 %rd1, 65544;
  st.bulk.weak.shared::cta [smem], %rd1, 0;
)";
  expect_fault(c, Code::F3001);
}

TEST(BulkFaults, AreReportedUnderEveryDriver) {
  AsyncCase c;
  c.cluster = c.ctas = 2;
  c.buffers = {Bytes(kBytes)};
  const auto fault = [&](const std::string& text, Code code) {
    c.body = init_bar() + cluster_sync() + text + kCommitAndWait + R"(
  mov.u32 %r31, 0;
  LATER: add.u32 %r31, %r31, 1;
  setp.lt.u32 %p31, %r31, 100;
  @%p31 bra LATER;
)" + cluster_sync();
    expect_fault(c, code);
  };
  fault(
      "  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0+8], 16, [bar];\n",
      Code::F3310);
  fault(
      "  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0+1008], 32, "
      "[bar];\n",
      Code::F3306);
  fault(R"(
  mov.u32 %r1, smem;
  add.u32 %r1, %r1, 65536;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [buf0], 32, [bar];
)",
        Code::F3307);
  fault(R"(
  mov.u32 %r1, smem;
  add.u32 %r1, %r1, 65536;
  @first cp.async.bulk.global.shared::cta.bulk_group [buf0], [%r1], 32;
)",
        Code::F3307);
  fault(R"(
  mov.u32 %r1, smem;
  mov.u32 %r2, bar;
  @first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1+64], [smem], 32, [%r2];
)",
        Code::F3311);
  fault(R"(
  mapa.shared::cluster.u32 %r1, smem, 1;
  mov.u32 %r2, bar;
  @leader cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1+64], [smem], 32, [%r2];
)",
        Code::F3309);
  fault(R"(
  mov.b16 %h1, 8;
  @leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem], [buf0], 128, [bar], %h1;
)",
        Code::F3503);
  fault(R"(
  mov.b16 %h1, 0;
  @leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem], [buf0], 128, [bar], %h1;
)",
        Code::F3503);
}

TEST(BulkLegality, AgreesWithPtxas) {
  const std::string reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group.",
                    remote = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.";
  expect_illegal("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 8, [%r3]",
                 Code::E1365);
  expect_illegal("st.bulk.weak.shared::cta [%r1], 7, 0", Code::E1365);
  expect_illegal(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], %r2, "
      "[%r3], %h1",
      Code::E1363);
  expect_illegal("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], %r4, %h1", Code::E1210,
                 "sm_90a");
  expect_illegal("st.bulk.weak.shared::cta [%r1], 64, 0", Code::E1210, "sm_90a");
  expect_illegal("st.bulk.weak.shared::cta [%r1], 64, 1", Code::E1368);
  for (const char* form :
       {"add.s64", "max.f32", "inc.s32", "inc.u64", "and.s32", "add.b32", "min.f64", "or.f16"})
    expect_illegal(reduce + form + " [%rd1], [%r2], %r3", Code::E1366);
  for (const char* form : {"max.u64", "inc.s32", "add.b32", "and.u32"})
    expect_illegal(remote + form + " [%r1], [%r2], %r3, [%r4]", Code::E1366);
  for (const char* form : {"add.f32", "and.b64", "min.s64"})
    expect_illegal(remote + form + " [%r1], [%r2], %r3, [%r4]", Code::E1101);
  for (const char* form : {"add.f16", "min.noftz.bf16", "add.noftz.f32"})
    expect_illegal(reduce + form + " [%rd1], [%r2], %r3", Code::E1367);
  expect_legal(
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], [%r2], %r4, %rd2, %h1",
      "sm_100");
  expect_legal(
      reduce.substr(0, reduce.size() - 1) + ".L2::cache_hint.add.noftz.bf16 [%rd1], [%r2], %r3, %rd3",
      "sm_90a");
  expect_legal("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], %r4, %rd2", "sm_90a");
}

}  // namespace
}  // namespace drywell::test
