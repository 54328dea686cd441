// wgmma.mma_async of sm_90a, dense and sparse (PTX ISA 9.7.15): products of small integers, exact in every format, over types, widths,
// operand places, swizzles, transpositions; random 8-bit floats, whose sums Hopper truncates. Layouts are from 9.7.15.5.1.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "conformance/programs/families.h"
#include "conformance/programs/mma_fragment.h"
#include "drywell/isa/builder.h"
#include "drywell/kernels/reference_gemm.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::conformance {
namespace {

using namespace isa;

constexpr uint32_t kThreads = 128, kM = 64, kTileAlignment = 1024;

struct Form {
  uint32_t n;
  ElementType d, a, b;
  bool a_in_registers = false;
  uint32_t swizzle = 0;  // bytes: 0, 32, 64, 128
  bool trans_a = false, trans_b = false;
  bool negate_a = false, negate_b = false;
  bool accumulate = true;
  bool sparse = false;  // half of A is kept, and metadata selects it
  uint32_t selector = 0;
  bool codes = false;  // random codes of an 8-bit float instead of small integers: they show Hopper's 13 bits below the largest product

  uint32_t stored_k() const { return 256 / a.bits; }  // of A
  uint32_t k() const { return stored_k() * (sparse ? 2 : 1); }
  // One nibble of metadata per group: 4 elements, of which 2 are kept; of 32-bit elements 1 of 2.
  uint32_t group() const { return a.bits == 32 ? 2 : 4; }
  uint32_t d_registers() const { return n * d.bits / 64; }
  uint32_t a_registers() const { return a_in_registers ? 4 : 0; }
  uint32_t metadata() const { return d_registers() + a_registers(); }
  std::string op() const {
    return fmt::format("wgmma.mma_async{}.sync.aligned.m{}n{}k{}.{}.{}.{}{}", sparse ? ".sp" : "", kM, n, k(), d.name, a.name, b.name, a.bits == 1 ? ".and.popc" : "");
  }
  std::string name() const {
    return fmt::format("{}/{}.swizzle-{}{}{}{}{}{}{}", op(), a_in_registers ? "registers" : "shared", swizzle, trans_a ? ".trans-a" : "", trans_b ? ".trans-b" : "",
                       negate_a ? ".negate-a" : "", negate_b ? ".negate-b" : "", accumulate ? "" : ".overwrite", sparse ? fmt::format(".selector{}", selector) : "") +
           (codes ? ".codes" : "");
  }
};

/// An operand in shared memory: the address of byte k_byte of row (or column) mn, and its descriptor.
struct Tile {
  uint32_t base, mn, element_bytes, swizzle;
  bool transposed;  // mn-major; 16-bit elements
  uint32_t k_bytes = 32;

  uint32_t size() const {
    if (transposed) return swizzle == 0 ? mn / 8 * 256 : (mn * 2 + swizzle - 1) / swizzle * swizzle * 16;
    return mn * (swizzle == 0 ? k_bytes : swizzle);
  }
  uint32_t end() const { return (base + size() + kTileAlignment - 1) / kTileAlignment * kTileAlignment; }
  // Distance between core matrices along k, and between repeats of the swizzle along mn.
  uint32_t leading() const {
    if (!transposed) return swizzle == 0 ? 128 : 16;
    return swizzle == 0 ? mn / 8 * 128 : swizzle * 16;
  }
  uint32_t strided() const {
    if (!transposed) return 8 * (swizzle == 0 ? k_bytes : swizzle);
    return swizzle == 0 ? 128 : 8 * swizzle;
  }
  // Start, leading and stride byte offsets in units of 16 bytes; the kernel adds the address of shared memory.
  int64_t descriptor() const {
    const uint64_t mode = swizzle == 0 ? 0 : swizzle == 128 ? 1
                                         : swizzle == 64    ? 2
                                                            : 3;
    return static_cast<int64_t>(uint64_t{base} >> 4 | uint64_t{leading()} >> 4 << 16 | uint64_t{strided()} >> 4 << 32 | mode << 62);
  }
  uint32_t swizzled(uint32_t chunk, uint32_t line) const {
    return swizzle == 128 ? chunk ^ line % 8 : swizzle == 64 ? chunk ^ line / 2 % 4
                                                             : chunk ^ line / 4 % 2;
  }
  uint32_t place(uint32_t row, uint32_t k_byte) const {
    if (!transposed) {
      const uint32_t core = base + row / 8 * strided();
      if (swizzle == 0) return core + k_byte / 16 * leading() + row % 8 * 16 + k_byte % 16;
      return core + row % 8 * swizzle + swizzled(k_byte / 16, row % 8) * 16 + k_byte % 16;
    }
    const uint32_t k = k_byte / element_bytes, byte = row * element_bytes + k_byte % element_bytes;
    if (swizzle == 0) return base + row / 8 * strided() + k / 8 * leading() + k % 8 * 16 + byte % 16;
    return base + byte / swizzle * leading() + k / 8 * strided() + k % 8 * swizzle + swizzled(byte % swizzle / 16, k % 8) * 16 + byte % 16;
  }
};

Tile tile_a(const Form& f) { return {0, kM, std::max(1u, f.a.bits / 8), f.swizzle, f.trans_a}; }
Tile tile_b(const Form& f) { return {tile_a(f).end(), f.n, std::max(1u, f.b.bits / 8), f.swizzle, f.trans_b, f.sparse ? 64u : 32u}; }

class WgmmaKernel {
 public:
  WgmmaKernel(const Form& f, Target target) : k_("wgmma", target), f_(f) {}

  Module build() {
    const Symbol tiles = k_.param(Mod::u64, "tiles"), in = k_.param(Mod::u64, "in"), out = k_.param(Mod::u64, "out");
    const Symbol smem = k_.shared("smem", tile_b(f_).end(), kTileAlignment);
    tid_ = k_.def("mov.u32", SpecialReg::tid_x);
    const Reg shared = k_.def("mov.u32", smem);
    fill(tiles, shared);
    const Reg start = k_.def("shr.u64", k_.def("and.b64", k_.def("cvt.u64.u32", shared), 0x3FFFF), 4);
    const Reg a = k_.def("add.s64", start, static_cast<long>(tile_a(f_).descriptor())), b = k_.def("add.s64", start, static_cast<long>(tile_b(f_).descriptor()));
    const Reg from = thread_column(in), to = thread_column(out);
    const Arg d = load(from, 0, f_.d_registers(), f_.d.letter == 'f' ? Mod::f32 : Mod::b32);
    const Arg a_fragment = load(from, f_.d_registers(), f_.a_registers(), Mod::b32);
    if (f_.sparse) metadata_ = load(from, f_.metadata(), 1, Mod::b32).parts[0].reg;
    k_("wgmma.fence.sync.aligned");
    multiply(d, f_.a_in_registers ? a_fragment : Arg(a), b);
    k_("wgmma.commit_group.sync.aligned");
    k_("wgmma.wait_group.sync.aligned", 0);
    for (uint32_t r = 0; r < f_.d_registers(); ++r) k_("st.global.b32", mem(to, 4 * kThreads * r), d.parts[r]);
    return k_.finish();
  }

 private:
  void fill(Symbol tiles, Reg shared) {
    const Reg global = k_.load_param(tiles, Mod::u64);
    k_.for_range(tid_, tile_b(f_).end() / 4, kThreads, [&](Reg i) {
      const Reg word = k_.def("ld.global.b32", mem(k_.def("mad.wide.u32", i, 4, global)));
      k_("st.shared.b32", mem(k_.def("mad.lo.u32", i, 4, shared)), word);
    });
    k_("fence.proxy.async.shared::cta");
    k_("bar.sync", 0);
  }
  Reg thread_column(Symbol p) { return k_.def("mad.wide.u32", tid_, 4, k_.load_param(p, Mod::u64)); }
  Arg load(Reg from, uint32_t first, uint32_t count, Mod type) {
    Arg v({});
    for (uint32_t r = 0; r < count; ++r) {
      const Reg reg = k_.reg(type);
      k_("ld.global.b32", reg, mem(from, 4 * kThreads * (first + r)));
      v.parts.push_back(reg);
    }
    return v;
  }
  void multiply(const Arg& d, const Arg& a, Reg b) {
    std::vector<Arg> args = {d, a, b};
    if (f_.sparse) args.insert(args.end(), {metadata_, f_.selector});
    args.push_back(f_.accumulate ? 1 : 0);
    if (f_.a.is_float()) {
      args.push_back(f_.negate_a ? -1 : 1);
      args.push_back(f_.negate_b ? -1 : 1);
    }
    if (f_.a.bits == 16) {
      if (!f_.a_in_registers) args.push_back(f_.trans_a ? 1 : 0);
      args.push_back(f_.trans_b ? 1 : 0);
    }
    k_.emit(OpText(f_.op()), args);
  }

  KernelBuilder k_;
  const Form& f_;
  Reg tid_, metadata_;
};

// Returns finite codes of an 8-bit float.
std::vector<int64_t> random_codes(const ElementType& t, size_t count, uint64_t seed) {
  const int64_t first_not_finite = t.fraction == 2 ? 0x7C : 0x7F;  // e5m2, e4m3
  std::vector<int64_t> v(count);
  for (size_t i = 0; i < count; ++i) {
    const auto word = static_cast<int64_t>(random_word(seed, i) >> 40);
    v[i] = (word & 0x80) | (word >> 8) % first_not_finite;
  }
  return v;
}

std::vector<int64_t> values(const ElementType& t, size_t count, uint64_t seed) {
  std::vector<int64_t> v(count);
  for (size_t i = 0; i < count; ++i) {
    const auto word = static_cast<int64_t>(random_word(seed, i) >> 40);
    v[i] = t.bits == 1 ? word & 1 : word % 7 - (t.is_signed ? 3 : 0);
  }
  return v;
}

uint64_t code_of(const Form& f, const ElementType& t, int64_t v) { return f.codes ? static_cast<uint64_t>(v) : encode(t, v); }

void put(std::vector<uint8_t>& image, const Form& f, const Tile& tile, const ElementType& t, const std::vector<int64_t>& v, uint32_t k) {
  for (uint32_t row = 0; row < tile.mn; ++row) {
    for (uint32_t bit = 0; bit < k * t.bits; bit += std::min(8u, t.bits)) {
      const uint64_t code = code_of(f, t, v[row * k + bit / t.bits]) >> bit % t.bits & 0xFF;
      uint8_t& byte = image[tile.place(row, bit / 8)];
      byte = static_cast<uint8_t>(byte | code << bit % 8);
    }
  }
}

void put_word(std::vector<uint8_t>& image, uint32_t reg, uint32_t thread, uint64_t bits) {
  uint32_t word = 0;
  std::memcpy(&word, &image[4 * (reg * kThreads + thread)], 4);
  word |= static_cast<uint32_t>(bits);
  std::memcpy(&image[4 * (reg * kThreads + thread)], &word, 4);
}

/// Writes the accumulator's fragment (9.7.15.5.1.1.3): each warp has 16 rows, in the layout of mma.sync.
template <class F>
void put_accumulator(std::vector<uint8_t>& image, const Form& f, F value) {
  const uint32_t per = 32 / f.d.bits;
  for (uint32_t t = 0; t < kThreads; ++t) {
    for (uint32_t i = 0; i < f.n / 2; ++i) {
      const uint32_t row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
      put_word(image, i / per, t, value(row, column) << (i % per * f.d.bits));
    }
  }
}

// Writes A's fragment (9.7.15.5.1.1.1): that of mma.sync for a warp's 16 rows.
void put_a(std::vector<uint8_t>& image, const Form& f, const std::vector<int64_t>& a) {
  const uint32_t per = f.a.per_register();
  for (uint32_t t = 0; t < kThreads; ++t) {
    for (uint32_t i = 0; i < f.a_registers() * per; ++i) {
      const Place at = place_a(f.a, 16, t % 32, i);
      put_word(image, f.d_registers() + i / per, t, code_of(f, f.a, a[(t / 32 * 16 + at.row) * f.stored_k() + at.column]) << (i % per * f.a.bits));
    }
  }
}

// Returns the kept elements of a row, as two increasing places in each group (for 32-bit elements both halves of one).
std::vector<uint32_t> kept_pairs(const Form& f) {
  static constexpr uint32_t kPairs[] = {0x4, 0xE, 0x8, 0xC, 0x9, 0xD};
  std::vector<uint32_t> nibbles(kM * f.k() / f.group());
  for (size_t i = 0; i < nibbles.size(); ++i) nibbles[i] = kPairs[(random_word(4, i) >> 40) % (f.a.bits == 32 ? 2 : 6)];
  return nibbles;
}

// Writes a warp's metadata as in mma.sp of its 16 rows (9.7.15.5.2): for 16- and 32-bit elements in the two lanes that the selector
// names, rows r and r + 8 in the halves of a word; for 8-bit elements in all four lanes, rows r and r + 8 in adjacent lanes.
void put_metadata(std::vector<uint8_t>& image, const Form& f, const std::vector<uint32_t>& nibbles) {
  const uint32_t groups = f.k() / f.group();
  for (uint32_t row = 0; row < kM; ++row) {
    const uint32_t first = row / 16 * 32 + row % 8 * 4, lower = row % 16 / 8;
    for (uint32_t g = 0; g < groups; ++g) {
      const uint64_t nibble = nibbles[row * groups + g];
      if (f.a.bits >= 16) {
        put_word(image, f.metadata(), first + 2 * f.selector + g / 4, nibble << (16 * lower + 4 * (g % 4)));
      } else {
        put_word(image, f.metadata(), first + lower + 2 * (g / 8), nibble << 4 * (g % 8));
      }
    }
  }
}

// Returns the row of B (its k) for stored element `i` of A (counted over A's rows).
uint32_t place_in_b(const Form& f, uint32_t i, const std::vector<uint32_t>& nibbles) {
  if (!f.sparse) return i % f.stored_k();
  const uint32_t kept = f.group() / 2, groups = f.k() / f.group();
  const uint32_t row = i / f.stored_k(), g = i % f.stored_k() / kept, nibble = nibbles[row * groups + g];
  return g * f.group() + (f.a.bits == 32 ? (nibble & 3) / 2 : nibble >> (2 * (i % kept)) & 3);
}

/// The operands and the expected result.
struct Problem {
  const Form& f;
  std::vector<int64_t> a, b, c;
  std::vector<uint32_t> nibbles;

  explicit Problem(const Form& form)
      : f(form),
        a(form.codes ? random_codes(f.a, kM * f.stored_k(), 1) : values(f.a, kM * f.stored_k(), 1)),
        b(form.codes ? random_codes(f.b, f.n * f.k(), 2) : values(f.b, f.n * f.k(), 2)),
        c(values(f.d, kM * f.n, 3)),
        nibbles(kept_pairs(f)) {}

  uint64_t start(uint32_t row, uint32_t column) const { return encode(f.d, c[row * f.n + column]); }
  int64_t b_of(uint32_t i, uint32_t column) const { return b[column * f.k() + place_in_b(f, i, nibbles)]; }
  // Returns the codes of 64 x n sums.
  std::vector<uint64_t> sums() const {
    std::vector<uint64_t> out(kM * f.n);
    for (uint32_t row = 0; row < kM; ++row) {
      if (f.codes) {
        sum_codes(row, &out[row * f.n]);
        continue;
      }
      for (uint32_t column = 0; column < f.n; ++column) {
        int64_t sum = 0;
        for (uint32_t i = row * f.stored_k(); i < (row + 1) * f.stored_k(); ++i) sum += a[i] * b_of(i, column);
        out[row * f.n + column] = encode(f.d, (f.accumulate ? c[row * f.n + column] : 0) + (f.negate_a != f.negate_b ? -sum : sum));
      }
    }
    return out;
  }

 private:
  // Multiplies one row of A with the matching elements of B, one fused sum per column.
  void sum_codes(uint32_t row, uint64_t* out) const {
    const uint32_t stored = f.stored_k();
    std::vector<uint16_t> of_a(stored), of_b(stored * f.n);
    std::vector<float> from(f.n);
    for (uint32_t i = 0; i < stored; ++i) of_a[i] = static_cast<uint16_t>(a[row * stored + i]);
    for (uint32_t column = 0; column < f.n; ++column) {
      for (uint32_t i = 0; i < stored; ++i) of_b[column * stored + i] = static_cast<uint16_t>(b_of(row * stored + i, column));
      from[column] = static_cast<float>(c[row * f.n + column]);
    }
    const auto format = [](const ElementType& t) { return t.fraction == 2 ? reference::NumberFormat::e5m2 : reference::NumberFormat::e4m3; };
    const std::vector<float> d = reference::gemm_accumulators({.format = format(f.a), .rows = 1, .k = stored, .codes = of_a.data()},
                                                              {.format = format(f.b), .rows = f.n, .k = stored, .codes = of_b.data()}, reference::kHopperFp8, 1, from);
    for (uint32_t column = 0; column < f.n; ++column) out[column] = std::bit_cast<uint32_t>(d[column]);
  }
};

Program make(const Form& f, Target target) {
  Program p;
  p.module = WgmmaKernel(f, target).build();
  p.launch = {.grid = {1}, .block = {kThreads}};
  const Problem x(f);
  ProgramBuffer tiles, in, out;
  tiles.initial.resize(tile_b(f).end());
  put(tiles.initial, f, tile_a(f), f.a, x.a, f.stored_k());
  put(tiles.initial, f, tile_b(f), f.b, x.b, f.k());
  in.initial.resize(4 * kThreads * (f.metadata() + (f.sparse ? 1 : 0)));
  put_accumulator(in.initial, f, [&](uint32_t row, uint32_t column) { return x.start(row, column); });
  put_a(in.initial, f, x.a);
  if (f.sparse) put_metadata(in.initial, f, x.nibbles);
  out.initial.assign(4 * kThreads * f.d_registers(), 0xEE);
  out.expected.resize(out.initial.size());
  const std::vector<uint64_t> sums = x.sums();
  put_accumulator(out.expected, f, [&](uint32_t row, uint32_t column) { return sums[row * f.n + column]; });
  p.buffers = {std::move(tiles), std::move(in), std::move(out)};
  return p;
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const uint32_t n : {8u, 24u, 136u, 256u}) all.push_back({n, kF32, kF16, kF16});
  for (const uint32_t swizzle : {0u, 32u, 64u, 128u}) {
    for (const bool registers : {false, true}) {
      for (const bool trans_b : {false, true}) all.push_back({64, kF32, kBf16, kBf16, registers, swizzle, false, trans_b});
      all.push_back({64, kF16, kF16, kF16, registers, swizzle});
      all.push_back({32, kF32, kTf32, kTf32, registers, swizzle});
      all.push_back({48, kS32, kS8, kU8, registers, swizzle});
      all.push_back({64, kS32, kB1, kB1, registers, swizzle});
      for (const ElementType& a : {kE4m3, kE5m2}) {
        for (const ElementType& b : {kE4m3, kE5m2}) all.push_back({96, kF32, a, b, registers, swizzle});
      }
    }
    for (const bool trans_b : {false, true}) all.push_back({128, kF32, kF16, kF16, false, swizzle, true, trans_b});
  }
  for (const auto& [a, b] : {std::pair{kS8, kS8}, std::pair{kU8, kS8}, std::pair{kU8, kU8}}) all.push_back({32, kS32, a, b});
  for (const auto& [a, b] : {std::pair{kE4m3, kE4m3}, std::pair{kE4m3, kE5m2}, std::pair{kE5m2, kE5m2}}) {
    Form f{24, kF32, a, b};
    f.codes = true;
    all.push_back(f);
  }
  for (const bool registers : {false, true}) {
    all.push_back({32, kF32, kF16, kF16, registers, 128, false, false, true, false});
    all.push_back({32, kF32, kBf16, kBf16, registers, 128, false, false, true, true});
    all.push_back({32, kF16, kE5m2, kE5m2, registers, 128, false, false, false, true});
    all.push_back({32, kF32, kTf32, kTf32, registers, 128, false, false, false, false, false});
  }
  return all;
}

std::vector<Form> sparse_forms() {
  std::vector<Form> all;
  const auto add = [&](Form f) {
    f.sparse = true;
    for (f.selector = 0; f.selector < (f.a.bits >= 16 ? 2u : 1u); ++f.selector) all.push_back(f);
  };
  for (const uint32_t swizzle : {0u, 64u, 128u}) {  // a row of B has 64 bytes
    for (const bool registers : {false, true}) {
      add({16, kF32, kF16, kF16, registers, swizzle});
      add({64, kF16, kF16, kF16, registers, swizzle});
      add({136, kF32, kBf16, kBf16, registers, swizzle});
      add({32, kF32, kTf32, kTf32, registers, swizzle});
      add({24, kF32, kE4m3, kE5m2, registers, swizzle});
      add({64, kF16, kE5m2, kE4m3, registers, swizzle});
      add({48, kS32, kS8, kU8, registers, swizzle});
    }
    add({16, kS32, kU8, kS8, false, swizzle, false, false, false, false, false});
    add({136, kF32, kE5m2, kE5m2, true, swizzle, false, false, true, false});
  }
  for (const auto& [a, b] : {std::pair{kE4m3, kE4m3}, std::pair{kE4m3, kE5m2}, std::pair{kE5m2, kE5m2}}) {
    Form f{24, kF32, a, b, true};
    f.codes = true;
    add(f);
  }
  return all;
}

}  // namespace

void add_wgmma(std::vector<ProgramSpec>& out) {
  for (const std::vector<Form>& all : {forms(), sparse_forms()}) {
    for (const Form& f : all) out.push_back({f.name(), "wgmma", [f](Target t) { return make(f, t); }});
  }
}

}  // namespace drywell::kernels::conformance
