// Products of matrices in a warp's registers (PTX ISA 9.7.14.5): integers of any value, and floating-point values that are
// small integers, whose sums are exact in every format and order.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/conformance/families.h"

namespace drywell::kernels::conformance {
namespace {

using In = std::span<const std::array<uint64_t, 32>>;
using Out = std::span<std::array<uint64_t, 32>>;

/// An element type: integers have no exponent.
struct Type {
  const char* name;
  unsigned bits;
  unsigned exponent = 0, fraction = 0;
  char letter = 'w';  // of the registers that hold it
  bool is_signed = true;
  bool is_float() const { return exponent != 0; }
  unsigned register_bits() const { return bits == 64 ? 64 : 32; }
  unsigned per_register() const { return register_bits() / bits; }
};
constexpr Type kF16{"f16", 16, 5, 10}, kBf16{"bf16", 16, 8, 7}, kTf32{"tf32", 32, 8, 23}, kF32{"f32", 32, 8, 23, 'f'}, kF64{"f64", 64, 11, 52, 'g'}, kE4m3{"e4m3", 8, 4, 3},
    kE5m2{"e5m2", 8, 5, 2}, kS32{"s32", 32}, kS8{"s8", 8}, kU8{"u8", 8, 0, 0, 'w', false}, kS4{"s4", 4}, kU4{"u4", 4, 0, 0, 'w', false}, kB1{"b1", 1, 0, 0, 'w', false};

constexpr uint64_t low_bits(unsigned n) { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

uint64_t encode(const Type& t, int64_t v) {
  if (!t.is_float()) return static_cast<uint64_t>(v) & low_bits(t.bits);
  if (v == 0) return 0;
  const auto magnitude = static_cast<uint64_t>(std::abs(v));
  const unsigned top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const uint64_t bias = (uint64_t{1} << (t.exponent - 1)) - 1, tail = magnitude ^ uint64_t{1} << top;
  return uint64_t{v < 0} << (t.exponent + t.fraction) | (bias + top) << t.fraction | (t.fraction >= top ? tail << (t.fraction - top) : tail >> (top - t.fraction));
}

constexpr int64_t kLargest = 3;

int64_t decode(const Type& t, uint64_t code) {
  if (!t.is_float()) return t.is_signed ? static_cast<int64_t>(code << (64 - t.bits)) >> (64 - t.bits) : static_cast<int64_t>(code);
  for (int64_t v = -kLargest; v <= kLargest; ++v) {
    if (encode(t, v) == code) return v;
  }
  throw InternalError("not a small integer");
}

/// A register's content with each element made a small integer, if it is of floating point.
uint64_t small_integers(const Type& t, uint64_t word) {
  if (!t.is_float()) return word;
  uint64_t r = 0;
  for (unsigned at = 0; at < t.register_bits(); at += t.bits) {
    const uint64_t raw = word >> at & low_bits(t.bits);
    r |= encode(t, static_cast<int64_t>((raw * 0x9E3779B97F4A7C15ull >> 40) % (2 * kLargest + 1)) - kLargest) << at;
  }
  return r;
}

/// A matrix spread over a warp: which registers hold it and where each element lies.
struct Fragment {
  Type type;
  unsigned first, elements;  // first register among the operands; elements a lane
  unsigned registers() const { return elements / type.per_register(); }
  std::string signature() const { return "{" + std::string(registers(), type.letter) + "}"; }
  int64_t get(In in, unsigned lane, unsigned i) const {
    const unsigned per = type.per_register();
    return decode(type, in[first + i / per][lane] >> (i % per * type.bits) & low_bits(type.bits));
  }
};

struct Place {
  unsigned row, column;
};

struct Form {
  unsigned m, n, k;
  Type d, a, b;
  const char* extra = "";  // before the types; of single bits behind them

  std::string op() const {
    const bool bits = a.bits == 1;
    return fmt::format("mma.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{}{}", m, n, k, bits ? "" : extra, d.name, a.name, b.name, d.name, bits ? extra : "");
  }
  Fragment fragment_a() const { return {a, 0, m * k / 32}; }
  Fragment fragment_b() const { return {b, fragment_a().registers(), n * k / 32}; }
  Fragment fragment_c() const { return {d, fragment_b().first + fragment_b().registers(), m * n / 32}; }
  std::string operands() const {
    const std::string cd = fragment_c().signature();
    return cd + "=" + fragment_a().signature() + fragment_b().signature() + cd;
  }
  // Neighbours along k share a register; the next register is 8 rows down, then four lanes' worth of k on (9.7.14.5.2-13).
  Place place_a(unsigned lane, unsigned i) const {
    const unsigned per = a.per_register(), rows = m / 8;
    return {lane / 4 + 8 * (i / per % rows), lane % 4 * per + i % per + i / (per * rows) * 4 * per};
  }
  Place place_b(unsigned lane, unsigned i) const {
    const unsigned per = b.per_register();
    return {lane % 4 * per + i % per + i / per * 4 * per, lane / 4};
  }
  static Place place_c(unsigned lane, unsigned i) { return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

  int64_t product(int64_t x, int64_t y) const {
    if (a.bits != 1) return x * y;
    return std::string_view(extra) == ".xor.popc" ? x ^ y : x & y;
  }
  // Integer sums wrap without .satfinite.
  uint64_t result(int64_t sum) const {
    if (std::string_view(extra) == ".satfinite") sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return encode(d, sum);
  }
};

void expect(const Form& f, In in, Out out) {
  std::vector<int64_t> a(f.m * f.k), b(f.k * f.n);
  const Fragment fa = f.fragment_a(), fb = f.fragment_b(), fc = f.fragment_c();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < fa.elements; ++i) a[f.place_a(lane, i).row * f.k + f.place_a(lane, i).column] = fa.get(in, lane, i);
    for (unsigned i = 0; i < fb.elements; ++i) b[f.place_b(lane, i).row * f.n + f.place_b(lane, i).column] = fb.get(in, lane, i);
  }
  const unsigned per = f.d.per_register();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned r = 0; r < fc.registers(); ++r) out[r][lane] = 0;
    for (unsigned i = 0; i < fc.elements; ++i) {
      const Place at = f.place_c(lane, i);
      int64_t sum = fc.get(in, lane, i);
      for (unsigned k = 0; k < f.k; ++k) sum += f.product(a[at.row * f.k + k], b[k * f.n + at.column]);
      out[i / per][lane] |= f.result(sum) << (i % per * f.d.bits);
    }
  }
}

void add(std::vector<ProgramSpec>& out, const Form& f) {
  LaneForm form;
  form.op = f.op();
  form.operands = f.operands();
  form.prepare = [f](uint64_t* in) {
    for (const Fragment& x : {f.fragment_a(), f.fragment_b(), f.fragment_c()}) {
      for (unsigned r = 0; r < x.registers(); ++r) in[x.first + r] = small_integers(x.type, in[x.first + r]);
    }
  };
  form.expect_warp = [f](In in, Out o) { expect(f, in, o); };
  out.push_back(lane_program("mma_sync", std::move(form)));
}

void floats(std::vector<ProgramSpec>& out) {
  for (const unsigned k : {8u, 16u}) {
    for (const Type& d : {kF16, kF32}) add(out, {16, 8, k, d, kF16, kF16});
    add(out, {16, 8, k, kF32, kBf16, kBf16});
    add(out, {16, 8, k / 2, kF32, kTf32, kTf32});
  }
  for (const Type& a : {kE4m3, kE5m2}) {
    for (const Type& b : {kE4m3, kE5m2}) {
      for (const Type& d : {kF16, kF32}) {
        for (const unsigned k : {16u, 32u}) add(out, {16, 8, k, d, a, b});
      }
    }
  }
  add(out, {8, 8, 4, kF64, kF64, kF64});
  for (const unsigned k : {4u, 8u, 16u}) add(out, {16, 8, k, kF64, kF64, kF64});
}

void integers(std::vector<ProgramSpec>& out) {
  for (const auto& [s, u] : {std::pair{kS8, kU8}, std::pair{kS4, kU4}}) {
    const unsigned k = 128 / s.bits;
    for (const Type& a : {s, u}) {
      for (const Type& b : {s, u}) {
        for (const char* saturate : {"", ".satfinite"}) {
          add(out, {8, 8, k, kS32, a, b, saturate});
          for (const unsigned wide : {k, 2 * k}) add(out, {16, 8, wide, kS32, a, b, saturate});
        }
      }
    }
  }
  for (const char* op : {".xor.popc", ".and.popc"}) {
    add(out, {8, 8, 128, kS32, kB1, kB1, op});
    for (const unsigned k : {128u, 256u}) add(out, {16, 8, k, kS32, kB1, kB1, op});
  }
}

}  // namespace

void add_mma_sync(std::vector<ProgramSpec>& out) {
  floats(out);
  integers(out);
}

}  // namespace drywell::kernels::conformance
