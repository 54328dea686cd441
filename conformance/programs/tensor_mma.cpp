// The forms of tcgen05.mma: every kind, type, shape, layout and further operand, with random matrices.
#include <tuple>

#include "conformance/programs/tensor_case.h"

namespace drywell::kernels::conformance {
namespace {

MmaCase base(const std::string& kind) {
  MmaCase c;
  c.kind = kind;
  if (kind == "tf32") c.a_type = c.b_type = "tf32";
  if (kind == "f8f6f4" || kind == "mxf8f6f4") c.a_type = "e4m3", c.b_type = "e5m2";
  if (kind == "i8") c.a_type = "s8", c.b_type = "u8", c.d_type = "s32";
  if (kind == "mxf4" || kind == "mxf4nvf4") c.a_type = c.b_type = "e2m1";
  if (kind == "mxf8f6f4") c.factors = 1, c.scale_type = "ue8m0";
  if (kind == "mxf4") c.factors = 2, c.scale_type = "ue8m0";
  if (kind == "mxf4nvf4") c.factors = 4, c.scale_type = "ue4m3";
  return c;
}

constexpr const char* kDense[] = {"f16", "tf32", "f8f6f4", "i8"};

// Every M with small, odd-sized and full N, in both cta_groups (docs/facts/tcgen05.md §4.3).
std::vector<MmaCase> shapes() {
  std::vector<MmaCase> cases;
  for (const char* kind : {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"}) {
    const bool scaled = kind[0] == 'm';
    const auto add = [&](unsigned group, unsigned m, unsigned n) {
      MmaCase c = base(kind);
      c.cta_group = group;
      c.m = m;
      c.n = n;
      c.issuer = group == 2 ? cases.size() % 2 : 0;
      c.seed = cases.size() + 1;
      cases.push_back(c);
    };
    for (unsigned n : {8u, 24u, 64u, 192u, 256u}) {
      if (!scaled) add(1, 64, n);
      add(1, 128, n);
    }
    for (unsigned n : {32u, 96u, 192u, 256u}) {
      add(2, 128, n);
      add(2, 256, n);
    }
  }
  return cases;
}

// All type combinations of each kind, both accumulator types, SS and TS.
std::vector<MmaCase> types() {
  std::vector<MmaCase> cases;
  const auto add = [&](MmaCase c) {
    c.n = 16;
    c.seed = cases.size() + 100;
    for (const bool tmem : {false, true}) {
      c.a_in_tmem = tmem;
      cases.push_back(c);
    }
  };
  MmaCase c = base("f16");
  add(c);
  c.d_type = "f16";
  add(c);
  c = base("f16");
  c.a_type = c.b_type = "bf16";
  add(c);
  add(base("tf32"));
  for (const char* kind : {"f8f6f4", "mxf8f6f4"}) {
    for (const char* a : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"}) {
      for (const char* b : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"}) {
        c = base(kind);
        c.a_type = a;
        c.b_type = b;
        if (!c.scaled() && (a[1] == '4' || b[1] == '2')) c.d_type = "f16";
        add(c);
      }
    }
  }
  for (const char* a : {"u8", "s8"}) {
    for (const char* b : {"u8", "s8"}) {
      c = base("i8");
      c.a_type = a;
      c.b_type = b;
      c.saturate = a == b;
      add(c);
    }
  }
  add(base("mxf4"));
  add(base("mxf4nvf4"));
  c = base("mxf4nvf4");
  c.scale_type = "ue8m0";
  add(c);
  c.factors = 2;
  add(c);
  return cases;
}

// Every legal swizzle and major-ness of A and B by element size; starts inside the swizzle span
// (docs/facts/tcgen05.md §4.6).
std::vector<MmaCase> layouts() {
  using enum Swizzling;
  std::vector<MmaCase> cases;
  const auto add = [&](MmaCase c, SmemPlan a, SmemPlan b) {
    c.a = a;
    c.b = b;
    c.n = 48;
    c.seed = cases.size() + 300;
    cases.push_back(c);
    if (cases.size() % 3 != 0) return;
    c.cta_group = 2;
    c.m = 256;
    c.n = 96;
    cases.push_back(c);
  };
  for (const char* kind : {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4"}) {
    const bool mn = std::string(kind) != "mxf4", words = std::string(kind) == "tf32";
    for (Swizzling s : {none, s32, s64, s128}) {
      add(base(kind), {false, s, 0}, {false, s, 0});
      if (!mn || words) continue;
      add(base(kind), {true, s, 0}, {false, none, 0});
      add(base(kind), {false, none, 0}, {true, s, 0});
    }
    if (words) add(base(kind), {true, s128_atom32, 0}, {true, s128_atom32, 0});
    if (mn && !words) add(base(kind), {true, s128, 0}, {true, s64, 0});
    add(base(kind), {false, s64, 1}, {false, s128, 1});
    add(base(kind), {false, s128, 2}, {false, s128, 3});
    MmaCase narrow = base(kind);
    if (narrow.a_type != "e4m3") continue;
    narrow.a_type = "e2m1";
    narrow.b_type = "e3m2";
    for (Swizzling s : {s32, s64, s128}) add(narrow, {false, s, 0}, {false, s, s == s128 ? 2u : 0u});
  }
  return cases;
}

// Further operands: negation, the input D, lanes that are not written, base lane 16, ids of scale factors, A in tensor
// memory.
std::vector<MmaCase> operands() {
  std::vector<MmaCase> cases;
  const auto add = [&](MmaCase c) {
    c.seed = cases.size() + 500;
    cases.push_back(c);
  };
  for (const char* kind : {"f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"}) {
    MmaCase c = base(kind);
    c.n = 32;
    c.negate_a = true;
    add(c);
    c.negate_b = true;
    c.accumulate = false;
    add(c);
    c.negate_a = false;
    c.qualifiers = ".collector::a::fill";
    add(c);
  }
  for (const char* kind : kDense) {
    for (const bool tmem : {false, true}) {
      for (const auto& [group, m, n] :
           {std::tuple{1u, 64u, 40u}, {1u, 128u, 32u}, {2u, 128u, 64u}, {2u, 256u, 64u}}) {
        MmaCase c = base(kind);
        c.a_in_tmem = tmem;
        c.cta_group = group;
        c.m = m;
        c.n = std::string(kind) == "i8" && n == 40 ? 48 : n;
        c.disable = {0x80000001, 0xF0F0F0F0, 0, 0x12345678};
        if (group == 2) c.disable.insert(c.disable.end(), {0xFFFF0000, 1, 0x80000000, 0x0FF0});
        add(c);
        c.disable.clear();
        if (m != 64) continue;
        c.d_lane = 16;
        add(c);
      }
    }
  }
  for (const char* kind : {"f16", "tf32"}) {
    for (unsigned s : {1u, 7u, 15u}) {
      MmaCase c = base(kind);
      c.n = 16;
      c.scale_d = s;
      c.tame = true;
      add(c);
    }
  }
  for (const auto& [kind, step] : {std::pair{"mxf8f6f4", 1u}, {"mxf4", 2u}, {"mxf4nvf4", 4u}}) {
    for (unsigned id = 0; id < 4; id += step) {
      for (const auto& [group, m, n] : {std::tuple{1u, 128u, 72u}, {2u, 128u, 96u}, {2u, 256u, 224u}}) {
        MmaCase c = base(kind);
        c.cta_group = group;
        c.m = m;
        c.n = n;
        c.sfa_id = id;
        c.sfb_id = step == 4 ? 0 : (4 - step) - id;
        c.a_in_tmem = n == 96;
        add(c);
      }
    }
  }
  return cases;
}

// Sparse A: half of the elements are kept, and metadata selects them (docs/facts/tcgen05.md §6.3).
std::vector<MmaCase> sparse() {
  std::vector<MmaCase> cases;
  for (const char* kind : {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"}) {
    const bool scaled = kind[0] == 'm';
    for (const auto& [group, m, n] :
         {std::tuple{1u, 64u, 16u}, {1u, 128u, 40u}, {2u, 128u, 32u}, {2u, 256u, 32u}}) {
      if (scaled && m != 128 * group) continue;
      MmaCase c = base(kind);
      c.sparse = true;
      c.cta_group = group;
      c.m = m;
      c.n = std::string(kind) == "i8" && n == 40 ? 48 : n;
      c.seed = cases.size() + 700;
      cases.push_back(c);
      c.a_in_tmem = true;
      if (m == 64) c.d_lane = 16;
      if (!scaled && (kind[0] == 'f' && kind[1] == '1')) c.selector = 1;
      c.b = {kind[0] != 't' && !(scaled && kind[2] == 'f' && kind[3] == '4'), Swizzling::s128, 0};
      if (c.bits(c.b_type) < 8) c.b.mn_major = false;
      if (c.b.mn_major && n == 40) c.n = 48;  // 8-bit elements: steps of 16
      cases.push_back(c);
    }
  }
  return cases;
}

// Weight stationary: layouts D, E, G, copies of A, the zero-column mask (docs/facts/tcgen05.md §4.8, §5).
std::vector<MmaCase> weight_stationary() {
  std::vector<MmaCase> cases;
  for (const char* kind : kDense) {
    for (unsigned m : {32u, 64u, 128u}) {
      for (unsigned n : {64u, 128u, 256u}) {
        MmaCase c = base(kind);
        c.ws = true;
        c.m = m;
        c.n = n;
        c.seed = cases.size() + 900;
        c.a_in_tmem = cases.size() % 2 != 0;
        c.qualifiers = n == 64 ? ".collector::b2::fill" : "";
        cases.push_back(c);
        if (n == 256) continue;
        c.sparse = true;
        c.a_in_tmem = !c.a_in_tmem;
        c.qualifiers.clear();
        cases.push_back(c);
        c.sparse = n == 64;
        c.has_zero_mask = true;
        // Runs of 3 used and 5 zeroed columns, with different first spans and counts per sub-mask.
        c.zero_mask =
            uint64_t{1} << 39 | uint64_t{4} << 40 | uint64_t{2} << 48 | uint64_t{0b0101} << 32 | 0x09030102;
        cases.push_back(c);
        c.max_shift = 2;
        c.zero_mask |= uint64_t{m == 32 ? 9u : 16u} << 56;
        cases.push_back(c);
      }
    }
  }
  return cases;
}

// .ashift: the product uses A before the shift, then A moves.
std::vector<MmaCase> ashift() {
  std::vector<MmaCase> cases;
  for (const char* kind : kDense) {
    for (unsigned group : {1u, 2u}) {
      MmaCase c = base(kind);
      c.a_in_tmem = c.ashift = true;
      c.cta_group = group;
      c.m = 128 * group;
      c.n = 32;
      c.seed = cases.size() + 1100;
      cases.push_back(c);
    }
  }
  return cases;
}

// K = 96 of sm_103: rows of 48 bytes, three or six factors that may begin in one word and end in the next, rows that go on at an absolute
// address behind the swizzle span.
std::vector<MmaCase> k96() {
  using enum Swizzling;
  std::vector<MmaCase> cases;
  const auto add = [&](MmaCase c, unsigned factors, const std::string& scale, unsigned sfa_id, unsigned sfb_id) {
    c.k96 = true;
    c.factors = factors;
    c.scale_type = scale;
    c.sfa_id = sfa_id;
    c.sfb_id = sfb_id;
    c.seed = cases.size() + 1300;
    c.issuer = c.cta_group == 2 ? cases.size() % 2 : 0;
    cases.push_back(c);
  };
  const auto with = [](const char* kind, unsigned group, unsigned m, unsigned n, SmemPlan a, SmemPlan b) {
    MmaCase c = base(kind);
    c.cta_group = group;
    c.m = m;
    c.n = n;
    c.a = a;
    c.b = b;
    return c;
  };
  const SmemPlan plain{false, none, 0}, in_span{false, s128, 2}, split{false, s128, 3, true};
  for (const auto& [group, m, n] : {std::tuple{1u, 128u, 16u}, {1u, 128u, 128u}, {1u, 128u, 192u}, {1u, 128u, 256u}, {2u, 128u, 96u}, {2u, 128u, 256u}, {2u, 256u, 64u}, {2u, 256u, 256u}}) {
    for (unsigned id = 0; id < 4; ++id) add(with("mxf4", group, m, n, id % 2 == 0 ? split : in_span, id < 2 ? split : plain), 3, "ue8m0", id, 3 - id);
    for (unsigned id : {0u, 2u}) {
      add(with("mxf4nvf4", group, m, n, split, in_span), 6, "ue4m3", id, 2 - id);
      add(with("mxf4nvf4", group, m, n, plain, split), 6, "ue8m0", id, id);
    }
  }
  add(with("mxf4nvf4", 1, 128, 64, plain, split), 3, "ue8m0", 1, 2);
  for (const auto& [group, m, n] : {std::tuple{1u, 128u, 32u}, {2u, 256u, 32u}}) {
    MmaCase c = with("mxf4nvf4", group, m, n, plain, {false, s64, 0});
    c.a_in_tmem = true;
    c.negate_b = true;
    add(c, 6, "ue4m3", 2, 0);
  }
  return cases;
}

}  // namespace

void add_mma_forms(std::vector<TensorSpec>& out) {
  for (const auto& list :
       {shapes(), types(), layouts(), operands(), sparse(), weight_stationary(), ashift()}) {
    for (const MmaCase& c : list) out.push_back({"tcgen05.mma/" + c.name(), [c] { return mma_check(c); }});
  }
  for (const MmaCase& c : k96()) out.push_back({"tcgen05.mma/" + c.name(), [c] { return mma_check(c); }, isa::Target::sm_103a});
}

}  // namespace drywell::kernels::conformance
