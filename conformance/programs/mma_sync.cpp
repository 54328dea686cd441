// Products of dense matrices in a warp's registers (PTX ISA 9.7.14.5).
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/families.h"
#include "conformance/programs/mma_fragment.h"

namespace drywell::kernels::conformance {
namespace {

struct Form {
  unsigned m, n, k;
  ElementType d, a, b;
  const char* extra = "";  // before the types; for single-bit types after them

  std::string op() const {
    const bool bits = a.bits == 1;
    return fmt::format("mma.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{}{}", m, n, k, bits ? "" : extra, d.name, a.name, b.name, d.name, bits ? extra : "");
  }
  Fragment fragment_a() const { return {a, 0, m * k / 32}; }
  Fragment fragment_b() const { return {b, fragment_a().end(), n * k / 32}; }
  Fragment fragment_c() const { return {d, fragment_b().end(), m * n / 32}; }
  std::string operands() const {
    const std::string cd = fragment_c().signature();
    return cd + "=" + fragment_a().signature() + fragment_b().signature() + cd;
  }
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

void expect(const Form& f, WarpIn in, WarpOut out) {
  std::vector<int64_t> a(f.m * f.k), b(f.k * f.n);
  const Fragment fa = f.fragment_a(), fb = f.fragment_b(), fc = f.fragment_c();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < fa.elements; ++i) {
      const Place at = place_a(f.a, f.m, lane, i);
      a[at.row * f.k + at.column] = fa.get(in, lane, i);
    }
    for (unsigned i = 0; i < fb.elements; ++i) {
      const Place at = place_b(f.b, lane, i);
      b[at.row * f.n + at.column] = fb.get(in, lane, i);
    }
  }
  const unsigned per = f.d.per_register();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned r = 0; r < fc.registers(); ++r) out[r][lane] = 0;
    for (unsigned i = 0; i < fc.elements; ++i) {
      const Place at = place_c(lane, i);
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
    for (const Fragment& x : {f.fragment_a(), f.fragment_b(), f.fragment_c()}) x.prepare(in);
  };
  form.expect_warp = [f](WarpIn in, WarpOut o) { expect(f, in, o); };
  out.push_back(lane_program("mma_sync", std::move(form)));
}

void floats(std::vector<ProgramSpec>& out) {
  for (const unsigned k : {8u, 16u}) {
    for (const ElementType& d : {kF16, kF32}) add(out, {16, 8, k, d, kF16, kF16});
    add(out, {16, 8, k, kF32, kBf16, kBf16});
    add(out, {16, 8, k / 2, kF32, kTf32, kTf32});
  }
  for (const ElementType& a : {kE4m3, kE5m2}) {
    for (const ElementType& b : {kE4m3, kE5m2}) {
      for (const ElementType& d : {kF16, kF32}) {
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
    for (const ElementType& a : {s, u}) {
      for (const ElementType& b : {s, u}) {
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
