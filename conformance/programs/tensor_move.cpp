// The forms that move data into, out of and inside tensor memory: tcgen05.cp, shift, ld, st, ld.red (PTX
// ISA 9.7.16.8, 9.7.16.9; the tables of docs/facts/tcgen05.md §2 and §3).
#include <algorithm>
#include <bit>
#include <cmath>

#include "conformance/programs/tensor_program.h"

namespace drywell::kernels::conformance {
namespace {

// ---- tcgen05.cp

struct CopyCase {
  std::string shape;
  unsigned rows, columns;
  std::vector<unsigned> (*lanes)(unsigned row);  // "destination lanes of row r", §3
  unsigned swizzle = 0;                          // span; 0 = none
  unsigned bits = 8;                             // 4, 6: decompression
  unsigned cta_group = 1, base_lane = 0, start = 0;

  uint32_t sbo() const { return swizzle != 0 ? 8 * swizzle : rows == 32 ? 128
                                                                        : 160; }
  uint32_t lbo() const { return swizzle != 0 ? 16 : sbo() * 16 + 48; }
  uint64_t descriptor() const {
    const uint64_t code = swizzle == 128 ? 2 : swizzle == 64 ? 4
                                           : swizzle == 32   ? 6
                                                             : 0;
    return uint64_t{start >> 4} | uint64_t{lbo() >> 4} << 16 | uint64_t{sbo() >> 4} << 32 |
           uint64_t{1} << 46 | code << 61;
  }
  std::string op() const {
    const char* format = bits == 8 ? "" : bits == 4 ? ".b8x16.b4x16_p64"
                                                    : ".b8x16.b6x16_p32";
    return "tcgen05.cp.cta_group::" + std::to_string(cta_group) + "." + shape + format;
  }
  // Address of 16-byte unit u of row r (§3, source walk).
  uint32_t source(unsigned r, unsigned u) const {
    if (swizzle == 0) return start + r % 8 * 16 + r / 8 * sbo() + u * lbo();
    const uint32_t a = start + r % 8 * swizzle + r / 8 * sbo() + u * 16;
    return a ^ (a >> 7 & (swizzle / 16 - 1)) << 4;
  }
};

using Lanes = std::vector<unsigned>;
const CopyCase kCopies[] = {
    {"128x256b", 128, 8, [](unsigned r) { return Lanes{r}; }},
    {"4x256b", 4, 8, [](unsigned r) { return Lanes{32 * r}; }},
    {"128x128b", 128, 4, [](unsigned r) { return Lanes{r}; }},
    {"64x128b.warpx2::02_13", 64, 4,
     [](unsigned r) {
       return Lanes{r, r + 64};
     }},
    {"64x128b.warpx2::01_23", 64, 4,
     [](unsigned r) {
       return Lanes{64 * (r / 32) + r % 32, 64 * (r / 32) + r % 32 + 32};
     }},
    {"32x128b.warpx4", 32, 4,
     [](unsigned r) {
       return Lanes{r, r + 32, r + 64, r + 96};
     }},
};

// Byte i of a unit: the i-th element of its bit stream, a nibble in bits 5..2, six bits in 5..0 (§3).
uint32_t expanded(const uint8_t* unit, unsigned bits, unsigned i) {
  uint32_t v = 0;
  for (unsigned b = 0; b < bits; ++b) v |= (unit[(i * bits + b) / 8] >> (i * bits + b) % 8 & 1u) << b;
  return bits == 4 ? v << 2 : v;
}

TensorCheck copy_check(const CopyCase& c) {
  constexpr unsigned kColumn = 44;
  RandomWords words(c.rows + c.swizzle + c.bits);
  TensorCheck check;
  check.images.resize(c.cta_group);
  for (TensorImage& image : check.images) {
    image.smem.resize(24 * 1024);
    for (uint8_t& v : image.smem) v = static_cast<uint8_t>(words.next());
    image.fill_tmem(words);
  }
  check.expected = check.images;
  for (TensorImage& image : check.expected) {
    for (unsigned r = 0; r < c.rows; ++r) {
      for (unsigned i = 0; i < 4 * c.columns; ++i) {
        const uint32_t v = expanded(image.smem.data() + c.source(r, i / 16), c.bits, i % 16);
        for (const unsigned lane : c.lanes(r))
          put_bits(image.cell(c.base_lane + lane, kColumn + i / 4), 8 * (i % 4), 8, v);
      }
    }
  }
  check.program.cta_group = c.cta_group;
  check.program.steps = {[c](const TensorOperands& o) {
    const isa::Reg from = o.descriptor(c.descriptor());
    o.k(isa::OpText(c.op()), isa::mem(o.word(c.base_lane << 16 | kColumn)), from);
  }};
  return check;
}

void add_copies(std::vector<TensorSpec>& out) {
  for (const CopyCase& shape : kCopies) {
    for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (const unsigned bits : {8u, 6u, 4u}) {
        CopyCase c = shape;
        c.swizzle = swizzle;
        c.bits = bits;
        c.cta_group = (swizzle / 32 + bits) % 3 == 0 ? 2 : 1;
        if (c.shape == "4x256b" && bits == 6) c.base_lane = 31;
        if (swizzle == 128) c.start = 64;
        if (swizzle == 0 && c.rows == 32) c.start = 512;  // 512 contiguous bytes: one tile of scale factors
        out.push_back({c.op() + "/swizzle" + std::to_string(swizzle), [c] { return copy_check(c); }});
      }
    }
  }
}

// ---- tcgen05.shift

TensorCheck shift_check(unsigned group) {
  RandomWords words(group);
  TensorCheck check;
  check.images.resize(group);
  for (TensorImage& image : check.images) image.fill_tmem(words);
  check.expected = check.images;
  for (TensorImage& image : check.expected) {
    for (unsigned column = 100; column < 108; ++column) {
      for (unsigned lane = 0; lane < kTmemLanes; ++lane) {
        if (lane % 32 != 31) image.cell(lane, column) = image.cell(lane + 1, column);
      }
    }
  }
  check.program.cta_group = group;
  check.program.steps = {[group](const TensorOperands& o) {
    o.k(isa::OpText("tcgen05.shift.cta_group::" + std::to_string(group) + ".down"), isa::mem(o.word(32 << 16 | 100)));
  }};
  return check;
}

// ---- tcgen05.ld and st

struct Place {
  unsigned lane, column;
};

struct Access {
  std::string shape;
  unsigned max_num, registers_per_num;
  Place (*place)(unsigned t, unsigned r);  // §2.2, relative to the base; 16x32bx2: without the split
};

const Access kAccesses[] = {
    {"32x32b", 128, 1,
     [](unsigned t, unsigned r) {
       return Place{t, r};
     }},
    {"16x64b", 128, 1,
     [](unsigned t, unsigned r) {
       return Place{t / 4 + 8 * (t & 1), ((t >> 1) & 1) + 2 * r};
     }},
    {"16x128b", 64, 2,
     [](unsigned t, unsigned r) {
       return Place{t / 4 + 8 * (r & 1), (t & 3) + 4 * (r >> 1)};
     }},
    {"16x256b", 32, 4,
     [](unsigned t, unsigned r) {
       return Place{t / 4 + 8 * ((r >> 1) & 1), 2 * (t & 3) + (r & 1) + 8 * (r >> 2)};
     }},
    {"16x32bx2", 128, 1,
     [](unsigned t, unsigned r) {
       return Place{t % 16, r};
     }},
};

struct AccessForm {
  const Access* access;
  unsigned num;
  bool pack;
  unsigned half;  // 16-lane shapes: which half of the partition

  unsigned registers() const { return num * access->registers_per_num; }
  bool split() const { return access->shape == "16x32bx2"; }
  int split_columns() const { return static_cast<int>(pack ? 2 * num : num); }
  std::string suffix() const { return access->shape + ".x" + std::to_string(num); }
  unsigned first_lane() const { return access->shape == "32x32b" ? 0 : 16 * half; }
  uint32_t address() const { return first_lane() << 16; }
  // Cell of register r of thread t; with packing the cell of its lower half: the upper half is in the next column
  // (§2.3).
  Place at(unsigned thread, unsigned r) const {
    Place p = access->place(thread % 32, r);
    if (pack) p.column *= 2;
    if (split() && thread % 32 >= 16) p.column += static_cast<unsigned>(split_columns());
    p.lane += thread / 32 * 32 + first_lane();
    return p;
  }
};

TensorCheck random_check(uint64_t seed, unsigned in, unsigned out) {
  RandomWords words(seed);
  TensorCheck check;
  check.program.in = in;
  check.program.out = out;
  check.images.resize(1);
  check.images[0].fill_tmem(words);
  check.images[0].registers_in.resize(kTensorThreads * in);
  for (uint32_t& v : check.images[0].registers_in) v = words.next();
  check.expected = check.images;
  check.expected[0].registers_out.resize(kTensorThreads * out);
  return check;
}

TensorCheck load_check(const AccessForm& f) {
  TensorCheck check = random_check(f.num, 0, f.registers());
  check.program.every_thread = [f](const TensorOperands& o, const isa::RegArray&, const isa::RegArray& out) {
    std::vector<isa::Arg> args = {out, isa::mem(o.tmem, f.address())};
    if (f.split()) args.emplace_back(f.split_columns());
    o.k.emit(isa::OpText("tcgen05.ld.sync.aligned." + f.suffix() + (f.pack ? ".pack::16b" : "") + ".b32"), args);
    o.k("tcgen05.wait::ld.sync.aligned");
  };
  const TensorImage& image = check.images[0];
  for (unsigned r = 0; r < f.registers(); ++r) {
    for (unsigned t = 0; t < kTensorThreads; ++t) {
      const Place at = f.at(t, r);
      const uint32_t low = image.cell(at.lane, at.column);
      check.expected[0].registers_out[r * kTensorThreads + t] =
          f.pack ? (low & 0xFFFF) | image.cell(at.lane, at.column + 1) << 16 : low;
    }
  }
  return check;
}

TensorCheck store_check(const AccessForm& f) {
  TensorCheck check = random_check(f.num + 1000, f.registers(), 0);
  check.program.every_thread = [f](const TensorOperands& o, const isa::RegArray& in, const isa::RegArray&) {
    std::vector<isa::Arg> args = {isa::mem(o.tmem, f.address())};
    if (f.split()) args.emplace_back(f.split_columns());
    args.emplace_back(in);
    o.k.emit(isa::OpText("tcgen05.st.sync.aligned." + f.suffix() + (f.pack ? ".unpack::16b" : "") + ".b32"), args);
    o.k("tcgen05.wait::st.sync.aligned");
  };
  if (f.pack) check.open.assign(1, std::vector<uint32_t>(kTmemLanes * kTmemColumns, 0));
  for (unsigned r = 0; r < f.registers(); ++r) {
    for (unsigned t = 0; t < kTensorThreads; ++t) {
      const Place at = f.at(t, r);
      const uint32_t v = check.images[0].registers_in[r * kTensorThreads + t];
      put_bits(check.expected[0].cell(at.lane, at.column), 0, f.pack ? 16 : 32, v);
      if (!f.pack) continue;
      // The content of the upper halves is not documented then.
      put_bits(check.expected[0].cell(at.lane, at.column + 1), 0, 16, v >> 16);
      for (unsigned c : {0u, 1u}) check.open[0][(at.column + c) * kTmemLanes + at.lane] = 0xFFFF0000;
    }
  }
  return check;
}

void add_accesses(std::vector<TensorSpec>& out) {
  unsigned count = 0;
  for (const Access& a : kAccesses) {
    for (unsigned num = 1; num <= a.max_num; num *= 2, ++count) {
      for (const bool pack : {false, true}) {
        const AccessForm f{&a, num, pack, count % 2};
        out.push_back(
            {"tcgen05.ld." + f.suffix() + (pack ? ".pack::16b" : ""), [f] { return load_check(f); }});
        out.push_back(
            {"tcgen05.st." + f.suffix() + (pack ? ".unpack::16b" : ""), [f] { return store_check(f); }});
      }
    }
  }
}

// ---- tcgen05.ld.red: each thread also gets the minimum or maximum of its registers (PTX ISA 9.7.16.8.1)

struct Reduction {
  const char* text;
  uint32_t (*combine)(uint32_t a, uint32_t b);
};
float as_float(uint32_t v) { return std::bit_cast<float>(v); }
uint32_t as_word(float v) { return std::isnan(v) ? 0x7FFFFFFF : std::bit_cast<uint32_t>(v); }
// A number wins over NaN. (std::fmin and fmax do not guarantee that for signalling NaN.)
template <class Choose>
uint32_t number(uint32_t a, uint32_t b, Choose choose) {
  if (std::isnan(as_float(a)) || std::isnan(as_float(b)))
    return std::isnan(as_float(b)) ? as_word(as_float(a)) : b;
  return as_word(choose(as_float(a), as_float(b)));
}
float lower(float a, float b) { return std::fmin(a, b); }
float higher(float a, float b) { return std::fmax(a, b); }
const Reduction kReductions[] = {
    {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
    {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
    {"min.s32",
     [](uint32_t a, uint32_t b) {
       return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
     }},
    {"max.s32",
     [](uint32_t a, uint32_t b) {
       return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
     }},
    {"min.f32", [](uint32_t a, uint32_t b) { return number(a, b, lower); }},
    {"max.f32", [](uint32_t a, uint32_t b) { return number(a, b, higher); }},
    {"max.abs.f32", [](uint32_t a, uint32_t b) { return number(a & 0x7FFFFFFF, b & 0x7FFFFFFF, higher); }},
    {"min.NaN.f32",
     [](uint32_t a, uint32_t b) {
       return as_word(std::isnan(as_float(a)) || std::isnan(as_float(b)) ? NAN
                                                                         : lower(as_float(a), as_float(b)));
     }},
};

TensorCheck reduction_check(const AccessForm& f, const Reduction& reduction) {
  const unsigned n = f.registers();
  TensorCheck check = random_check(5, 0, n + 1);
  for (unsigned lane = 0; lane < kTmemLanes; lane += 3) {  // some NaNs
    for (auto* images : {&check.images, &check.expected})
      (*images)[0].cell(lane, lane % 16) = 0x7FC00000 + lane;
  }
  check.program.target = isa::Target::sm_103a;
  check.program.every_thread = [f, n, reduction](const TensorOperands& o, const isa::RegArray&,
                                                 const isa::RegArray& out) {
    std::vector<isa::Arg> args = {out.slice(0, n), out[n], isa::mem(o.tmem)};
    if (f.split()) args.emplace_back(f.split_columns());
    o.k.emit(isa::OpText("tcgen05.ld.red.sync.aligned." + f.suffix() + "." + reduction.text), args);
    o.k("tcgen05.wait::ld.sync.aligned");
  };
  std::vector<uint32_t>& out = check.expected[0].registers_out;
  for (unsigned t = 0; t < kTensorThreads; ++t) {
    for (unsigned r = 0; r < n; ++r) {
      const Place at = f.at(t, r);
      const uint32_t v = check.images[0].cell(at.lane, at.column);
      out[r * kTensorThreads + t] = v;
      uint32_t& so_far = out[n * kTensorThreads + t];
      so_far = r == 0 ? v : reduction.combine(so_far, v);
    }
  }
  return check;
}

void add_reductions(std::vector<TensorSpec>& out) {
  for (const Access* a : {&kAccesses[0], &kAccesses[4]}) {
    for (const Reduction& reduction : kReductions) {
      const AccessForm f{a, 8, false, 0};
      out.push_back({"tcgen05.ld.red." + f.suffix() + "." + reduction.text,
                     [f, reduction] { return reduction_check(f, reduction); }, isa::Target::sm_103a});
    }
  }
}

}  // namespace

void add_move_forms(std::vector<TensorSpec>& out) {
  add_copies(out);
  for (const unsigned group : {1u, 2u})
    out.push_back({"tcgen05.shift.cta_group::" + std::to_string(group) + ".down",
                   [group] { return shift_check(group); }});
  add_accesses(out);
  add_reductions(out);
}

}  // namespace drywell::kernels::conformance
