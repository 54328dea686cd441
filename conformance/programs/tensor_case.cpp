#include "conformance/programs/tensor_case.h"

#include <algorithm>
#include <map>

namespace drywell::kernels::conformance {
namespace {

// docs/facts/tcgen05.md §4.7: type codes.
unsigned type_code(const MmaCase& c, const std::string& t) {
  static const std::map<std::string, unsigned> codes = {{"f16", 0}, {"bf16", 1}, {"tf32", 2}, {"e4m3", 0}, {"e5m2", 1}, {"e2m3", 3}, {"e3m2", 4}, {"e2m1", 5}, {"u8", 0}, {"s8", 1}};
  return c.packed_fp4() ? 1 : codes.at(t);
}

uint32_t random_code(const MmaCase& c, const std::string& type, RandomWords& words) {
  const auto r = words.next();
  const unsigned bits = c.bits(type);
  if (bits <= 8) {
    uint32_t code = r & ((1u << bits) - 1);
    if (c.tame && (type == "e4m3" || type == "e5m2")) code = (code & 0x80) | 0x30 | (code & 0xF);
    return code;
  }
  // Exponents near 1, sometimes any code.
  const bool wild = !c.tame && words.next() % 64 == 0;
  if (wild) return type == "tf32" ? r << 13 ^ (r & 0x1FFF) : r & 0xFFFF;
  if (type == "f16") return (r & 0x8000) | (10 + r % 10) << 10 | (r >> 4 & 0x3FF);
  if (type == "bf16") return (r & 0x8000) | (122 + r % 10) << 7 | (r >> 4 & 0x7F);
  return (r & 0x80000000u) | (122 + r % 10) << 23 | (words.next() & 0x7FFFFF);
}

uint32_t random_c(const MmaCase& c, RandomWords& words) {
  const auto r = words.next();
  if (c.d_type == "s32") return r;
  if (c.d_type == "f16")
    return c.tame || r % 32 != 0 ? (r & 0x8000) | (10 + r % 10) << 10 | (r >> 4 & 0x3FF) : r & 0xFFFF;
  if (c.scale_d != 0 || c.tame || r % 32 != 0)
    return (r & 0x80000000u) | (122 + r % 12) << 23 | (words.next() & 0x7FFFFF);
  return r;
}

uint32_t random_scale(const MmaCase& c, RandomWords& words) {
  const auto r = words.next();
  if (!c.tame && r % 200 == 0) return r >> 8 & (c.scale_type == "ue4m3" ? 0x7F : 0xFF);
  return c.scale_type == "ue4m3" ? 0x28 + r % 0x20 : 120 + r % 14;
}

std::vector<std::vector<uint32_t>> matrix(size_t rows, size_t columns) {
  return std::vector<std::vector<uint32_t>>(rows, std::vector<uint32_t>(columns));
}

}  // namespace

unsigned MmaCase::bits(const std::string& type) const {
  static const std::map<std::string, unsigned> widths = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8}, {"e5m2", 8}, {"e2m3", 6}, {"e3m2", 6}, {"e2m1", 4}, {"u8", 8}, {"s8", 8}};
  return widths.at(type);
}
unsigned MmaCase::stored_k() const {
  return kind == "f16" ? 16 : kind == "tf32" ? 8
                          : packed_fp4()     ? (k96 ? 96 : 64)
                                             : 32;
}
char MmaCase::layout() const {
  if (cta_group == 2) return m == 256 ? 'A' : sparse ? 'C'
                                                     : 'B';
  if (m == 128) return 'D';
  return m == 32 ? 'G' : ws ? 'E'
                            : 'F';
}

uint32_t MmaCase::idesc() const {
  uint32_t w = static_cast<uint32_t>(sparse) << 2 | static_cast<uint32_t>(negate_a) << 13 |
               static_cast<uint32_t>(negate_b) << 14 | type_code(*this, a_type) << 7 |
               type_code(*this, b_type) << 10 | (n >> 3) << 17;
  w |= static_cast<uint32_t>(a.mn_major) << 15 | static_cast<uint32_t>(b.mn_major) << 16;
  if (scaled())
    return w | sfb_id << 4 | static_cast<uint32_t>(k96) << 31 | static_cast<uint32_t>(scale_type == "ue8m0") << 23 | (m >> 7) << 27 |
           sfa_id << 29;
  const uint32_t d = d_type == "f16" ? 0 : d_type == "f32" ? 1
                                                           : 2;
  return w | selector | static_cast<uint32_t>(saturate) << 3 | d << 4 | (m >> 4) << 24 | max_shift << 30;
}

std::string MmaCase::name() const {
  static constexpr const char* kSwizzles[] = {"", "32", "64", "128", "Atom32"};
  const auto smem = [&](const SmemPlan& p) {
    return std::string(p.mn_major ? "mn" : "k") + kSwizzles[static_cast<unsigned>(p.swizzle)] +
           (p.steps != 0 ? "s" + std::to_string(p.steps) : "") + (p.split ? "split" : "");
  };
  std::string s = kind + "_" + a_type + "_" + b_type + "_" + d_type + "_m" + std::to_string(m) + "n" +
                  std::to_string(n) + "_cg" + std::to_string(cta_group);
  s += "_" + (a_in_tmem ? "tmem" : smem(a)) + "_" + smem(b);
  if (scaled())
    s += "_" + scale_type + std::to_string(factors) + "X_ids" + std::to_string(sfa_id) +
         std::to_string(sfb_id);
  for (const auto& [on, text] : {std::pair{ws, "_ws"},
                                 {sparse, "_sp"},
                                 {!accumulate, "_zero"},
                                 {saturate, "_sat"},
                                 {negate_a, "_negA"},
                                 {negate_b, "_negB"},
                                 {ashift, "_ashift"},
                                 {k96, "_k96"},
                                 {has_zero_mask, "_mask"},
                                 {!disable.empty(), "_disable"},
                                 {d_lane != 0, "_lane16"},
                                 {selector != 0, "_sel1"},
                                 {issuer != 0, "_odd"},
                                 {scale_d != 0, "_scaleD"},
                                 {max_shift != 0, "_shift"}}) {
    if (on) s += text;
  }
  return s + "_" + std::to_string(seed);
}

unsigned MmaCase::meta_groups() const { return k() / (kind == "tf32" ? 2 : packed_fp4() ? 8
                                                                                        : 4); }
unsigned MmaCase::column_shift() const { return has_zero_mask ? zero_mask >> 56 & 0x3F : 0; }

MmaData random_matrices(const MmaCase& c) {
  RandomWords words(c.seed * 7919 + c.m + c.n);
  MmaData data{matrix(c.m, c.stored_k()), matrix(c.n + c.column_shift(), c.k()), matrix(c.m, c.factors), matrix(c.n, c.factors), matrix(c.m, c.n), {}};
  for (auto& row : data.a)
    std::generate(row.begin(), row.end(), [&] { return random_code(c, c.a_type, words); });
  for (auto& row : data.b)
    std::generate(row.begin(), row.end(), [&] { return random_code(c, c.b_type, words); });
  for (auto* scales : {&data.sfa, &data.sfb}) {
    for (auto& row : *scales) std::generate(row.begin(), row.end(), [&] { return random_scale(c, words); });
  }
  for (auto& row : data.c) std::generate(row.begin(), row.end(), [&] { return random_c(c, words); });
  if (!c.sparse) return data;
  static constexpr uint8_t kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0x6, 0xE}, kOnes[] = {0x4, 0xE};
  data.meta.assign(c.m, std::vector<uint8_t>(c.meta_groups()));
  for (auto& row : data.meta) {
    std::generate(row.begin(), row.end(),
                  [&] { return c.kind == "tf32" ? kOnes[words.next() % 2] : kPairs[words.next() % 7]; });
  }
  return data;
}

void emit_mma(const MmaCase& c, const MmaSetup& s, const TensorOperands& o) {
  using isa::Arg;
  std::string op = std::string("tcgen05.mma") + (c.ws ? ".ws" : "") + (c.sparse ? ".sp" : "") +
                   ".cta_group::" + std::to_string(c.cta_group) + ".kind::" + c.kind;
  if (c.scaled())
    op += std::string(".block_scale") + (c.factors == 1                     ? ".block32"
                                         : c.factors == 2 || c.factors == 3 ? ".scale_vec::2X"
                                                                            : ".block16");
  if (c.ashift) op += ".ashift";
  op += c.qualifiers;
  std::vector<Arg> args = {isa::mem(o.word(s.d))};
  if (c.a_in_tmem) {
    args.push_back(isa::mem(o.word(s.a_tmem)));
  } else {
    args.emplace_back(o.descriptor(s.a_desc));
  }
  args.emplace_back(o.descriptor(s.b_desc));
  if (c.sparse) args.push_back(isa::mem(o.word(s.meta)));
  args.emplace_back(o.word(c.idesc() ^ c.wrong_bits));
  if (c.scaled()) {
    args.push_back(isa::mem(o.word(s.sfa)));
    args.push_back(isa::mem(o.word(s.sfb)));
  }
  if (!c.disable.empty()) {
    Arg lanes({});
    lanes.kind = Arg::Kind::vec;
    for (uint32_t v : c.disable) lanes.parts.emplace_back(o.word(v));
    args.push_back(lanes);
  }
  args.emplace_back(o.predicate(c.accumulate));
  if (c.scale_d != 0) args.emplace_back(c.scale_d);
  if (c.has_zero_mask) args.emplace_back(o.k.def("mov.b64", c.zero_mask));
  o.k.emit(isa::OpText(op), std::move(args));
}

TensorProgram program_of(const MmaCase& c, const MmaSetup& setup) {
  TensorProgram p;
  p.cta_group = c.cta_group;
  p.issuer = c.issuer;
  p.steps = {[c, setup](const TensorOperands& o) { emit_mma(c, setup, o); }};
  return p;
}

TensorCheck mma_check(const MmaCase& c) {
  const MmaData data = random_matrices(c);
  const MmaSetup setup = place(c, data);
  TensorCheck check{program_of(c, setup), setup.images, expected_images(c, data, setup), {}};
  if (c.d_type != "f16") return check;
  check.open.assign(c.cta_group, std::vector<uint32_t>(kTmemLanes * kTmemColumns, 0));
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned n = 0; n < c.n; ++n) {
      const Cell at = d_place(c, m, n);
      check.open[at.cta][at.column * kTmemLanes + at.lane + c.d_lane] = 0xFFFF0000;
    }
  }
  return check;
}

}  // namespace drywell::kernels::conformance
