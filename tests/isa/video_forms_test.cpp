// Forms of video instructions, special registers and others: each is refused or accepted as ptxas 13.0 does, and where there is a ptxas it is
// asked again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

struct Form {
  const char* line;
  bool legal;
};

std::string module_of(const char* line) {
  return fmt::format(R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k()
{{
 .reg .b32 a, b, c, d; .reg .b64 q; .reg .f32 f; .reg .b16 h;
 mov.u32 a, 1; mov.u32 b, 2; mov.u32 c, 3; mov.f32 f, 0f00000000; mov.u16 h, 0; mov.u64 q, 0;
 {};
 ret;
}}
)",
                     line);
}

bool accepts(const std::string& text) {
  const ParseResult r = parse_ptx(text, "form.ptx");
  return !r.diagnostics.has_errors() && !validate(r.module).has_errors();
}

class VideoForms : public testing::TestWithParam<Form> {};

TEST_P(VideoForms, AreJudgedAsByPtxas) {
  const std::string text = module_of(GetParam().line);
  EXPECT_EQ(accepts(text), GetParam().legal) << GetParam().line;
  if (const auto asked = test::run_ptxas(text, "sm_100a")) {
    EXPECT_EQ(asked->accepted, GetParam().legal) << asked->output;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scalar, VideoForms,
    testing::Values(Form{"vadd.u32.u32.u32 d, a, b", true}, Form{"vadd.u32.u32.u32.sat d, a.b0, b.h1", true}, Form{"vadd.sat.u32.u32.u32.add d, a, b, c", true},
                    Form{"vadd.u32.u32.u32.add d, a, b", false}, Form{"vadd.u32.u32.u32 d.b0, a, b, c", true}, Form{"vadd.u32.u32.u32 d.b0, a, b", false},
                    Form{"vadd.u32.u32.u32.add d.b0, a, b, c", false}, Form{"vadd.u32.u32.u32 d, a, b, c", true}, Form{"vadd.u32.u32.u32 d, -a, b", false},
                    Form{"vadd.u32.s32.u32.min d, a, 5, 7", true}, Form{"vadd.u32.u32.u32 d.b4, a, b, c", false}, Form{"vadd.u32.u32.u32 d, a.h10, b", false},
                    Form{"vadd.u32.u32.u32 d, f, b", false}, Form{"vadd.u32.u32.u32 d, q, b", false}, Form{"vadd.u32.u32.u32 d, h, b", false}, Form{"vadd.u32.u32 d, a, b", false},
                    Form{"vadd.b32.u32.u32 d, a, b", false}, Form{"vadd.u32.u32.u32 d, a .b1, b", true}, Form{"add.u32 d, a.b1, b", false}, Form{"mov.b32 d, a.b1", false},
                    Form{"vshl.u32.u32.u32.clamp d, a, b", true}, Form{"vshl.u32.u32.u32 d, a, b", false}, Form{"vshl.s32.s32.s32.clamp d, a, b", false},
                    Form{"vshr.s32.s32.u32.add.wrap d, a, b, c", true}, Form{"vshr.s32.s32.u32.wrap d.b3, a.b1, b.h0, c", true}, Form{"vset.u32.u32.lo d, a, b", false},
                    Form{"vset.u32.s32.eq.max d, a.b3, b.h1, c", true}, Form{"vset.u32.s32.eq d.h1, a, b, c", true}, Form{"vset.u32.s32.ge.sat d, a, b", false},
                    Form{"vmad.s32.s32.s32 d, -a.b0, b.h1, c", true}, Form{"vmad.s32.s32.s32 d, -a, -b, c", true}, Form{"vmad.s32.s32.s32 d, a, -b, -c", false},
                    Form{"vmad.s32.s32.s32.po d, a, b, -c", false}, Form{"vmad.s32.s32.s32.po d, -a, b, c", false}, Form{"vmad.s32.s32.s32.po.sat.shr7 d, a, b, c", true},
                    Form{"vmad.s32.s32.s32.shr15.sat d, a, b, -c", true}, Form{"vmad.s32.s32.s32.shr8 d, a, b, c", false}, Form{"vmad.s32.s32.s32 d.b0, a, b, c", false},
                    Form{"vmad.u32.u32.u32 d, a, b", false}));
INSTANTIATE_TEST_SUITE_P(
    Vectors, VideoForms,
    testing::Values(Form{"vadd2.u32.u32.u32 d, a, b, c", true}, Form{"vadd2.u32.u32.u32 d, a, b", false}, Form{"vadd2.u32.u32.u32 d.h0, a.h32, b.h01, c", true},
                    Form{"vadd2.u32.u32.u32 d.h01, a, b, c", false}, Form{"vadd2.u32.u32.u32 d.h11, a, b, c", false}, Form{"vadd2.u32.u32.u32 d.h2, a, b, c", false},
                    Form{"vadd2.u32.u32.u32 d, a.h0, b, c", false}, Form{"vadd2.u32.u32.u32 d, a.h04, b, c", false}, Form{"vadd2.u32.u32.u32 d, a.b10, b, c", false},
                    Form{"vadd2.u32.u32.u32.sat.add d, a, b, c", false}, Form{"vadd2.u32.u32.u32.min d, a, b, c", false}, Form{"vadd2.u32.u32.u32 d, a, b, 5", false},
                    Form{"vavrg2.s32.u32.s32.sat d.h1, a.h33, b.h20, c", true}, Form{"vset2.u32.u32.lo d, a, b, c", false}, Form{"vset2.u32.s32.eq.add d.h1, a.h32, b, c", true},
                    Form{"vset4.u32.u32.ge.add d.b310, a.b7654, b.b0000, c", true}, Form{"vset4.u32.u32.eq.sat d, a, b, c", false}, Form{"vadd4.u32.u32.u32 d.b013, a, b, c", false},
                    Form{"vadd4.u32.u32.u32 d.b31, a, b, c", true}, Form{"vadd4.u32.u32.u32 d.b33, a, b, c", false}, Form{"vadd4.u32.u32.u32 d, a.b8654, b, c", false},
                    Form{"vadd4.u32.u32.u32 d, a.b654, b, c", false}, Form{"vabsdiff4.u32.u32.u32.add d.b0, a, b, c", true}));
INSTANTIATE_TEST_SUITE_P(SpecialRegisters, VideoForms,
                         testing::Values(Form{"mov.u32 d, %pm7", true}, Form{"mov.u64 q, %pm3_64", true}, Form{"mov.u32 d, %envreg31", true}, Form{"mov.u32 d, %envreg32", false},
                                         Form{"mov.u64 q, %current_graph_exec", true}, Form{"mov.u32 d, %ctaid.w", true}, Form{"mov.u32 d, %tid.w", true}));
INSTANTIATE_TEST_SUITE_P(Multimem, VideoForms,
                         testing::Values(Form{"multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.v2.f16x2 {a, b}, [q]", true},
                                         Form{"multimem.ld_reduce.relaxed.gpu.global.add.acc::f16.e5m2x4 d, [q]", true},
                                         Form{"multimem.st.relaxed.gpu.global.v4.e5m2x4 [q], {a, b, c, d}", true}));

// What the parser reads is what the printer writes.
TEST(VideoForms, SelectorsAndSignsAreKept) {
  for (const char* line : {"vmad.s32.s32.s32.sat d, -a.b0, b.h1, c", "vadd4.u32.s32.u32 d.b310, a.b7531, b.b0000, c", "vsub.s32.s32.s32 d.h1, a, b.b2, c"}) {
    const ParseResult r = parse_ptx(module_of(line), "form.ptx");
    ASSERT_FALSE(r.diagnostics.has_errors()) << line;
    const Function& f = r.module.functions.at(0);
    EXPECT_EQ(print_instruction(f, f.body.at(6)), std::string(line) + ";");
  }
}

}  // namespace
}  // namespace drywell::isa
