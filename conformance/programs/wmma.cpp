// wmma: PTX does not specify the layout of fragments, so matrices go from memory through fragments to memory (PTX ISA
// 9.7.14.4). Values are small integers, exact in every format.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/families.h"
#include "conformance/programs/mma_fragment.h"
#include "drywell/isa/builder.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::conformance {
namespace {

using namespace isa;

/// A matrix in global memory, by rows or columns, lines padded.
struct Matrix {
  unsigned rows, columns;
  ElementType type;
  bool by_rows;
  unsigned padding() const { return type.bits < 8 ? 128 / type.bits : 16; }
  unsigned stride() const { return (by_rows ? columns : rows) + padding(); }
  unsigned bytes() const { return stride() * (by_rows ? rows : columns) * type.bits / 8; }
  const char* layout() const { return by_rows ? "row" : "col"; }
  // Operands of halves repeat their elements (9.7.14.4.1): eight registers in every shape.
  unsigned registers(bool multiplicand) const { return multiplicand && type.bits == 16 && type.exponent == 5 ? 8 : rows * columns / 32 * type.bits / type.register_bits(); }
  void put(std::vector<uint8_t>& image, unsigned row, unsigned column, int64_t v) const {
    const unsigned at = (by_rows ? row * stride() + column : column * stride() + row) * type.bits;
    const uint64_t code = encode(type, v);
    for (unsigned bit = 0; bit < type.bits; ++bit) {
      uint8_t& byte = image[(at + bit) / 8];
      const auto mask = static_cast<uint8_t>(1u << ((at + bit) % 8));
      byte = static_cast<uint8_t>((code >> bit & 1) != 0 ? byte | mask : byte & ~mask);
    }
  }
};

struct Form {
  unsigned m, n, k;
  ElementType ab, cd;
  bool a_rows, b_rows, cd_rows;
  const char* bit_operation = "";  // of kB1: "xor", "and"
  Matrix a() const { return {m, k, ab, a_rows}; }
  Matrix b() const { return {k, n, ab, b_rows}; }
  Matrix c() const { return {m, n, cd, cd_rows}; }
  std::string shape() const { return fmt::format("m{}n{}k{}", m, n, k); }
  std::string product() const {
    const std::string types = ab.exponent == 5 ? fmt::format("{}.{}", cd.name, cd.name) : fmt::format("{}.{}.{}.{}", cd.name, ab.name, ab.name, cd.name);
    const std::string operation = *bit_operation != 0 ? fmt::format(".{}.popc", bit_operation) : "";
    return fmt::format("wmma.mma{}.sync.aligned.{}.{}.{}.{}", operation, a().layout(), b().layout(), shape(), types);
  }
  /// What a pair of elements adds to a sum.
  int64_t term(int64_t x, int64_t y) const { return *bit_operation == 'x' ? x ^ y : x * y; }
};

Mod register_type(const ElementType& t) { return t.letter == 'f' ? Mod::f32 : t.letter == 'g' ? Mod::f64
                                                                                              : Mod::b32; }

class WmmaKernel {
 public:
  WmmaKernel(const Form& f, Target target) : k_("wmma", target), f_(f) {}

  Module build() {
    std::array<Symbol, 4> params;
    for (size_t i = 0; i < params.size(); ++i) params[i] = k_.param(Mod::u64, fmt::format("matrix{}", i));
    const Arg a = load("a", params[0], f_.a(), true), b = load("b", params[1], f_.b(), true), c = load("c", params[2], f_.c(), false);
    const Arg d = fragment(f_.c(), false);
    k_.emit(OpText(f_.product()), {d, a, b, c});
    k_.emit(OpText(fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{}", f_.c().layout(), f_.shape(), f_.cd.name)), {mem(k_.load_param(params[3], Mod::u64)), d, f_.c().stride()});
    return k_.finish();
  }

 private:
  Arg fragment(const Matrix& m, bool multiplicand) {
    Arg v({});
    for (unsigned i = 0; i < m.registers(multiplicand); ++i) v.parts.push_back(k_.reg(register_type(m.type)));
    return v;
  }
  Arg load(const char* which, Symbol param, const Matrix& m, bool multiplicand) {
    Arg v = fragment(m, multiplicand);
    k_.emit(OpText(fmt::format("wmma.load.{}.sync.aligned.{}.{}.global.{}", which, m.layout(), f_.shape(), m.type.name)), {v, mem(k_.load_param(param, Mod::u64)), m.stride()});
    return v;
  }

  KernelBuilder k_;
  const Form& f_;
};

std::vector<int64_t> values(const Matrix& m, uint64_t seed) {
  std::vector<int64_t> v(m.rows * m.columns);
  const int64_t count = m.type.bits == 1 ? 2 : 7;
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<int64_t>(random_word(seed, i) >> 40) % count - (m.type.is_signed ? 3 : 0);
  return v;
}

ProgramBuffer buffer(const Matrix& m, const std::vector<int64_t>& v) {
  ProgramBuffer b;
  b.initial.assign(m.bytes(), 0x5A);
  for (unsigned r = 0; r < m.rows; ++r) {
    for (unsigned c = 0; c < m.columns; ++c) m.put(b.initial, r, c, v[r * m.columns + c]);
  }
  return b;
}

Program make(const Form& f, Target target) {
  Program p;
  p.module = WmmaKernel(f, target).build();
  p.launch = {.grid = {1}, .block = {32}};
  const std::vector<int64_t> a = values(f.a(), 1), b = values(f.b(), 2), c = values(f.c(), 3);
  ProgramBuffer d;
  d.initial.assign(f.c().bytes(), 0xEE);
  d.expected = d.initial;  // the padding is unchanged
  for (unsigned i = 0; i < f.m; ++i) {
    for (unsigned j = 0; j < f.n; ++j) {
      int64_t sum = c[i * f.n + j];
      for (unsigned x = 0; x < f.k; ++x) sum += f.term(a[i * f.k + x], b[x * f.n + j]);
      f.c().put(d.expected, i, j, sum);
    }
  }
  p.buffers = {buffer(f.a(), a), buffer(f.b(), b), buffer(f.c(), c), std::move(d)};
  return p;
}

void add(std::vector<ProgramSpec>& out, const Form& f) {
  out.push_back({fmt::format("{}/{}", f.product(), f.c().layout()), "wmma", [f](Target t) { return make(f, t); }});
}

}  // namespace

void add_wmma(std::vector<ProgramSpec>& out) {
  for (const bool cd_rows : {false, true}) {
    for (const auto& [m, n] : {std::pair{16u, 16u}, std::pair{32u, 8u}, std::pair{8u, 32u}}) {
      for (const bool a_rows : {false, true}) {
        for (const bool b_rows : {false, true}) {
          for (const ElementType& cd : {kF16, kF32}) add(out, {m, n, 16, kF16, cd, a_rows, b_rows, cd_rows});
          add(out, {m, n, 16, kBf16, kF32, a_rows, b_rows, cd_rows});
          for (const ElementType& ab : {kS8, kU8}) add(out, {m, n, 16, ab, kS32, a_rows, b_rows, cd_rows});
        }
      }
    }
    for (const bool a_rows : {false, true}) {
      for (const bool b_rows : {false, true}) add(out, {16, 16, 8, kTf32, kF32, a_rows, b_rows, cd_rows});
    }
    for (const bool a_rows : {false, true}) {
      for (const bool b_rows : {false, true}) add(out, {8, 8, 4, kF64, kF64, a_rows, b_rows, cd_rows});
    }
    for (const char* operation : {"xor", "and"}) add(out, {8, 8, 128, kB1, kS32, true, false, cd_rows, operation});
    for (const ElementType& ab : {kS4, kU4}) add(out, {8, 8, 32, ab, kS32, true, false, cd_rows});
  }
}

}  // namespace drywell::kernels::conformance
