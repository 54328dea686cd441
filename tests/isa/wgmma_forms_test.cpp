// Every form of wgmma.mma_async that PTX ISA 9.7.15.5.2 and 9.7.15.6 list: all types, every N, A in shared memory and in registers, dense and
// sparse. ptxas 13.0 takes all of them (.version 8.4, 2026-11-22).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"

namespace drywell::isa {
namespace {

struct Types {
  const char *d, *operands;
  unsigned bits;  // of A's elements
  bool transposes = false;
};

std::vector<Types> types() {
  std::vector<Types> all = {{"f16", "f16.f16", 16, true}, {"f32", "f16.f16", 16, true}, {"f32", "bf16.bf16", 16, true}, {"f32", "tf32.tf32", 32}};
  for (const char* d : {"f16", "f32"}) {
    for (const char* operands : {"e4m3.e4m3", "e4m3.e5m2", "e5m2.e4m3", "e5m2.e5m2"}) all.push_back({d, operands, 8});
  }
  for (const char* operands : {"s8.s8", "s8.u8", "u8.s8", "u8.u8"}) {
    all.push_back({"s32", operands, 8});
    all.push_back({"satfinite.s32", operands, 8});
  }
  all.push_back({"s32", "b1.b1.and.popc", 1});
  return all;
}

bool integers(const Types& t) { return std::string_view(t.d).ends_with("s32"); }

std::string form(const Types& t, unsigned n, bool sparse, bool registers) {
  std::string d;
  const unsigned count = t.d == std::string_view("f16") ? n / 4 : n / 2;
  for (unsigned i = 0; i < count; ++i) d += fmt::format("{}%{}{}", i == 0 ? "" : ", ", integers(t) || count == n / 4 ? "r" : "f", i);
  std::string tail = integers(t) ? "" : ", 1, -1";
  if (t.transposes) tail += registers ? ", 1" : ", 0, 1";
  return fmt::format("wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}.{} {{{}}}, {}, %rd2{}, %p1{};\n", sparse ? ".sp" : "", n, (sparse ? 2 : 1) * 256 / t.bits, t.d, t.operands, d,
                     registers ? "{%r190, %r191, %r192, %r193}" : "%rd1", sparse ? ", %r180, 0" : "", tail);
}

std::string module_of(const std::string& body, const char* version) {
  return fmt::format(".version {}\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<200>;\n.reg .f32 %f<200>;\n.reg .b64 %rd<3>;\n.reg .pred %p<2>;\n{}ret;\n}}\n",
                     version, body);
}

std::string said(const std::string& text) {
  const ParseResult r = parse_ptx(text, "forms.ptx");
  return r.diagnostics.has_errors() ? r.diagnostics.to_string() : validate(r.module).to_string();
}

TEST(WgmmaForms, AreLegal) {
  unsigned forms = 0;
  std::string body;
  for (const Types& t : types()) {
    for (unsigned n = 8; n <= 256; n += 8) {
      if (integers(t) && n > 32 && n % 16 != 0) continue;
      for (const bool sparse : {false, true}) {
        if (sparse && t.bits == 1) continue;
        for (const bool registers : {false, true}) {
          body += form(t, n, sparse, registers);
          ++forms;
        }
      }
    }
  }
  EXPECT_EQ(forms, 2148u);
  EXPECT_EQ(said(module_of(body, "8.4")), "");
}

// The PTX version of each form, by ptxas 13.0.
TEST(WgmmaForms, NeedTheirVersionOfPtx) {
  struct Since {
    Types types;
    bool sparse;
    const char *refused, *taken;
  };
  for (const Since& s : {Since{{"f32", "e4m3.e5m2", 8}, false, "7.8", "8.0"}, Since{{"f32", "e4m3.e5m2", 8}, true, "8.1", "8.2"}, Since{{"s32", "s8.s8", 8}, true, "8.1", "8.2"},
                         Since{{"s32", "s8.u8", 8}, false, "8.3", "8.4"}, Since{{"s32", "u8.s8", 8}, true, "8.3", "8.4"}}) {
    const std::string body = form(s.types, 8, s.sparse, false);
    EXPECT_NE(said(module_of(body, s.refused)).find(code_name(Code::E1211)), std::string::npos) << body;
    EXPECT_EQ(said(module_of(body, s.taken)), "") << body;
  }
}

}  // namespace
}  // namespace drywell::isa
