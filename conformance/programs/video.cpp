// Video instructions (PTX ISA 9.7.17, 9.7.18), after the manual's pseudo-code. Where ptxas 13.0 makes code for sm_90a that computes something else
// (docs/deviations.md), `prepare` leaves those operands out; programs that would be left without a saturation are not compared with a GPU.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/families.h"
#include "drywell/core/bits.h"

namespace drywell::kernels::conformance {
namespace {

// A selection as its text has it: "" for everything, otherwise "b2", "h1", "b7531".
struct Selector {
  std::string text;
  std::string suffix() const { return text.empty() ? "" : "." + text; }
  unsigned bits() const { return text.empty() ? 32 : text[0] == 'h' ? 16
                                                                    : 8; }
  unsigned digit(size_t from_the_right) const { return static_cast<unsigned>(text[text.size() - 1 - from_the_right] - '0'); }
};

const char* type32(bool is_signed) { return is_signed ? "s32" : "u32"; }

// partSelectSignExtend.
int64_t part_select(uint64_t v, const Selector& s, bool is_signed) {
  const unsigned bits = s.bits(), shift = s.text.empty() ? 0 : bits * s.digit(0);
  const auto field = static_cast<int64_t>(v >> shift & ((uint64_t{1} << bits) - 1));
  return is_signed && (field >> (bits - 1) & 1) != 0 ? field - (int64_t{1} << bits) : field;
}
// optSaturate.
int64_t saturate(int64_t v, unsigned bits, bool is_signed) {
  return is_signed ? std::clamp(v, -(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1) : std::clamp<int64_t>(v, 0, (int64_t{1} << bits) - 1);
}
// optMerge.
uint32_t merge(const Selector& s, int64_t v, uint64_t c) {
  if (s.text.empty()) return static_cast<uint32_t>(v);
  const uint64_t mask = ((uint64_t{1} << s.bits()) - 1) << (s.bits() * s.digit(0));
  return static_cast<uint32_t>((static_cast<uint64_t>(v) << (s.bits() * s.digit(0)) & mask) | (c & ~mask));
}

struct Binary {
  const char* name;
  int64_t (*of)(int64_t a, int64_t b);
};
constexpr Binary kBinary[] = {
    {"vadd", [](int64_t a, int64_t b) { return a + b; }},
    {"vsub", [](int64_t a, int64_t b) { return a - b; }},
    {"vabsdiff", [](int64_t a, int64_t b) { return a > b ? a - b : b - a; }},
    {"vmin", [](int64_t a, int64_t b) { return a < b ? a : b; }},
    {"vmax", [](int64_t a, int64_t b) { return a > b ? a : b; }},
};
constexpr Binary kAverage = {"vavrg", [](int64_t a, int64_t b) { return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1; }};
constexpr Binary kComparisons[] = {
    {"eq", [](int64_t a, int64_t b) -> int64_t { return a == b ? 1 : 0; }},
    {"ne", [](int64_t a, int64_t b) -> int64_t { return a != b ? 1 : 0; }},
    {"lt", [](int64_t a, int64_t b) -> int64_t { return a < b ? 1 : 0; }},
    {"le", [](int64_t a, int64_t b) -> int64_t { return a <= b ? 1 : 0; }},
    {"gt", [](int64_t a, int64_t b) -> int64_t { return a > b ? 1 : 0; }},
    {"ge", [](int64_t a, int64_t b) -> int64_t { return a >= b ? 1 : 0; }},
};

// What a scalar instruction does behind its primary operation.
struct Ending {
  Selector d;
  const char* second = "";
  bool sat = false;
};
const Ending kEndings[] = {{{}, "", false}, {{}, "", true}, {{}, ".add", false}, {{}, ".min", false}, {{}, ".max", true}, {{"b1"}, "", false}, {{"b3"}, "", true}, {{"h1"}, "", true}};

struct Sources {
  Selector a, b;
};
const Sources kSources[] = {{{}, {}}, {{"b0"}, {"h1"}}, {{"h0"}, {"b3"}}, {{"b2"}, {}}};

bool has_third(const Ending& e) { return *e.second != 0 || !e.d.text.empty(); }

// optSecondaryOp and optMerge; the sign of c is the destination's.
uint32_t ended(const Ending& e, int64_t v, const uint64_t* in, bool is_signed) {
  const uint64_t c = has_third(e) ? in[2] : 0;
  const int64_t third = part_select(c, {}, is_signed);
  const std::string second = e.second;
  if (second == ".add") return static_cast<uint32_t>(v + third);
  if (second == ".min") return static_cast<uint32_t>(std::min(v, third));
  if (second == ".max") return static_cast<uint32_t>(std::max(v, third));
  return merge(e.d, v, c);
}

void add_scalar(std::vector<ProgramSpec>& out, std::string op, const Sources& s, const Ending& e, RowFn expect, std::function<void(uint64_t*)> prepare) {
  LaneForm f;
  f.op = std::move(op);
  f.operands = fmt::format("w{}=w{}w{}{}", e.d.suffix(), s.a.suffix(), s.b.suffix(), has_third(e) ? "w" : "");
  f.name = fmt::format("{}/{}", f.op, f.operands);
  f.expect = std::move(expect);
  f.prepare = std::move(prepare);
  out.push_back(lane_program("video", std::move(f)));
  out.back().ptxas_differs = e.sat && !e.d.text.empty();
}

// An intermediate result that is compared with c and does not fit 31 bits is cut off by ptxas's code; the sources of such programs are small, and
// where the destination is unsigned they do not give results below zero.
std::function<void(uint64_t*)> compared(const Ending& e, bool is_signed) {
  const std::string second = e.second;
  if (second != ".min" && second != ".max") return {};
  return [is_signed](uint64_t* in) {
    if (is_signed) {
      for (unsigned k = 0; k < 2; ++k) in[k] = static_cast<uint32_t>(static_cast<int32_t>(in[k]) >> 2);
    } else {
      in[0] = (in[0] & 0x3F3F3F3F) | 0x30303030;
      in[1] &= 0x2F2F2F2F;
    }
  };
}

// ptxas's code clamps an unsigned result at 0, but not at 2^32 - 1.
bool passes_32_bits(const Binary& what, bool d, bool a, bool b) {
  const std::string name = what.name;
  return !d && (name == "vadd" || (name == "vabsdiff" && a != b) || (name == "vsub" && !a && b));
}

void binary(std::vector<ProgramSpec>& out, const Binary& what, bool is_signed, const Sources& s, const Ending& e) {
  const char* const t = type32(is_signed);
  // Of the words a is the larger; parts of them may be the smaller ones.
  const bool differs = std::string(what.name) == "vsub" && !is_signed && !s.a.text.empty();
  if (differs && std::string(e.second).size() > 1 && std::string(e.second) != ".add") return;
  add_scalar(
      out, fmt::format("{}.{}.{}.{}{}{}", what.name, t, t, t, e.sat ? ".sat" : "", e.second), s, e,
      [=](const uint64_t* in, uint64_t* o) {
        int64_t v = what.of(part_select(in[0], s.a, is_signed), part_select(in[1], s.b, is_signed));
        if (e.sat) v = saturate(v, e.d.bits(), is_signed);
        o[0] = ended(e, v, in, is_signed);
      },
      compared(e, is_signed));
  if (passes_32_bits(what, is_signed, is_signed, is_signed)) out.back().ptxas_differs |= e.sat;
}

// Signs of their own for the result and the sources.
void mixed(std::vector<ProgramSpec>& out, const Binary& what) {
  for (unsigned signs = 1; signs < 7; ++signs) {
    const bool d = (signs & 4) != 0, a = (signs & 2) != 0, b = (signs & 1) != 0;
    add_scalar(out, fmt::format("{}.{}.{}.{}.sat", what.name, type32(d), type32(a), type32(b)), {}, {{}, "", true},
               [=](const uint64_t* in, uint64_t* o) { o[0] = static_cast<uint32_t>(saturate(what.of(part_select(in[0], {}, a), part_select(in[1], {}, b)), 32, d)); }, {});
    out.back().ptxas_differs |= passes_32_bits(what, d, a, b);
  }
}

// The shifted value has the 34 bits of every intermediate result.
void shifts(std::vector<ProgramSpec>& out, bool left, bool is_signed, bool wrap, const Sources& s, const Ending& e) {
  const char* const t = type32(is_signed);
  const bool compares = e.second == std::string_view(".min") || e.second == std::string_view(".max");
  if (left && compares) return;
  add_scalar(
      out, fmt::format("{}.{}.{}.u32{}.{}{}", left ? "vshl" : "vshr", t, t, e.sat ? ".sat" : "", wrap ? "wrap" : "clamp", e.second), s, e,
      [=](const uint64_t* in, uint64_t* o) {
        int64_t by = part_select(in[1], s.b, false);
        by = wrap ? by & 31 : std::min<int64_t>(by, 32);
        const Int128 a = part_select(in[0], s.a, is_signed), shifted = left ? a * (Int128{1} << by) : a >> by;
        auto v = static_cast<int64_t>(shifted & ((Int128{1} << 34) - 1));
        if (v >> 33 != 0) v -= int64_t{1} << 34;
        if (e.sat) v = saturate(v, e.d.bits(), is_signed);
        o[0] = ended(e, v, in, is_signed);
      },
      [=](uint64_t* in) {
        in[1] &= 0x2F2F2F2F;
        if (!is_signed && compares) in[0] &= 0x7FFFFFFF;
      });
}

void comparison(std::vector<ProgramSpec>& out, const Binary& what, bool a, bool b, const Sources& s, const Ending& e) {
  add_scalar(
      out, fmt::format("vset.{}.{}.{}{}", type32(a), type32(b), what.name, e.second), s, e,
      [=](const uint64_t* in, uint64_t* o) { o[0] = ended(e, what.of(part_select(in[0], s.a, a), part_select(in[1], s.b, b)), in, false); },
      [third = has_third(e)](uint64_t* in) {
        if (third) in[2] &= 0x7FFFFFFF;
      });
}

// 9.7.17.3: signs before the operands (as bits: a, b, c), one more, a shift.
struct Product {
  bool a_signed, b_signed;
  unsigned minus;
  const char* suffix;
  bool plus_one, sat;
  unsigned shift;
};
constexpr Product kProducts[] = {
    {false, false, 0, "", false, false, 0},
    {true, true, 0, ".sat", false, true, 0},
    {false, false, 0, ".sat", false, true, 0},
    {true, false, 1, ".sat", false, true, 0},
    {true, true, 2, "", false, false, 0},
    {true, true, 3, ".sat", false, true, 0},
    {false, false, 4, ".sat", false, true, 0},
    {true, true, 4, ".shr7", false, false, 7},
    {false, false, 0, ".po.shr15", true, false, 15},
    {true, true, 0, ".po.sat.shr7", true, true, 7},
    {false, true, 0, ".sat.shr15", false, true, 15},
    {false, false, 1, "", false, false, 0},
};

uint32_t product_of(const Product& p, const Sources& s, const uint64_t* in) {
  const bool minus_product = p.minus == 1 || p.minus == 2, minus_c = p.minus == 4;
  const bool is_signed = p.a_signed || p.b_signed || minus_product || minus_c;
  Int128 tmp = Int128{part_select(in[0], s.a, p.a_signed)} * part_select(in[1], s.b, p.b_signed);
  auto c = static_cast<uint32_t>(in[2]);
  unsigned lsb = p.plus_one ? 1 : 0;
  if (!p.plus_one && minus_product) {
    tmp = ~tmp;
    lsb = 1;
  } else if (!p.plus_one && minus_c) {
    c = ~c;
    lsb = 1;
  }
  tmp += (is_signed ? Int128{static_cast<int32_t>(c)} : Int128{c}) + lsb;
  tmp >>= p.shift;
  const Int128 least = is_signed ? INT32_MIN : 0, most = is_signed ? Int128{INT32_MAX} : Int128{UINT32_MAX};
  return static_cast<uint32_t>(p.sat ? std::clamp(tmp, least, most) : tmp);
}

void product(std::vector<ProgramSpec>& out, const Product& p, const Sources& s) {
  const auto minus = [&](unsigned bit) { return (p.minus & bit) != 0 ? "-" : ""; };
  LaneForm f;
  f.op = fmt::format("vmad.{}.{}.{}{}", type32(p.a_signed || p.b_signed), type32(p.a_signed), type32(p.b_signed), p.suffix);
  f.operands = fmt::format("w={}w{}{}w{}{}w", minus(1), s.a.suffix(), minus(2), s.b.suffix(), minus(4));
  f.name = fmt::format("{}/{}", f.op, f.operands);
  f.expect = [=](const uint64_t* in, uint64_t* o) { o[0] = product_of(p, s, in); };
  // ptxas's code takes words for signed ones if more than the low half of the result counts.
  const bool is_signed = p.a_signed || p.b_signed || p.minus != 0;
  f.prepare = [p, is_signed](uint64_t* in) {
    if (!p.a_signed) in[0] &= 0x7FFFFFFF;
    if (!p.b_signed) in[1] &= 0x7FFFFFFF;
    if (!is_signed) in[2] &= 0x7FFFFFFF;
  };
  out.push_back(lane_program("video", std::move(f)));
}

void scalars(std::vector<ProgramSpec>& out) {
  for (const Sources& s : kSources) {
    for (const Ending& e : kEndings) {
      for (const bool is_signed : {false, true}) {
        for (const Binary& what : kBinary) binary(out, what, is_signed, s, e);
        if (!s.a.text.empty() && s.b.text.empty()) continue;
        for (const bool left : {false, true}) shifts(out, left, is_signed, s.a.text.empty(), s, e);
      }
    }
    for (const Product& p : kProducts) product(out, p, s);
  }
  for (const Binary& what : kBinary) mixed(out, what);
  for (const bool left : {false, true}) shifts(out, left, true, false, {}, {{}, "", true});
  for (const Binary& what : kComparisons) {
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        comparison(out, what, a, b, kSources[0], {});
        comparison(out, what, a, b, kSources[1], {{"b2"}, "", false});
        comparison(out, what, a, b, kSources[2], {{}, a ? ".add" : ".max", false});
      }
    }
  }
}

// ---- 9.7.18

struct Vector {
  unsigned count;  // elements
  Selector mask, a, b;
  std::string full_a, full_b;  // what the selectors are without a text
};
const Vector kVectors[] = {
    {2, {}, {}, {}, "h10", "h32"},
    {2, {"h1"}, {"h03"}, {"h21"}, "h10", "h32"},
    {2, {"h0"}, {"h33"}, {}, "h10", "h32"},
    {4, {}, {}, {}, "b3210", "b7654"},
    {4, {"b20"}, {"b7531"}, {"b0000"}, "b3210", "b7654"},
    {4, {"b321"}, {}, {"b1670"}, "b3210", "b7654"},
};

int64_t element(const uint64_t* in, const Selector& s, const std::string& full, unsigned k, bool is_signed) {
  const Selector whole{s.text.empty() ? full : s.text};
  const unsigned place = whole.digit(k), per = 32 / whole.bits();
  return part_select(in[place / per], {fmt::format("{}{}", whole.text[0], place % per)}, is_signed);
}
bool in_mask(const Vector& v, unsigned k) { return v.mask.text.empty() || v.mask.text.find(static_cast<char>('0' + k), 1) != std::string::npos; }

enum class How {
  plain,
  sat,
  add
};

void vector(std::vector<ProgramSpec>& out, const Vector& v, std::string op, int64_t (*of)(int64_t, int64_t), bool d, bool a, bool b, How how) {
  LaneForm f;
  f.op = std::move(op);
  f.operands = fmt::format("w{}=w{}w{}w", v.mask.suffix(), v.a.suffix(), v.b.suffix());
  f.name = fmt::format("{}/{}", f.op, f.operands);
  f.expect = [=](const uint64_t* in, uint64_t* o) {
    const unsigned bits = 32 / v.count;
    auto sum = static_cast<uint32_t>(in[2]);
    uint64_t word = 0;
    for (unsigned k = 0; k < v.count; ++k) {
      int64_t t = of(element(in, v.a, v.full_a, k, a), element(in, v.b, v.full_b, k, b));
      if (how == How::sat) t = saturate(t, bits, d);
      if (in_mask(v, k)) sum += static_cast<uint32_t>(t);
      const uint64_t chosen = in_mask(v, k) ? static_cast<uint64_t>(t) : in[2] >> (bits * k);
      word |= (chosen & ((uint64_t{1} << bits) - 1)) << (bits * k);
    }
    o[0] = how == How::add ? sum : word;
  };
  out.push_back(lane_program("video", std::move(f)));
}

void vector_operation(std::vector<ProgramSpec>& out, const Vector& v, const Binary& what) {
  for (const bool is_signed : {false, true}) {
    for (const How how : {How::plain, How::sat, How::add}) {
      const char* suffix = how == How::sat ? ".sat" : how == How::add ? ".add"
                                                                      : "";
      vector(out, v, fmt::format("{0}{1}.{2}.{2}.{2}{3}", what.name, v.count, type32(is_signed), suffix), what.of, is_signed, is_signed, is_signed, how);
    }
  }
  vector(out, v, fmt::format("{}{}.u32.s32.u32.sat", what.name, v.count), what.of, false, true, false, How::sat);
}

void vectors(std::vector<ProgramSpec>& out) {
  for (const Vector& v : kVectors) {
    for (const Binary& what : kBinary) vector_operation(out, v, what);
    vector_operation(out, v, kAverage);
    for (const Binary& what : kComparisons) {
      for (const bool a : {false, true}) {
        const How how = a ? How::add : How::plain;
        vector(out, v, fmt::format("vset{}.{}.s32.{}{}", v.count, type32(a), what.name, a ? ".add" : ""), what.of, false, a, true, how);
      }
    }
  }
}

}  // namespace

void add_video(std::vector<ProgramSpec>& out) {
  scalars(out);
  vectors(out);
}

}  // namespace drywell::kernels::conformance
