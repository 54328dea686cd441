// Video instructions: values worked out by hand from the pseudo-code of PTX ISA 9.7.17 and 9.7.18. The conformance programs (family video) have many
// operands with a reference of their own.
#include "check_lanes.h"

namespace drywell::test {
namespace {

struct Case {
  const char* body;  // w0 = f(w1, w2, w3)
  uint32_t a, b, c, want;
};

class Video : public testing::TestWithParam<Case> {};

TEST_P(Video, AsWorkedOutByHand) {
  const Case& k = GetParam();
  check_lanes<3>(k.body, "w0", {"w1", "w2", "w3"}, {Column{k.a}, Column{k.b}, Column{k.c}}, [&](auto) { return k.want; });
}

INSTANTIATE_TEST_SUITE_P(
    Scalar, Video,
    testing::Values(
        // -2 of byte 0 plus 0x1234 of the upper half.
        Case{"vadd.s32.s32.u32 w0, w1.b0, w2.h1;", 0xAABBCCFE, 0x1234FFFF, 0, 0x1232},
        // 0x80 + 0x7F is 255; 0x81 + 0x7F is 256 and becomes the largest byte; the others are those of c.
        Case{"vadd.u32.u32.u32.sat w0.b2, w1.b0, w2.b0, w3;", 0x81, 0x7F, 0x11223344, 0x11FF3344},
        Case{"vadd.s32.u32.u32.sat w0.h0, w1, w2, w3;", 0x12345, 0, 0x55556666, 0x55557FFF},
        // 1 - 2 in an unsigned byte is 0 with .sat.
        Case{"vsub.u32.u32.u32.sat w0.b3, w1, w2, w3;", 1, 2, 0xFFEEDDCC, 0x00EEDDCC},
        // The difference -1 is above every c where the result is unsigned.
        Case{"vsub.u32.u32.u32.min w0, w1, w2, w3;", 1, 2, 5, 5}, Case{"vsub.s32.u32.u32.min w0, w1, w2, w3;", 1, 2, 5, 0xFFFFFFFF},
        Case{"vabsdiff.u32.s32.s32.add w0, w1.h0, w2.h0, w3;", 0x8000, 0x7FFF, 1, 0x10000}, Case{"vmax.s32.u32.s32 w0, w1.b3, w2, w3;", 0x80000000, 0xFFFFFFFF, 0, 0x80},
        // Shifts by more than 32 are by 32 (clamp), or by the low five bits.
        Case{"vshl.u32.u32.u32.clamp w0, w1, w2;", 0xFF, 40, 0, 0}, Case{"vshl.u32.u32.u32.wrap w0, w1, w2;", 0xFF, 40, 0, 0xFF00},
        Case{"vshr.s32.s32.u32.clamp w0, w1.b0, w2;", 0x90, 100, 0, 0xFFFFFFFF}, Case{"vshr.u32.u32.u32.clamp w0, w1.b0, w2.h1;", 0x90, 0x00040000, 0, 9},
        // 0x7F << 25 is 0xFE000000, too much for .s32.
        Case{"vshl.s32.s32.u32.sat.clamp w0, w1.b0, w2;", 0x7F, 25, 0, 0x7FFFFFFF},
        Case{"vset.s32.u32.lt w0, w1, w2;", 0xFFFFFFFF, 0, 0, 1}, Case{"vset.u32.u32.lt w0.b1, w1, w2, w3;", 0xFFFFFFFF, 0, 0xAAAAAAAA, 0xAAAA00AA},
        Case{"vset.u32.u32.ge.add w0, w1, w2, w3;", 7, 7, 41, 42},
        // 300 * 200 - 60001 is -1; -(3 * 5) + 1; (127 * 2 + 1 + 1) / 128.
        Case{"vmad.s32.u32.u32 w0, w1, w2, -w3;", 300, 200, 60001, 0xFFFFFFFF}, Case{"vmad.s32.u32.u32 w0, -w1, w2, w3;", 3, 5, 1, 0xFFFFFFF2},
        Case{"vmad.u32.u32.u32.po.shr7 w0, w1, w2, w3;", 127, 2, 1, 2}, Case{"vmad.s32.s32.s32.sat w0, w1, w2, w3;", 0x40000000, 0x40000000, 0, 0x7FFFFFFF},
        Case{"vmad.s32.s32.s32.sat w0, w1, -w2, w3;", 0x40000000, 0x40000000, 0, 0x80000000}));

INSTANTIATE_TEST_SUITE_P(
    Vectors, Video,
    testing::Values(
        // Without selectors: a's half-words and b's.
        Case{"vadd2.u32.u32.u32 w0, w1, w2, w3;", 0x00010002, 0x00100020, 0, 0x00110022},
        // Element 0 is a's half-word 2, which is b's first, plus a's upper one; element 1 is that of c.
        Case{"vadd2.u32.u32.u32 w0.h0, w1.h32, w2.h01, w3;", 0x00050003, 0x00070009, 0x77770000, 0x7777000E},
        Case{"vsub2.u32.u32.u32.sat w0, w1, w2, w3;", 0x00010009, 0x00020001, 0, 0x00000008}, Case{"vavrg2.s32.s32.s32 w0, w1, w2, w3;", 0xFFFC0003, 0xFFFF0004, 0, 0xFFFD0004},
        Case{"vset2.s32.s32.lt w0.h1, w1, w2, w3;", 0xFFFF0001, 0x00000000, 0x22223333, 0x00013333},
        // |1-4| and |3-2|, of elements 0 and 2.
        Case{"vabsdiff4.u32.u32.u32.add w0.b20, w1, w2, w3;", 0x09030901, 0x09020904, 10, 14}, Case{"vmin4.s32.s32.s32 w0, w1, w2.b4567, w3;", 0x807F0001, 0x00FF0102, 0, 0x8001FF00},
        Case{"vset4.u32.u32.ne.add w0, w1, w2, w3;", 0x01020304, 0x01FF03FF, 5, 7}));

// Whatever the mask leaves out comes from c, byte by byte.
TEST(Video, TheFourthElementOfEveryRegister) {
  check_lanes<3>("vmax4.u32.u32.u32 w0.b3, w1, w2, w3;", "w0", {"w1", "w2", "w3"}, {integer_values(32, 200, 1), integer_values(32, 200, 2), integer_values(32, 200, 3)},
                 [](auto v) { return std::max(v[0] >> 24, v[1] >> 24) << 24 | (v[2] & 0xFFFFFF); });
}

}  // namespace
}  // namespace drywell::test
