// mma.sp: A keeps two of four elements, and metadata selects them (PTX ISA 9.7.14.6). The place of each metadata nibble was
// measured on an H100.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/families.h"
#include "conformance/programs/mma_fragment.h"

namespace drywell::kernels::conformance {
namespace {

constexpr unsigned kM = 16, kN = 8;

struct Form {
  unsigned k;
  ElementType d, a, b;
  unsigned selector;
  const char* variant = "sp";
  const char* saturate = "";

  std::string op() const { return fmt::format("mma.{}.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{}", variant, kM, kN, k, saturate, d.name, a.name, b.name, d.name); }
  Fragment fragment_a() const { return {a, 0, kM * k / 2 / 32}; }
  Fragment fragment_b() const { return {b, fragment_a().end(), kN * k / 32}; }
  Fragment fragment_c() const { return {d, fragment_b().end(), kM * kN / 32}; }
  unsigned metadata() const { return fragment_c().end(); }
  std::string operands() const {
    const std::string cd = fragment_c().signature();
    return cd + "=" + fragment_a().signature() + fragment_b().signature() + cd + fmt::format("w#{}", selector);
  }
  // One nibble of metadata per group: 4 elements, of which 2 are kept; 2 elements of 32 bits; 4 pairs of 4 bits.
  unsigned dense() const { return a.bits == 32 ? 2 : a.bits == 4 ? 8
                                                                 : 4; }
  bool one_word_of_lanes() const { return k * a.bits == 256; }
};

// 16- and 32-bit types have rows r and r + 8 in the halves of one word; narrower types have 8 groups of one row in a word,
// with rows r and r + 8 in adjacent lanes.
uint64_t nibble(const Form& f, WarpIn in, unsigned row, unsigned group) {
  const bool few = f.one_word_of_lanes();
  const unsigned first = row % 8 * 4;
  if (f.a.bits >= 16) return in[f.metadata()][first + (few ? f.selector : 2 * f.selector + group / 4)] >> (16 * (row / 8) + 4 * (group % 4)) & 15;
  return in[f.metadata()][first + row / 8 + 2 * (few ? f.selector : group / 8)] >> (4 * (group % 8)) & 15;
}

// Returns the index along the dense k of stored element s of a row.
unsigned dense_place(const Form& f, WarpIn in, unsigned row, unsigned s) {
  const unsigned kept = f.dense() / 2;
  const uint64_t n = nibble(f, in, row, s / kept);
  const unsigned first = n & 3, second = n >> 2 & 3, base = s / kept * f.dense();
  if (f.a.bits == 32) return base + first / 2;
  if (f.a.bits == 4) return base + 2 * (s % 4 < 2 ? first : second) + s % 2;
  return base + (s % 2 == 0 ? first : second);
}

// Replaces nibbles by those that PTX allows: two increasing indices; for 32-bit elements both halves of one.
uint64_t valid_metadata(const Form& f, uint64_t word) {
  static constexpr uint64_t kPairs[] = {0x4, 0xE, 0x8, 0xC, 0x9, 0xD};
  uint64_t r = 0;
  for (unsigned at = 0; at < 32; at += 4) r |= kPairs[(word >> at & 15) % (f.a.bits == 32 ? 2 : 6)] << at;
  return r;
}

void expect(const Form& f, WarpIn in, WarpOut out) {
  const Fragment fa = f.fragment_a(), fb = f.fragment_b(), fc = f.fragment_c();
  std::vector<int64_t> a(kM * f.k), b(f.k * kN);  // A as a dense matrix
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < fa.elements; ++i) {
      const Place at = place_a(f.a, kM, lane, i);
      a[at.row * f.k + dense_place(f, in, at.row, at.column)] = fa.get(in, lane, i);
    }
    for (unsigned i = 0; i < fb.elements; ++i) {
      const Place at = place_b(f.b, lane, i);
      b[at.row * kN + at.column] = fb.get(in, lane, i);
    }
  }
  const unsigned per = f.d.per_register();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned r = 0; r < fc.registers(); ++r) out[r][lane] = 0;
    for (unsigned i = 0; i < fc.elements; ++i) {
      const Place at = place_c(lane, i);
      int64_t sum = fc.get(in, lane, i);
      for (unsigned k = 0; k < f.k; ++k) sum += a[at.row * f.k + k] * b[k * kN + at.column];
      if (*f.saturate != 0) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      out[i / per][lane] |= encode(f.d, sum) << (i % per * f.d.bits);
    }
  }
}

void add(std::vector<ProgramSpec>& out, Form f) {
  // The selector names the lanes whose metadata is read: one or two of four, or a pair of them.
  const unsigned selectors = f.a.bits >= 16 ? (f.one_word_of_lanes() ? 4 : 2) : f.one_word_of_lanes() ? 2
                                                                                                      : 1;
  for (const char* variant : {"sp", "sp::ordered_metadata"}) {
    for (unsigned s = 0; s < selectors; ++s) {
      f.variant = variant;
      f.selector = s;
      LaneForm form;
      form.op = f.op();
      form.operands = f.operands();
      form.name = fmt::format("{}/selector{}", form.op, s);
      form.prepare = [f](uint64_t* in) {
        for (const Fragment& x : {f.fragment_a(), f.fragment_b(), f.fragment_c()}) x.prepare(in);
        in[f.metadata()] = valid_metadata(f, in[f.metadata()]);
      };
      form.expect_warp = [f](WarpIn in, WarpOut o) { expect(f, in, o); };
      out.push_back(lane_program("mma_sp", std::move(form)));
    }
  }
}

}  // namespace

void add_mma_sp(std::vector<ProgramSpec>& out) {
  for (const unsigned k : {16u, 32u}) {
    for (const ElementType& d : {kF16, kF32}) add(out, {k, d, kF16, kF16, 0});
    add(out, {k, kF32, kBf16, kBf16, 0});
    add(out, {k / 2, kF32, kTf32, kTf32, 0});
  }
  for (const ElementType& a : {kE4m3, kE5m2}) {
    for (const ElementType& b : {kE4m3, kE5m2}) add(out, {64, kF32, a, b, 0});
  }
  for (const auto& [s, u] : {std::pair{kS8, kU8}, std::pair{kS4, kU4}}) {
    for (const unsigned k : {256 / s.bits, 512 / s.bits}) {
      for (const char* saturate : {"", ".satfinite"}) {
        for (const ElementType& a : {s, u}) {
          for (const ElementType& b : {s, u}) add(out, {k, kS32, a, b, 0, "", saturate});
        }
      }
    }
  }
}

}  // namespace drywell::kernels::conformance
