// mma.sync with .kind of sm_120: products of decoded values with every selector of the scales. Layouts are
// written from the PTX ISA (9.7.14.3 and 9.7.14.5) and from CUTLASS's traits (mma_traits_sm120.hpp), formats
// from their definitions (docs/facts/sm120.md).
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::conformance {
namespace {

using isa::PtxVersion;

struct Narrow {
  unsigned exponent, fraction, bias;
};
Narrow format_of(const std::string& type) {
  if (type == "e4m3" || type == "ue4m3") return {4, 3, 7};
  if (type == "e5m2") return {5, 2, 15};
  if (type == "e3m2") return {3, 2, 3};
  if (type == "e2m3") return {2, 3, 1};
  return {2, 1, 1};  // e2m1
}
double value_of(const std::string& type, unsigned code) {
  if (type == "ue8m0") return std::ldexp(1.0, static_cast<int>(code) - 127);
  const Narrow f = format_of(type);
  const unsigned e = code >> f.fraction & ((1u << f.exponent) - 1), m = code & ((1u << f.fraction) - 1);
  const double magnitude = e == 0 ? std::ldexp(m, 1 - static_cast<int>(f.bias + f.fraction))
                                  : std::ldexp((1u << f.fraction) + m,
                                               static_cast<int>(e) - static_cast<int>(f.bias + f.fraction));
  return code >> (f.exponent + f.fraction) & 1 ? -magnitude : magnitude;
}

struct Form {
  const char* kind;
  const char* a;
  const char* b;
  const char* d = "f32";
  unsigned k = 32;  // of dense A
  bool sparse = false;
  unsigned factors = 0;
  const char* scale = "";
  PtxVersion version = {9, 0};

  bool packed() const { return std::string_view(kind).starts_with("mxf4"); }
  unsigned dense_k() const { return sparse ? 2 * k : k; }
};

/// Registers of a fragment, filled element by element.
class Fragment {
 public:
  Fragment(unsigned registers, unsigned bits) : bits_(bits), words_(32 * registers) {}
  void set(unsigned lane, unsigned i, unsigned code) {
    words_[i * bits_ / 32 * 32 + lane] |= uint64_t{code} << (i * bits_ % 32);
  }
  const std::vector<uint64_t>& words() const { return words_; }

 private:
  unsigned bits_;
  std::vector<uint64_t> words_;
};

struct Selectors {
  unsigned byte_a, thread_a, byte_b, thread_b;
};

/// One product: codes, scales and metadata, and what must come out.
class Product {
 public:
  Product(const Form& f, uint64_t seed)
      : f_(f), seed_(seed), k_(f.dense_k()), stored_(f.k), bits_(f.packed() ? 4 : 8) {
    a_.resize(16 * stored_);
    b_.resize(8 * k_);
    c_.resize(16 * 8);
    for (unsigned& v : a_) v = code(f.a);
    for (unsigned& v : b_) v = code(f.b);
    for (int& v : c_) v = static_cast<int>(next() % 33) - 16;
    for (auto* scales : {&sa_, &sb_}) {
      for (unsigned& v : *scales) v = scale_code();
    }
    const unsigned group = bits_ == 4 ? 8 : 4;
    static constexpr std::pair<unsigned, unsigned> kPairs[] = {{0, 1}, {2, 3}, {0, 2}, {0, 3}, {1, 2}, {1, 3}};
    choice_.resize(16 * k_ / group);
    for (auto& v : choice_) v = kPairs[next() % 6];
  }

  /// k in dense A of stored element s of a row.
  unsigned dense_k(unsigned row, unsigned s) const {
    if (!f_.sparse) return s;
    const unsigned kept = bits_ == 4 ? 4 : 2, group = 2 * kept;  // 4-bit elements are kept in pairs
    const auto [first, second] = choice_[row * (k_ / group) + s / kept];
    const unsigned i = s % kept;
    return s / kept * group + (bits_ == 4 ? 2 * (i < 2 ? first : second) + i % 2 : i == 0 ? first
                                                                                          : second);
  }

  double expected(unsigned m, unsigned n) const {
    double sum = c_[m * 8 + n];
    for (unsigned s = 0; s < stored_; ++s) {
      const unsigned k = dense_k(m, s);
      double product = value_of(f_.a, a_[m * stored_ + s]) * value_of(f_.b, b_[n * k_ + k]);
      if (f_.factors != 0) {
        const unsigned block = k / (k_ / f_.factors);
        product *= value_of(f_.scale, sa_[m * 4 + block]) * value_of(f_.scale, sb_[n * 4 + block]);
      }
      sum += product;
    }
    return sum;
  }

  std::vector<uint64_t> words(const Selectors& s) const {
    std::vector<uint64_t> out;
    const auto add = [&](const std::vector<uint64_t>& v) { out.insert(out.end(), v.begin(), v.end()); };
    const unsigned per = 32 / bits_;
    Fragment a(16 * stored_ * bits_ / 1024, bits_), b(8 * k_ * bits_ / 1024, bits_),
        c(f16() ? 2 : 4, f16() ? 16 : 32);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned group = lane / 4, thread = lane % 4;
      for (unsigned i = 0; i < 16 * stored_ / 32; ++i) {
        // a_i: rows group and group + 8 alternate by registers, then the next half of k.
        const unsigned row = group + (i / per % 2 == 0 ? 0 : 8),
                       column = thread * per + i % per + (i < 2 * per ? 0 : 4 * per);
        a.set(lane, i, placed(f_.a, a_[row * stored_ + column]));
      }
      for (unsigned i = 0; i < 8 * k_ / 32; ++i)
        b.set(lane, i, placed(f_.b, b_[group * k_ + thread * per + i % per + i / per * 4 * per]));
      for (unsigned i = 0; i < 4; ++i)
        c.set(lane, i, d_code(c_[(group + (i < 2 ? 0 : 8)) * 8 + thread * 2 + i % 2]));
    }
    add(a.words());
    add(b.words());
    add(c.words());
    if (f_.sparse) add(metadata());
    if (f_.factors != 0) {
      add(scales(sa_, 16, s.byte_a, [&](unsigned row) { return row % 8 * 4 + 2 * s.thread_a + row / 8; }));
      add(scales(sb_, 8, s.byte_b, [&](unsigned column) { return column * 4 + s.thread_b; }));
    }
    return out;
  }

  uint64_t d_code(double v) const {
    if (!f16()) return std::bit_cast<uint32_t>(static_cast<float>(v));
    if (v == 0) return 0;
    int e;
    const double m = std::frexp(std::fabs(v), &e);  // m in [0.5, 1)
    return (v < 0 ? 0x8000u : 0u) | static_cast<unsigned>(e + 14) << 10 |
           static_cast<unsigned>(std::ldexp(m, 11) - 1024);
  }
  bool f16() const { return std::string(f_.d) == "f16"; }

 private:
  uint64_t next() { return random_word(seed_, drawn_++); }
  // Codes whose products and sums every accumulator holds exactly.
  unsigned code(const std::string& type) {
    const Narrow f = format_of(type);
    const unsigned width = 1 + f.exponent + f.fraction;
    for (;;) {
      const auto c = static_cast<unsigned>(next() % (1u << width));
      const double magnitude = std::fabs(value_of(type, c));
      const double least = f16() ? 0.5 : 0.0625, most = f16() ? 3 : 28;
      if (std::fmod(magnitude, least) == 0 && magnitude <= most) return c;
    }
  }
  unsigned scale_code() {
    if (std::string(f_.scale) == "ue4m3")
      return static_cast<unsigned>(5 + next() % 4) << 3 | static_cast<unsigned>(next() % 8);
    return static_cast<unsigned>(125 + next() % 5);
  }
  // e2m1 in a byte is in its bits 5 to 2 (CUTLASS fp4_shift_A); 6-bit codes are in bits 5 to 0.
  unsigned placed(const std::string& type, unsigned code) const {
    return type == "e2m1" && bits_ == 8 ? code << 2 : code;
  }

  // Four bits per group; a lane has the groups of half a row (CUTLASS's ELayout).
  std::vector<uint64_t> metadata() const {
    std::vector<uint64_t> e(32);
    const unsigned group = bits_ == 4 ? 8 : 4, groups = k_ / group;
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned g = 0; g < groups; ++g) {
        const auto [first, second] = choice_[row * groups + g];
        e[row % 8 * 4 + row / 8 + 2 * (g * group / (k_ / 2))] |= uint64_t{first | second << 2}
                                                                 << (4 * (g % (groups / 2)));
      }
    }
    return e;
  }

  // The codes in their bytes, and other codes in all other bytes.
  template <class Lane>
  std::vector<uint64_t> scales(const std::array<unsigned, 64>& codes, unsigned rows, unsigned byte,
                               Lane lane) const {
    std::vector<uint64_t> out(32, 0x91A3B5C7);
    const uint64_t mask =
        f_.factors == 4 ? 0xFFFFFFFF : ((uint64_t{1} << (8 * f_.factors)) - 1) << (8 * byte);
    for (unsigned r = 0; r < rows; ++r) {
      uint64_t& word = out[lane(r)];
      word &= ~mask;
      for (unsigned i = 0; i < f_.factors; ++i) word |= uint64_t{codes[r * 4 + i]} << (8 * (byte + i));
    }
    return out;
  }

  Form f_;
  uint64_t seed_, drawn_ = 0;
  unsigned k_, stored_, bits_;
  std::vector<unsigned> a_, b_;
  std::vector<int> c_;
  std::array<unsigned, 64> sa_{}, sb_{};
  std::vector<std::pair<unsigned, unsigned>> choice_;
};

std::string list(const char* name, unsigned& next, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i) s += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, next++);
  return s + "}";
}

std::string op_of(const Form& f) {
  return fmt::format("mma{}.sync.aligned.m16n8k{}.row.col.kind::{}{}.{}.{}.{}.{}{}",
                     f.sparse ? ".sp::ordered_metadata" : "", f.dense_k(), f.kind,
                     f.factors == 0 ? "" : fmt::format(".block_scale.scale_vec::{}X", f.factors), f.d, f.a,
                     f.b, f.d, f.factors == 0 ? "" : fmt::format(".{}", f.scale));
}

// D is in %r0 and up; the inputs follow.
std::string instruction(const Form& f, const Selectors& s) {
  const unsigned bits = f.packed() ? 4 : 8, words = std::string(f.d) == "f16" ? 2 : 4;
  unsigned next = 0;
  const std::string d = list("r", next, words), a = list("r", next, 16 * f.k * bits / 1024),
                    b = list("r", next, 8 * f.dense_k() * bits / 1024), c = list("r", next, words);
  std::string text = fmt::format("{} {}, {}, {}, {}", op_of(f), d, a, b, c);
  if (f.sparse) text += fmt::format(", %r{}, 0", next++);
  if (f.factors != 0) {
    text += fmt::format(", {{%r{}}}, {{{}, {}}}, %r{}, {{{}, {}}}", next, s.byte_a, s.thread_a, next + 1,
                        s.byte_b, s.thread_b);
  }
  return text + ";\n";
}

constexpr unsigned kWarps = kTextThreads / 32;

void add(std::vector<ProgramSpec>& out, const Form& f, const Selectors& s, uint64_t seed) {
  AsyncText t;
  t.version = f.version;
  const unsigned words = std::string(f.d) == "f16" ? 2 : 4;
  std::vector<uint32_t> in, expected(words * kTextThreads);
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    const Product product(f, seed * kWarps + warp);
    const std::vector<uint64_t> registers = product.words(s);
    in.resize(registers.size() * kWarps);
    for (size_t i = 0; i < registers.size(); ++i)
      in[i / 32 * kTextThreads + warp * 32 + i % 32] = static_cast<uint32_t>(registers[i]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        const auto code = static_cast<uint32_t>(
            product.d_code(product.expected(lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + i % 2)));
        uint32_t& word = expected[(words == 2 ? i / 2 : i) * kTextThreads + warp * 32 + lane];
        word |= words == 2 ? code << (16 * (i % 2)) : code;
      }
    }
  }
  t.body = "mul.wide.u32 %at, %thread, 4;\nadd.u64 %d0, %b0, %at;\nadd.u64 %d1, %b1, %at;\n";
  for (size_t i = 0; i < in.size() / kTextThreads; ++i)
    t.body += fmt::format("ld.global.b32 %r{}, [%d0+{}];\n", words + i, i * kTextThreads * 4);
  t.body += instruction(f, s);
  for (unsigned i = 0; i < words; ++i)
    t.body += fmt::format("st.global.b32 [%d1+{}], %r{};\n", i * kTextThreads * 4, i);
  t.buffers = {input(bytes_of(in)), output(bytes_of(expected))};
  std::string name = op_of(f);
  if (f.factors != 0) name += fmt::format("/a{}.{}/b{}.{}", s.byte_a, s.thread_a, s.byte_b, s.thread_b);
  out.push_back(text_program("mma_kind", name, std::move(t)));
}

/// Programs with selectors that together have every byte and every thread.
void add_every_selector(std::vector<ProgramSpec>& out, const Form& f) {
  for (unsigned byte = 0; byte < 4; byte += f.factors) {
    for (unsigned thread = 0; thread < 4; ++thread)
      add(out, f, {byte, thread % 2, 4 - f.factors - byte, thread}, 100 + 4 * byte + thread);
  }
}

/// The types of mxf8f6f4 with which all selectors are tried; the other types have one each.
constexpr std::pair<std::string_view, std::string_view> kEverySelector = {"e5m2", "e2m1"};

void add_mixed(std::vector<ProgramSpec>& out, const char* a, const char* b, bool sparse) {
  const uint64_t seed = out.size();
  const auto pick = static_cast<unsigned>(seed % 4);
  add(out, {"f8f6f4", a, b, "f32", 32, sparse}, {}, seed);
  add(out, {"f8f6f4", a, b, "f16", 32, sparse}, {}, seed + 1);
  const bool has_every_selector = a == kEverySelector.first && b == kEverySelector.second;
  if (!has_every_selector)
    add(out, {"mxf8f6f4", a, b, "f32", 32, sparse, 1, "ue8m0"}, {pick, pick % 2, 3 - pick, pick}, seed + 2);
}

}  // namespace

void add_mma_kind(std::vector<ProgramSpec>& out) {
  static constexpr const char* kTypes[] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  for (const bool sparse : {false, true}) {
    for (const char* a : kTypes) {
      for (const char* b : kTypes) add_mixed(out, a, b, sparse);
    }
    add_every_selector(out, {"mxf8f6f4", kEverySelector.first.data(), kEverySelector.second.data(), "f32", 32,
                             sparse, 1, "ue8m0"});
    add_every_selector(out, {"mxf4", "e2m1", "e2m1", "f32", 64, sparse, 2, "ue8m0"});
    add_every_selector(out, {"mxf4nvf4", "e2m1", "e2m1", "f32", 64, sparse, 2, "ue8m0"});
    add_every_selector(out, {"mxf4nvf4", "e2m1", "e2m1", "f32", 64, sparse, 4, "ue4m3"});
    add_every_selector(out, {"mxf4nvf4", "e2m1", "e2m1", "f32", 64, sparse, 4, "ue8m0", {9, 1}});
  }
}

}  // namespace drywell::kernels::conformance
