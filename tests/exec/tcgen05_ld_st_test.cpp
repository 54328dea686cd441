// tcgen05.ld, st and ld.red in every shape and size against the table of facts/tcgen05.md §2.2 to §2.4.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "support/ptx_run.h"
#include "support/tensor_run.h"

namespace drywell::test {
namespace {

struct Place {
  unsigned lane, column;
};

struct Access {
  std::string shape;
  unsigned max_num, registers_per_num;
  Place (*place)(unsigned t, unsigned r);  // relative to the base; 16x32bx2: without the split
};

const Access kAccesses[] = {
    {"32x32b", 128, 1, [](unsigned t, unsigned r) { return Place{t, r}; }},
    {"16x64b", 128, 1, [](unsigned t, unsigned r) { return Place{t / 4 + 8 * (t & 1), ((t >> 1) & 1) + 2 * r}; }},
    {"16x128b", 64, 2, [](unsigned t, unsigned r) { return Place{t / 4 + 8 * (r & 1), (t & 3) + 4 * (r >> 1)}; }},
    {"16x256b", 32, 4, [](unsigned t, unsigned r) { return Place{t / 4 + 8 * ((r >> 1) & 1), 2 * (t & 3) + (r & 1) + 8 * (r >> 2)}; }},
    {"16x32bx2", 128, 1, [](unsigned t, unsigned r) { return Place{t % 16, r}; }},
};

struct Form {
  const Access* access;
  unsigned num;
  bool pack;
  unsigned half;  // 16-lane shapes: upper half of the partition

  unsigned registers() const { return num * access->registers_per_num; }
  bool split() const { return access->shape == "16x32bx2"; }
  int split_columns() const { return static_cast<int>(pack ? 2 * num : num) - (num == 4 ? 1 : 0); }
  std::string suffix() const { return access->shape + ".x" + std::to_string(num); }
  uint32_t address() const { return (access->shape == "32x32b" ? 0 : 16 * half) << 16; }
  // Cell of register r of thread t; with packing the cell of its lower half, the upper half is in the next column (§2.3).
  Place at(unsigned thread, unsigned r) const {
    Place p = access->place(thread % 32, r);
    if (pack) p.column *= 2;
    if (split() && thread % 32 >= 16) p.column += static_cast<unsigned>(split_columns());
    p.lane += thread / 32 * 32 + (access->shape == "32x32b" ? 0 : 16 * half);
    return p;
  }
};

TensorImage random_image(uint64_t seed) {
  Words words(seed);
  TensorImage image;
  for (uint32_t& v : image.tmem) v = static_cast<uint32_t>(words.next() >> 11);
  image.registers_in.resize(128 * 128);
  for (uint32_t& v : image.registers_in) v = static_cast<uint32_t>(words.next() >> 11);
  return image;
}

void check_load(const Form& f) {
  std::vector<TensorImage> images = {random_image(f.num)};
  TensorProgram p;
  p.out = f.registers();
  p.every_thread = [&](const TensorOperands& o, const isa::RegArray&, const isa::RegArray& out) {
    std::vector<isa::Arg> args = {out, isa::mem(o.tmem, f.address())};
    if (f.split()) args.emplace_back(f.split_columns());
    o.k.emit("tcgen05.ld.sync.aligned." + f.suffix() + (f.pack ? ".pack::16b" : "") + ".b32", args);
    o.k("tcgen05.wait::ld.sync.aligned");
  };
  std::vector<TensorImage> expected = images;
  expected[0].registers_out.resize(128 * f.registers());
  for (unsigned r = 0; r < f.registers(); ++r) {
    for (unsigned t = 0; t < 128; ++t) {
      const Place at = f.at(t, r);
      uint32_t v = images[0].cell(at.lane, at.column);
      if (f.pack) v = (v & 0xFFFF) | images[0].cell(at.lane, at.column + 1) << 16;
      expected[0].registers_out[r * 128 + t] = v;
    }
  }
  expect_tensor(p, images, expected);
}

void check_store(const Form& f) {
  std::vector<TensorImage> images = {random_image(f.num + 1000)};
  images[0].registers_in.resize(128 * f.registers());
  TensorProgram p;
  p.in = f.registers();
  p.every_thread = [&](const TensorOperands& o, const isa::RegArray& in, const isa::RegArray&) {
    std::vector<isa::Arg> args = {isa::mem(o.tmem, f.address())};
    if (f.split()) args.emplace_back(f.split_columns());
    args.emplace_back(in);
    o.k.emit("tcgen05.st.sync.aligned." + f.suffix() + (f.pack ? ".unpack::16b" : "") + ".b32", args);
    o.k("tcgen05.wait::st.sync.aligned");
  };
  std::vector<TensorImage> expected = images;
  for (unsigned r = 0; r < f.registers(); ++r) {
    for (unsigned t = 0; t < 128; ++t) {
      const Place at = f.at(t, r);
      const uint32_t v = images[0].registers_in[r * 128 + t];
      uint32_t& low = expected[0].cell(at.lane, at.column);
      if (!f.pack) {
        low = v;
        continue;
      }
      uint32_t& high = expected[0].cell(at.lane, at.column + 1);
      low = (low & 0xFFFF0000) | (v & 0xFFFF);
      high = (high & 0xFFFF0000) | v >> 16;
    }
  }
  expect_tensor(p, images, expected);
}

class TmemAccessForms : public testing::TestWithParam<Form> {};
TEST_P(TmemAccessForms, LoadsWhatTheTableSays) { check_load(GetParam()); }
TEST_P(TmemAccessForms, StoresWhereTheTableSays) {
  // Halves that meet in one column would be stored twice.
  if (GetParam().split() && GetParam().num == 4) return;
  check_store(GetParam());
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const Access& a : kAccesses) {
    for (unsigned num = 1; num <= a.max_num; num *= 2) {
      for (const bool pack : {false, true}) forms.push_back({&a, num, pack, static_cast<unsigned>(forms.size() / 2 % 2)});
    }
  }
  return forms;
}
INSTANTIATE_TEST_SUITE_P(All, TmemAccessForms, testing::ValuesIn(all_forms()), [](const auto& p) {
  return "s" + p.param.access->shape + "_x" + std::to_string(p.param.num) + (p.param.pack ? "_pack" : "");
});

// PTX ISA 9.7.16.8.1: each thread also gets the minimum or maximum of its registers.
struct Reduction {
  const char* text;
  uint32_t (*combine)(uint32_t a, uint32_t b);
};
float as_float(uint32_t v) { return std::bit_cast<float>(v); }
uint32_t as_word(float v) { return std::isnan(v) ? 0x7FFFFFFF : std::bit_cast<uint32_t>(v); }
// A number wins against NaN. (std::fmin and fmax do not promise that for signalling ones.)
template <class Choose>
uint32_t number(uint32_t a, uint32_t b, Choose choose) {
  if (std::isnan(as_float(a)) || std::isnan(as_float(b))) return std::isnan(as_float(b)) ? as_word(as_float(a)) : b;
  return as_word(choose(as_float(a), as_float(b)));
}
float lower(float a, float b) { return std::fmin(a, b); }
float higher(float a, float b) { return std::fmax(a, b); }
const Reduction kReductions[] = {
    {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
    {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
    {"min.s32", [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b))); }},
    {"max.s32", [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b))); }},
    {"min.f32", [](uint32_t a, uint32_t b) { return number(a, b, lower); }},
    {"max.f32", [](uint32_t a, uint32_t b) { return number(a, b, higher); }},
    {"max.abs.f32", [](uint32_t a, uint32_t b) { return number(a & 0x7FFFFFFF, b & 0x7FFFFFFF, higher); }},
    {"min.NaN.f32", [](uint32_t a, uint32_t b) { return as_word(std::isnan(as_float(a)) || std::isnan(as_float(b)) ? NAN : lower(as_float(a), as_float(b))); }},
};

TEST(TmemLoadReduce, GivesEachThreadTheExtremeOfItsColumns) {
  for (const Access* a : {&kAccesses[0], &kAccesses[4]}) {
    for (const Reduction& reduction : kReductions) {
      SCOPED_TRACE(a->shape + " " + reduction.text);
      const Form f{a, 8, false, 0};
      std::vector<TensorImage> images = {random_image(5)};
      for (unsigned lane = 0; lane < 128; lane += 3) images[0].cell(lane, lane % 16) = 0x7FC00000 + lane;  // some NaNs
      TensorProgram p;
      p.target = isa::Target::sm_103a;
      p.out = 9;
      p.every_thread = [&](const TensorOperands& o, const isa::RegArray&, const isa::RegArray& out) {
        std::vector<isa::Arg> args = {out.slice(0, 8), out[8], isa::mem(o.tmem)};
        if (f.split()) args.emplace_back(f.split_columns());
        o.k.emit("tcgen05.ld.red.sync.aligned." + f.suffix() + "." + reduction.text, args);
        o.k("tcgen05.wait::ld.sync.aligned");
      };
      std::vector<TensorImage> expected = images;
      expected[0].registers_out.resize(128 * 9);
      for (unsigned t = 0; t < 128; ++t) {
        for (unsigned r = 0; r < 8; ++r) {
          const Place at = f.at(t, r);
          const uint32_t v = images[0].cell(at.lane, at.column);
          uint32_t& so_far = expected[0].registers_out[8 * 128 + t];
          expected[0].registers_out[r * 128 + t] = v;
          so_far = r == 0 ? v : reduction.combine(so_far, v);
        }
      }
      expect_tensor(p, images, expected);
    }
  }
}

void expect_access_fault(const char* op, uint32_t address, const std::string& code) {
  std::vector<TensorImage> images(1);
  TensorProgram p;
  p.out = 2;
  p.every_thread = [&](const TensorOperands& o, const isa::RegArray&, const isa::RegArray& out) { o.k(op, out, isa::mem(o.tmem, address)); };
  expect_tensor_fault(p, images, code);
}

TEST(TmemAccess, StaysInTheWarpsLanesAndTheAllocation) {
  expect_access_fault("tcgen05.ld.sync.aligned.32x32b.x2.b32", 511, "F3210");
  expect_access_fault("tcgen05.ld.sync.aligned.16x64b.x2.b32", 509, "F3210");
  expect_access_fault("tcgen05.ld.sync.aligned.32x32b.x2.b32", 16 << 16, "F3209");
  expect_access_fault("tcgen05.ld.sync.aligned.16x64b.x2.b32", 8 << 16, "F3209");
  expect_access_fault("tcgen05.ld.sync.aligned.32x32b.x2.b32", 64 << 16, "F3209");  // warp 2's lanes
}

}  // namespace
}  // namespace drywell::test
