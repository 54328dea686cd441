// Every layout that the articles (docs/facts/articles.md) print and that the algebra can produce is produced and compared with
// the article's text. `line` quotes the article; `expression` makes the same object from the article's description.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "drywell/isa/layout/expression.h"

namespace drywell::layout {
namespace {

struct ArticleLine {
  std::string name;
  std::string line;           // as printed, label dropped
  std::string expression;     // in CuTe's C++ notation
  Marks marks = Marks::cute;  // plain: the article prints with CuTe DSL, which has no static marks
};

void PrintTo(const ArticleLine& s, std::ostream* os) { *os << s.line; }

std::string without_spaces(std::string s) {
  s.erase(std::remove(s.begin(), s.end(), ' '), s.end());
  return s;
}

class ArticleLayout : public testing::TestWithParam<ArticleLine> {};

TEST_P(ArticleLayout, IsReproduced) {
  const Evaluation e = evaluate(GetParam().expression, Reading::cute);
  EXPECT_EQ(without_spaces(to_string(e.value, GetParam().marks)), without_spaces(GetParam().line))
      << GetParam().expression;
}

TEST_P(ArticleLayout, ParsesAndPrintsBack) {
  const ArticleLine& s = GetParam();
  const Evaluation e = evaluate(s.line, s.marks == Marks::cute ? Reading::cute : Reading::plain);
  EXPECT_EQ(without_spaces(to_string(e.value, s.marks)), without_spaces(s.line));
}

std::string test_name(const testing::TestParamInfo<ArticleLine>& info) { return info.param.name; }

// "Scale Tensor construction in CuTeDSL", section "The examples". Tensor extents are run-time values there.
const ArticleLine kScaleTensor[] = {
    {"Atom", "((32,4),(16,4)):((16,4),(0,1))", "sf_atom<16>()", Marks::plain},
    // a_tensor = (128,64,1):(64,1,8192)
    {"A64", "(128,64,1):(64,1,8192)", "make_ordered_layout((128,64,1),(_1,_0,_2))", Marks::plain},
    // sfa_tensor = (((32,4),1),((16,4),1),(1,1)):(((16,4),512),((0,1),512),(0,512))
    {"Sfa128x64", "(((32,4),1),((16,4),1),(1,1)):(((16,4),512),((0,1),512),(0,512))",
     "tile_to_shape(((_32,_4),(_16,_4)):((_16,_4),(_0,_1)), (128,64,1), (2,1,3))", Marks::plain},
    {"Sfa128x128", "(((32,4),1),((16,4),2),(1,1)):(((16,4),1024),((0,1),512),(0,1024))",
     "tile_atom_to_shape_SF<16>((128,128,1))", Marks::plain},
    {"Sfa256x64", "(((32,4),2),((16,4),1),(1,1)):(((16,4),512),((0,1),512),(0,1024))",
     "tile_atom_to_shape_SF<16>((256,64,1))", Marks::plain},
    {"Sfa256x128", "(((32,4),2),((16,4),2),(1,1)):(((16,4),1024),((0,1),512),(0,2048))",
     "tile_atom_to_shape_SF<16>((256,128,1))", Marks::plain},
    // a_tensor = (128,128,1):(128,1,16384), (256,64,1):(64,1,16384), (256,128,1):(128,1,32768)
    {"A128x128", "(128,128,1):(128,1,16384)", "make_ordered_layout((128,128,1),(_1,_0,_2))", Marks::plain},
    {"A256x64", "(256,64,1):(64,1,16384)", "make_ordered_layout((256,64,1),(_1,_0,_2))", Marks::plain},
    {"A256x128", "(256,128,1):(128,1,32768)", "make_ordered_layout((256,128,1),(_1,_0,_2))", Marks::plain},
    {"SizeOfA", "8192", "size((128,64,1):(64,1,8192))", Marks::plain},
    {"SizeOfSfa", "8192", "size(tile_atom_to_shape_SF<16>((128,64,1)))", Marks::plain},
    {"SizeOfLargestSfa", "32768", "size(tile_atom_to_shape_SF<16>((256,128,1)))", Marks::plain},
};

// "NVFP4 training in TransformerEngine", section "Kernel Deep Dive": the fused RHT kernel, input 8192 x 5120 (seen transposed as 5120 x
// 8192), CuTe C++ prints.
const std::string kSa = "(((_64,_2),(_8,_2)),_1,_4,(_1,_13)):(((_1,_512),(_64,_1024)),_0,_2048,(_0,_8192))";
const std::string kSb = "((_16,_16),_1,_1,(_1,_13)):((_1,_16),_0,_0,(_0,_256))";
const std::string kGa = "local_tile(make_identity_tensor((5120,8192)), (_128,_16,_64), (_,_,_), (_1,X,_1))";
const std::string kGb = "local_tile(make_identity_tensor((16,16)), (_128,_16,_16), (_,_,_), (X,_1,_1))";
const std::string kGc =
    "local_tile(subptr[4b](0x7f8046000000.0) o (5120,8192):(8192,_1), (_128,_64,_64), (_,_,_), (_1,_1,X))";
const ArticleLine kNvfp4Training[] = {
    // mma_shape_B: ((_16,_16),_1,_1)
    {"MmaShapeB", "((_16,_16),_1,_1)", "partition_shape_B<128,16,16>((_16,_16))"},
    // SmemLayoutAtomB: Sw<1,4,3> o smem_ptr[16b](unset) o (_16,_8):(_1,_16)
    {"SmemLayoutAtomB", "Sw<1,4,3> o smem_ptr[16b](unset) o (_16,_8):(_1,_16)",
     "sm100_smem_selector(MN, _16, _16, _16)"},
    // mma_shape_A: ((_128,_16),_1,_4)
    {"MmaShapeA", "((_128,_16),_1,_4)", "partition_shape_A<128,16,16>((_128,_64))"},
    // smemLayoutAtomA: Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_8):(_1,_64)
    {"SmemLayoutAtomA", "Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_8):(_1,_64)",
     "sm100_smem_selector(MN, _16, _128, _64)"},
    // sA: Sw<3,4,3> o smem_ptr[16b](unset) o
    // (((_64,_2),(_8,_2)),_1,_4,(_1,_13)):(((_1,_512),(_64,_1024)),_0,_2048,…
    {"SmemA", "Sw<3,4,3> o smem_ptr[16b](unset) o " + kSa,
     "tile_to_mma_shape(sm100_smem_selector(MN, _16, _128, _64),"
     " append(partition_shape_A<128,16,16>((_128,_64)), _13))"},
    // sB: Sw<1,4,3> o smem_ptr[16b](unset) o ((_16,_16),_1,_1,(_1,_13)):((_1,_16),_0,_0,(_0,_256))
    {"SmemB", "Sw<1,4,3> o smem_ptr[16b](unset) o " + kSb,
     "tile_to_mma_shape(sm100_smem_selector(MN, _16, _16, _16),"
     " append(partition_shape_B<128,16,16>((_16,_16)), _13))"},
    // gA_mk: ArithTuple(_0,_0) o (_128,_64,40,128):(_1@0,_1@1,_128@0,_64@1)
    {"GmemA", "ArithTuple(_0,_0) o (_128,_64,40,128):(_1@0,_1@1,_128@0,_64@1)", kGa},
    // gB_nk: ArithTuple(_0,_0) o (_16,_16,1,1):(_1@0,_1@1,_16@0,_16@1)
    {"GmemB", "ArithTuple(_0,_0) o (_16,_16,1,1):(_1@0,_1@1,_16@0,_16@1)", kGb},
    // gC_mn: subptr[4b](0x7fe562000000.0) o (_128,_64,40,128):(8192,_1,1048576,_64)
    {"GmemC", "subptr[4b](0x7fe562000000.0) o (_128,_64,40,128):(8192,_1,1048576,_64)",
     "local_tile(subptr[4b](0x7fe562000000.0) o (5120,8192):(8192,_1), (_128,_64,_64), (_,_,_), (_1,_1,X))"},
    // gSFC_mn: gmem_ptr[8b](0x7fe55e000000) o (_128,(_16,_4),40,128):(512,(_0,_1),65536,_4)
    {"GSFC", "gmem_ptr[8b](0x7fe55e000000) o (_128,(_16,_4),40,128):(512,(_0,_1),65536,_4)",
     "local_tile(gmem_ptr[8b](0x7fe55e000000) o (5120,(_16,512)):(512,(_0,_1)), (_128,_64,_64), (_,_,_), "
     "(_1,_1,X))"},
    // tCgA: ArithTuple(_0,_0) o ((_128,_16),_1,_4,40,128):((_1@0,_1@1),_0,_16@1,_128@0,_64@1)
    {"TCgA", "ArithTuple(_0,_0) o ((_128,_16),_1,_4,40,128):((_1@0,_1@1),_0,_16@1,_128@0,_64@1)",
     "partition_A<128,16,16>(" + kGa + ")"},
    // tCgB: ArithTuple(_0,_0) o ((_16,_16),_1,_1,1,1):((_1@0,_1@1),_0,_0,_16@0,_16@1)
    {"TCgB", "ArithTuple(_0,_0) o ((_16,_16),_1,_1,1,1):((_1@0,_1@1),_0,_0,_16@0,_16@1)",
     "partition_B<128,16,16>(" + kGb + ")"},
    // tAgA: ArithTuple(_0,_0) o (((_64,_8),(_2,_8)),40,128):(((_1@0,_1@1),(_64@0,_8@1)),_128@0,_64@1)
    {"TAgA", "ArithTuple(_0,_0) o (((_64,_8),(_2,_8)),40,128):(((_1@0,_1@1),(_64@0,_8@1)),_128@0,_64@1)",
     "tma_partition_G(group_modes<0,3>(" + kSa + "), group_modes<0,3>(partition_A<128,16,16>(" + kGa +
         ")), _512)"},
    // tAsA: Sw<3,4,3>_smem_ptr[16b](0x7f2a00000580) o ((_512,_16),(_1,_13)):((_1,_512),(_0,_8192))
    {"TAsA", "Sw<3,4,3>_smem_ptr[16b](0x7f2a00000580) o ((_512,_16),(_1,_13)):((_1,_512),(_0,_8192))",
     "tma_partition_S(group_modes<0,3>(Sw<3,4,3>_smem_ptr[16b](0x7f2a00000580) o " + kSa +
         "), group_modes<0,3>(partition_A<128,16,16>(" + kGa + ")), _512)"},
    // tBgB: ArithTuple(_0,_0) o (((_16,_16),_1),1,1):(((_1@0,_1@1),_0),_16@0,_16@1)
    {"TBgB", "ArithTuple(_0,_0) o (((_16,_16),_1),1,1):(((_1@0,_1@1),_0),_16@0,_16@1)",
     "tma_partition_G(group_modes<0,3>(" + kSb + "), group_modes<0,3>(partition_B<128,16,16>(" + kGb +
         ")), _256)"},
    // tBsB: Sw<1,4,3>_smem_ptr[16b](0x7fb000034580) o ((_256,_1),(_1,_13)):((_1,_0),(_0,_256))
    {"TBsB", "Sw<1,4,3>_smem_ptr[16b](0x7fb000034580) o ((_256,_1),(_1,_13)):((_1,_0),(_0,_256))",
     "tma_partition_S(group_modes<0,3>(Sw<1,4,3>_smem_ptr[16b](0x7fb000034580) o " + kSb +
         "), group_modes<0,3>(partition_B<128,16,16>(" + kGb + ")), _256)"},
    // tCrA: UMMA::DescriptorIterator o (_1,_1,_4,(_1,_13)):(_0,_0,_256,(_0,_1024))
    {"TCrA", "UMMA::DescriptorIterator o (_1,_1,_4,(_1,_13)):(_0,_0,_256,(_0,_1024))",
     "make_fragment_desc(Sw<3,4,3>_smem_ptr[16b](0x7fe600000580) o " + kSa + ")"},
    // tCrB: UMMA::DescriptorIterator o (_1,_1,_1,(_1,_13)):(_0,_0,_0,(_0,_32))
    {"TCrB", "UMMA::DescriptorIterator o (_1,_1,_1,(_1,_13)):(_0,_0,_0,(_0,_32))",
     "make_fragment_desc(Sw<1,4,3>_smem_ptr[16b](0x7fe600034580) o " + kSb + ")"},
    // acc_shape_mma: ((_128,_16),_1,_1), acc_shape_epilogue: ((_128,_64),_1,_1)
    {"AccShapeMma", "((_128,_16),_1,_1)", "partition_shape_C<128,16,16>((_128,_16))"},
    {"AccShapeEpilogue", "((_128,_64),_1,_1)", "partition_shape_C<128,64,16>((_128,_64))"},
    // bulk_tmem_mma: tmem_[32b](0x0000.0000) o ((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16)
    {"BulkTmemMma", "tmem_[32b](0x0000.0000) o ((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16)",
     "tmem_fragment(append(partition_shape_C<128,16,16>((_128,_16)), _16), _32)"},
    // bulk_tmem_epilogue: tmem_[32b](0x0000.0000) o ((_128,_64),_1,_1,_4):((_65536,_1),_0,_0,_64)
    {"BulkTmemEpilogue", "tmem_[32b](0x0000.0000) o ((_128,_64),_1,_1,_4):((_65536,_1),_0,_0,_64)",
     "tmem_fragment(append(partition_shape_C<128,64,16>((_128,_64)), _4), _32)"},
    // bulk_tmem_mma(1, _, _, 0) | tmem_[32b](0x0001.0000), and the other rows of that table
    {"Address1", "tmem_[32b](0x0001.0000)", "tmem_fragment(((_128,_16),_1,_1,_16), _32)(1,0,0,0)"},
    {"Address2", "tmem_[32b](0x0002.0000)", "tmem_fragment(((_128,_16),_1,_1,_16), _32)(2,0,0,0)"},
    {"Address128", "tmem_[32b](0x0000.0001)", "tmem_fragment(((_128,_16),_1,_1,_16), _32)(128,0,0,0)"},
    {"Address256", "tmem_[32b](0x0000.0002)", "tmem_fragment(((_128,_16),_1,_1,_16), _32)(256,0,0,0)"},
    {"AddressStage1", "tmem_[32b](0x0000.0010)", "tmem_fragment(((_128,_16),_1,_1,_16), _32)(0,0,0,1)"},
    {"AddressStage2", "tmem_[32b](0x0000.0020)", "tmem_fragment(((_128,_16),_1,_1,_16), _32)(0,0,0,2)"},
    // tCtC: tmem_[32b](0x0000.0000) o ((_128,_64),_1,_1):((_65536,_1),_0,_0)
    {"TCtC", "tmem_[32b](0x0000.0000) o ((_128,_64),_1,_1):((_65536,_1),_0,_0)",
     "tmem_fragment(((_128,_64),_1,_1,_4), _32)(_,_,_,_0)"},
    // tDtC: tmem_[32b](0x0000.0000) o (((_64,_32),_1),_1,_1,_1):(((_1,_65536),_0),_0,_0,_0)
    // (32x32b.x64: a warp reads 64 columns of its 32 lanes)
    {"TDtC", "tmem_[32b](0x0000.0000) o (((_64,_32),_1),_1,_1,_1):(((_1,_65536),_0),_0,_0,_0)",
     "tmem_[32b](0x0000.0000) o append<4>(make_layout(append<2>(make_layout("
     "composition((_128,_64):(_65536,_1), (_64,_32):(_128,_1))))))"},
    // warp 1: tmem_[32b](0x0020.0000), warp 3: tmem_[32b](0x0060.0000)
    {"Warp1", "tmem_[32b](0x0020.0000)", "tmem_fragment(((_128,_64),_1,_1), _32)(32,0,0)"},
    {"Warp3", "tmem_[32b](0x0060.0000)", "tmem_fragment(((_128,_64),_1,_1), _32)(96,0,0)"},
    // tTR_rAcc: ptr[32b](0x7f5b75fffa20) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)
    {"TTRrAcc", "ptr[32b](0x7f5b75fffa20) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)",
     "ptr[32b](0x7f5b75fffa20) o make_layout(((_64,_1),_1,_1,_1))"},
    // tTR_rAcc_frag: ptr[2048b](0x7f2c19fffb50) o _1:_1
    {"TTRrAccFrag", "ptr[2048b](0x7f2c19fffb50) o _1:_1",
     "recast<2048>(coalesce(ptr[32b](0x7f2c19fffb50) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)))"},
    // tDrC_frag: ptr[256b](0x7f2c19fffc50) o _1:_1
    {"TDrCFrag", "ptr[256b](0x7f2c19fffc50) o _1:_1",
     "recast<256>(coalesce(ptr[4b](0x7f2c19fffc50) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)))"},
    // tCgC: subptr[4b](0x7f8046000000.0) o ((_128,_64),_1,_1,40,128):((8192,_1),_0,_0,1048576,_64)
    {"TCgC", "subptr[4b](0x7f8046000000.0) o ((_128,_64),_1,_1,40,128):((8192,_1),_0,_0,1048576,_64)",
     "partition_C<128,64,16>(" + kGc + ")"},
    // tCgC_mn: subptr[4b](0x7f8046e00c00.0) o ((_128,_64),_1,_1):((8192,_1),_0,_0)
    // (0xe00c00 bytes further is tile (28,96))
    {"TCgCMn", "subptr[4b](0x7f8046e00c00.0) o ((_128,_64),_1,_1):((8192,_1),_0,_0)",
     "slice((_,_,_,28,96), partition_C<128,64,16>(" + kGc + "))"},
    // tCgC_mn: subptr[4b](0x7f2bce000000.0) o ((_128,_64),_1,_1):((8192,_1),_0,_0)      (tile (0,0) of another run)
    {"TCgCMnFirst", "subptr[4b](0x7f2bce000000.0) o ((_128,_64),_1,_1):((8192,_1),_0,_0)",
     "slice((_,_,_,0,0), partition_C<128,64,16>(local_tile(subptr[4b](0x7f2bce000000.0) o (5120,8192):(8192,_1), (_128,_64,_64),"
     " (_,_,_), (_1,_1,X))))"},
    // tDgC: subptr[4b](0x7eff7ce60c00.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)       (thread 96 of a tile at 0x7eff7ce00c00)
    {"TDgC", "subptr[4b](0x7eff7ce60c00.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)",
     "append<4>(group_modes<0,2>(append<2>(slice(((96,_),_0,_0),"
     " subptr[4b](0x7eff7ce00c00.0) o ((_128,_64),_1,_1):((8192,_1),_0,_0)))))"},
    // tTR_rAcc: ptr[32b](0x7f2c19fffa20) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)
    {"TTRrAccAgain", "ptr[32b](0x7f2c19fffa20) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)",
     "ptr[32b](0x7f2c19fffa20) o make_layout(((_64,_1),_1,_1,_1))"},
    // tDrC: subptr[4b](0x7f2c71fffc50.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)
    {"TDrC", "subptr[4b](0x7f2c71fffc50.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)",
     "subptr[4b](0x7f2c71fffc50.0) o make_layout(((_64,_1),_1,_1,_1))"},
    // src: subptr[4b](0x7f8091fffc50.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)
    {"Src", "subptr[4b](0x7f8091fffc50.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)",
     "subptr[4b](0x7f8091fffc50.0) o make_layout(((_64,_1),_1,_1,_1))"},
    // "an innermost layout (_128, _16):(_65536, _1) and (_128, _64):(_65536, _1)"
    {"InnermostMma", "(_128,_16):(_65536,_1)", "layout<0>(((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16))"},
    {"InnermostEpilogue", "(_128,_64):(_65536,_1)", "layout<0>(((_128,_64),_1,_1,_4):((_65536,_1),_0,_0,_64))"},
    // "the bulk_tmem_mma layout ((_128,_16),_1,_1):((_65536,_1),_0,_0)"
    {"BulkTmemMmaStage", "((_128,_16),_1,_1):((_65536,_1),_0,_0)", "take<0,3>(((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16))"},
    // dst: subptr[4b](0x7f8046e60c00.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)     (thread 96 has row 96)
    {"Dst", "subptr[4b](0x7f8046e60c00.0) o ((_64,_1),_1,_1,_1):((_1,_0),_0,_0,_0)",
     "append<4>(group_modes<0,2>(append<2>(slice(((96,_),_0,_0),"
     " subptr[4b](0x7f8046e00c00.0) o ((_128,_64),_1,_1):((8192,_1),_0,_0)))))"},
    // tCgSFC_mn: gmem_ptr[8b](0x7f2bca000000) o (_128,(_16,_4)):(512,(_0,_1))
    {"TCgSFCMn", "gmem_ptr[8b](0x7f2bca000000) o (_128,(_16,_4)):(512,(_0,_1))",
     "slice((_,_,0,0), gmem_ptr[8b](0x7f2bca000000) o (_128,(_16,_4),40,128):(512,(_0,_1),65536,_4))"},
    // tCgSFC: gmem_ptr[8b](0x7f2bca000000) o ((_128,(_16,_4)),_1,_1):((512,(_0,_1)),_0,_0)
    {"TCgSFC", "gmem_ptr[8b](0x7f2bca000000) o ((_128,(_16,_4)),_1,_1):((512,(_0,_1)),_0,_0)",
     "append<3>(group_modes<0,2>(gmem_ptr[8b](0x7f2bca000000) o (_128,(_16,_4)):(512,(_0,_1))))"},
    // tDgSFC: gmem_ptr[8b](0x7f2bca008000) o _4:_1      (row 64 of the tile)
    {"TDgSFC", "gmem_ptr[8b](0x7f2bca008000) o _4:_1",
     "filter(slice(((64,_),_0,_0), gmem_ptr[8b](0x7f2bca000000) o "
     "((_128,(_16,_4)),_1,_1):((512,(_0,_1)),_0,_0)))"},
    // tC_rRowSFD_frg: ptr[32b](0x7f2c19fffc70) o _1:_1
    {"RowSfdFrag", "ptr[32b](0x7f2c19fffc70) o _1:_1", "recast<32>(ptr[8b](0x7f2c19fffc70) o _4:_1)"},
    // kBytesPerStage: size(mma_shape_A) * sizeof(TA) + …; cosize of one stage of A is 8192 elements
    {"StageElements", "_8192", "cosize(take<0,3>(" + kSa + "))"},
};

// "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", sections
// "TMA load of operands and scale factors" and "Loading Scale Factor Data to TMEM", CuTe DSL prints.
const ArticleLine kBlockScaledUmma[] = {
    // "(32, 4) : (16, 4) corresponds to sf_tile_M"
    {"SfTileM", "(32,4):(16,4)", "layout<0>(sf_atom<32>())", Marks::plain},
    // (((32, 4), REST_M), ((16, 4), REST_K)) : (((16, 4), 512 * REST_K), ((0, 1), 512)), with REST_M = 2,
    // REST_K = 8
    {"Broadcast", "(((32,4),2),((16,4),8)):(((16,4),4096),((0,1),512))",
     "tile_atom_to_shape_SF<16>((256,512))", Marks::plain},
    // sfa_smem_layout_staged: ((((32,4),1),(32,1)),1,4,4):((((16,4),0),(0,0)),0,1,512)
    {"Mxf8SmemSfa", "((((32,4),1),(32,1)),1,4,4):((((16,4),0),(0,0)),0,1,512)",
     "make_smem_layout_sfa(mxf8, (128,256), 4)", Marks::plain},
    {"Mxf8SmemSfb", "((((32,4),2),(32,1)),1,4,4):((((16,4),512),(0,0)),0,1,1024)",
     "make_smem_layout_sfb(mxf8, (128,256), 4)", Marks::plain},
    {"Nvf4SmemSfa", "((((32,4),1),(16,4)),1,4,3):((((16,4),0),(0,1)),0,512,2048)",
     "make_smem_layout_sfa(nvf4, (128,256), 3)", Marks::plain},
    {"Nvf4SmemSfb", "((((32,4),2),(16,4)),1,4,3):((((16,4),2048),(0,1)),0,512,4096)",
     "make_smem_layout_sfb(nvf4, (128,256), 3)", Marks::plain},
    {"Mxf4SmemSfa", "((((32,4),1),(32,2)),1,(2,2),4):((((16,4),0),(0,1)),0,(2,512),1024)",
     "make_smem_layout_sfa(mxf4, (128,256), 4)", Marks::plain},
    {"Mxf4SmemSfb", "((((32,4),2),(32,2)),1,(2,2),4):((((16,4),1024),(0,1)),0,(2,512),2048)",
     "make_smem_layout_sfb(mxf4, (128,256), 4)", Marks::plain},
    // # ((128,256),1,1,1):((65536,1),0,0,0)
    {"Accumulator", "tmem_[32b](0x0000.0000) o ((128,256),1,1,1):((65536,1),0,0,0)",
     "tmem_fragment(((128,256),1,1,1), 32)", Marks::plain},
    // tcgen05.find_tmem_tensor_col_offset(tCtAcc_base) = 256, (tCtSFA) = 4, (tCtSFB) = 8
    {"AccumulatorColumns", "256", "tmem_columns(tmem_fragment(((128,256),1,1,1), 32))", Marks::plain},
    {"SfaColumns", "4", "tmem_columns(make_tmem_layout_sfa(mxf8, (128,256)))", Marks::plain},
    {"SfbColumns", "8", "tmem_columns(make_tmem_layout_sfb(mxf8, (128,256)))", Marks::plain},
    // tCtSFA: ((((32,4),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)
    {"Mxf8TmemSfa", "tmem_[8b](0x0000.0000) o ((((32,4),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)",
     "make_tmem_layout_sfa(mxf8, (128,256))", Marks::plain},
    {"Mxf8TmemSfb", "tmem_[8b](0x0000.0000) o ((((32,8),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)",
     "make_tmem_layout_sfb(mxf8, (128,256))", Marks::plain},
    {"Nvf4TmemSfa", "tmem_[8b](0x0000.0000) o ((((32,4),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,16)",
     "make_tmem_layout_sfa(nvf4, (128,256))", Marks::plain},
    {"Nvf4TmemSfb", "tmem_[8b](0x0000.0000) o ((((32,8),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,32)",
     "make_tmem_layout_sfb(nvf4, (128,256))", Marks::plain},
    // b_smem_layout_staged: S<3,4,3> o 0 o ((192,32),1,4,5):((128,1),0,32,24576)
    {"Bn192SmemB", "S<3,4,3> o 0 o ((192,32),1,4,5):((128,1),0,32,24576)",
     "coalesce(as_position_independent(tile_to_mma_shape(sm100_smem_selector(K, _8, _192, _128),"
     " ((_192,_32),_1,_4,_5))), ((_1,_1),_1,_1,_1))",
     Marks::plain},
    {"Bn192SmemSfb", "((((32,4),2),(32,1)),1,4,5):((((16,4),512),(0,0)),0,1,1024)",
     "make_smem_layout_sfb(mxf8, (128,192), 5)", Marks::plain},
    // bN = 192: RestN is (2,16):(1@2,3@2); bN = 256: 32:2@2 (SFB tiles per work tile)
    {"Bn192RestN", "(2,16):(1@2,3@2)", "composition(_48:_1@2, (_2,_16):(_1,_3))", Marks::plain},
    {"Bn256RestN", "32:2@2", "composition(_64:_1@2, _32:_2)", Marks::plain},
};

// "SM90 Blockwise Scaling and Groupwise Scaling", sections "Memory layouts", "Copies" and "mma":
// blockwise (128,128,128) and groupwise (1,128,128) scaling, tile 128x128x128, problem
// (256,512,1024).
const std::string kMnSfb = "gmem_ptr[32b](0x7f999c6c2000) o ((_128,4),(_128,8),1):((_0,_1),(_0,4),32)";
const std::string kISfb = "make_identity_tensor(((_128,4),(_128,8),1))";
const std::string kSmemSfa = "smem_layout_staged(smem_atom_layoutSFA<1,128,128>((_128,_128,_128)), _3)";
const std::string kSmemSfb = "smem_layout_staged(smem_atom_layoutSFB<1,128,128>((_128,_128,_128)), _3)";
// A copy by 32 threads, one value each, along the first mode: thread 0's part.
std::string by_32(const std::string& tensor) {
  return "prepend(slice((0,(_,_,_)), zipped_divide(" + tensor + ", (_32:_1))), (_1,_1):(_0,_0))";
}
const ArticleLine kSm90Scaling[] = {
    // layout_SFA: ((_128,2), (_128,8), 1) :((_0,_1), (_0,2), 2*8)
    {"BlockwiseSfa", "((_128,2),(_128,8),1):((_0,_1),(_0,2),16)",
     "tile_atom_to_shape_SFA<128,128,128>((256,512,1024))"},
    // layout_SFB: ((_128,4), (_128,8), 1) :((_0,_1), (_0,4), 4*8)
    {"BlockwiseSfb", "((_128,4),(_128,8),1):((_0,_1),(_0,4),32)",
     "tile_atom_to_shape_SFB<128,128,128>((256,512,1024))"},
    // layout_SFA: ((_1,256), (_128,8), 1) :((_0,_1), (_0,256), 256*8)
    {"GroupwiseSfa", "((_1,256),(_128,8),1):((_0,_1),(_0,256),2048)",
     "tile_atom_to_shape_SFA<1,128,128>((256,512,1024))"},
    {"GroupwiseSfb", "((_128,4),(_128,8),1):((_0,_1),(_0,4),32)",
     "tile_atom_to_shape_SFB<1,128,128>((256,512,1024))"},
    // SmemLayoutAtomSFA{}: ((_128,_1),(_128,_1)):((_0,_1),(_0,_1))
    {"BlockwiseSmemAtomSfa", "((_128,_1),(_128,_1)):((_0,_1),(_0,_1))",
     "smem_atom_layoutSFA<128,128,128>((_128,_128,_128))"},
    {"BlockwiseSmemAtomSfb", "((_128,_1),(_128,_1)):((_0,_1),(_0,_1))",
     "smem_atom_layoutSFB<128,128,128>((_128,_128,_128))"},
    {"GroupwiseSmemAtomSfa", "((_1,_128),(_128,_1)):((_0,_1),(_0,_128))",
     "smem_atom_layoutSFA<1,128,128>((_128,_128,_128))"},
    {"GroupwiseSmemAtomSfb", "((_128,_1),(_128,_1)):((_0,_1),(_0,_1))",
     "smem_atom_layoutSFB<1,128,128>((_128,_128,_128))"},
    // SmemLayoutSFA{}: ((_128,_1),(_128,_1),_4):((_0,_1),(_0,_1),_1)
    {"BlockwiseSmemSfa", "((_128,_1),(_128,_1),_4):((_0,_1),(_0,_1),_1)",
     "smem_layout_staged(smem_atom_layoutSFA<128,128,128>((_128,_128,_128)), _4)"},
    {"GroupwiseSmemSfa", "((_1,_128),(_128,_1),_4):((_0,_1),(_0,_128),_128)",
     "smem_layout_staged(smem_atom_layoutSFA<1,128,128>((_128,_128,_128)), _4)"},
    {"GroupwiseSmemSfb", "((_128,_1),(_128,_1),_4):((_0,_1),(_0,_1),_1)",
     "smem_layout_staged(smem_atom_layoutSFB<1,128,128>((_128,_128,_128)), _4)"},
    // tensor_sfa: ((_1,256),(_1,8),1):((_0,_1),(_0,256),2048)
    {"TensorSfa", "((_1,256),(_1,8),1):((_0,_1),(_0,256),2048)",
     "filter_zeros(tile_atom_to_shape_SFA<1,128,128>((256,512,1024)))"},
    // tensor_sfb: ((_1,  4),(_1,8),1):((_0,_1),(_0,  4),  32)
    {"TensorSfb", "((_1,  4),(_1,8),1):((_0,_1),(_0,  4),  32)",
     "filter_zeros(tile_atom_to_shape_SFB<1,128,128>((256,512,1024)))"},
    // gSFA: ArithTuple( 0,_0, 0) o (_128,_1,8):(_1@0,_0,_1@1)
    {"GSfa", "ArithTuple( 0,_0, 0) o (_128,_1,8):(_1@0,_0,_1@1)",
     "local_tile(ArithTuple(_0,_0,_0) o ((_1,256),(_1,8),1):((_0,_1@0),(_0,_1@1),_1@2), (_128,_1), (0,_,0))"},
    // gSFB: gmem_ptr[32b](0x7f4ad06c2000) o (_1,_1,(_128,8)):(_0,_0,(_0,4))
    {"GSfb", "gmem_ptr[32b](0x7f4ad06c2000) o (_1,_1,(_128,8)):(_0,_0,(_0,4))",
     "local_tile(gmem_ptr[32b](0x7f4ad06c2000) o ((_128,4),(_128,8),1):((_0,_1),(_0,4),32), (_1,_1), "
     "(0,_,0))"},
    // tAgA_SFA: ArithTuple(0,_0,0) o ((_128,_1),_1,_1, 8):((_1@0,_0),_0,_0,_1@1)
    {"TAgASfa", "ArithTuple(0,_0,0) o ((_128,_1),_1,_1, 8):((_1@0,_0),_0,_0,_1@1)",
     "tiled_divide(ArithTuple(0,_0,0) o (_128,_1,8):(_1@0,_0,_1@1), (_128,_1))"},
    // tAsA_SFA: smem_ptr[32b](0x7f4b00030800) o ((_128,_1),_1,_1,_3):((_1,  _0),_0,_0,_128)
    {"TAsASfa", "smem_ptr[32b](0x7f4b00030800) o ((_128,_1),_1,_1,_3):((_1,  _0),_0,_0,_128)",
     "tiled_divide(smem_ptr[32b](0x7f4b00030800) o coalesce(filter_zeros(" + kSmemSfa +
         "), (_1,_1,_1)), (_128,_1))"},
    // gSFB_nkl: gmem_ptr[32b](0x7f999c6c2000) o (_128,_128,4,8,1):(_0,_0,_1,4,32)
    {"GSfbNkl", "gmem_ptr[32b](0x7f999c6c2000) o (_128,_128,4,8,1):(_0,_0,_1,4,32)",
     "local_tile(" + kMnSfb + ", (_128,_128,_128), (_,_,_), (X,_1,_1))"},
    // gSFB_k: gmem_ptr[32b](0x7f999c6c2000) o (_128,_128,8):(_0,_0,4)
    {"GSfbK", "gmem_ptr[32b](0x7f999c6c2000) o (_128,_128,8):(_0,_0,4)",
     "slice((_,_,0,_,0), local_tile(" + kMnSfb + ", (_128,_128,_128), (_,_,_), (X,_1,_1)))"},
    // tSFBgSFB_k: gmem_ptr[32b](0x7f999c6c2000) o ((_1,_1),_4,_128,8):((_0,_0),_0,_0,4)
    {"TSfbGSfbK", "gmem_ptr[32b](0x7f999c6c2000) o ((_1,_1),_4,_128,8):((_0,_0),_0,_0,4)",
     by_32("gmem_ptr[32b](0x7f999c6c2000) o (_128,_128,8):(_0,_0,4)")},
    // filter_zeros(tSFBgSFB_k(_,_,_,0)): gmem_ptr[32b](0x7f999c6c2000) o ((_1,_1),_1,_1):((_0,_0),_0,_0)
    {"TSfbGSfbFiltered", "gmem_ptr[32b](0x7f999c6c2000) o ((_1,_1),_1,_1):((_0,_0),_0,_0)",
     "filter_zeros(slice((_,_,_,0), gmem_ptr[32b](0x7f999c6c2000) o ((_1,_1),_4,_128,8):((_0,_0),_0,_0,4)))"},
    // iSFB_nkl: ArithTuple((_0,_0),(_0,_0),_0) o ((_128,4),(_128,8),1):((_1@0@0,_1@1@0),(_1@0@1,_1@1@1),_1@2)
    {"ISfb", "ArithTuple((_0,_0),(_0,_0),_0) o ((_128,4),(_128,8),1):((_1@0@0,_1@1@0),(_1@0@1,_1@1@1),_1@2)",
     kISfb},
    // cSFB_nkl: ArithTuple((_0,_0),(_0,_0),_0) o (_128,_128,4,8,1):(_1@0@0,_1@0@1,_1@1@0,_1@1@1,_1@2)
    {"CSfbNkl", "ArithTuple((_0,_0),(_0,_0),_0) o (_128,_128,4,8,1):(_1@0@0,_1@0@1,_1@1@0,_1@1@1,_1@2)",
     "local_tile(" + kISfb + ", (_128,_128,_128), (_,_,_), (X,_1,_1))"},
    // cSFB_k: ArithTuple((_0,0),(_0,_0),0) o (_128,_128,8):(_1@0@0,_1@0@1,_1@1@1)
    {"CSfbK", "ArithTuple((_0,0),(_0,_0),0) o (_128,_128,8):(_1@0@0,_1@0@1,_1@1@1)",
     "slice((_,_,0,_,0), local_tile(" + kISfb + ", (_128,_128,_128), (_,_,_), (X,_1,_1)))"},
    // filter_zeros(tSFBgSFB_k(_,_,_,0)): gmem_ptr[32b](0x7efc106c2000) o ((_1,_1),_1,_1):((_0,_0),_0,_0)
    {"TSfbGSfbFilteredAgain", "gmem_ptr[32b](0x7efc106c2000) o ((_1,_1),_1,_1):((_0,_0),_0,_0)",
     "filter_zeros(slice((_,_,_,0), gmem_ptr[32b](0x7efc106c2000) o ((_1,_1),_4,_128,8):((_0,_0),_0,_0,4)))"},
    // tSFBcSFB: ArithTuple((0,0),(_0,0),0) o ((_1,_1),_4,_128):((_0,_0),_32@0@0,_1@0@1)
    {"TSfbCSfb", "ArithTuple((0,0),(_0,0),0) o ((_1,_1),_4,_128):((_0,_0),_32@0@0,_1@0@1)",
     "slice((_,_,_,0), " + by_32("ArithTuple((_0,0),(_0,_0),0) o (_128,_128,8):(_1@0@0,_1@0@1,_1@1@1)") +
         ")"},
    // sSFB: smem_ptr[32b](0x7f9a00030e00) o ((_128,_1),(_128,_1),_3):((_0,_1),(_0,_1),_1)
    {"SSfb", "smem_ptr[32b](0x7f9a00030e00) o ((_128,_1),(_128,_1),_3):((_0,_1),(_0,_1),_1)",
     "smem_ptr[32b](0x7f9a00030e00) o " + kSmemSfb},
    // tSFBsSFB: smem_ptr[32b](0x7f9a00030e00) o ((_1,_1),_4,(_128,_1),_3):((_0,_0),_0,(_0,_1),_1)
    {"TSfbSSfb", "smem_ptr[32b](0x7f9a00030e00) o ((_1,_1),_4,(_128,_1),_3):((_0,_0),_0,(_0,_1),_1)",
     by_32("(smem_ptr[32b](0x7f9a00030e00) o " + kSmemSfb + ")")},
    // tSFBpSFB:  subptr[1b](0x7f99adfffcac.0) o ((_1,_1),_1,(_1,_1)):((_0,_0),_0,(_0,_0))
    {"TSfbPSfb", "subptr[1b](0x7f99adfffcac.0) o ((_1,_1),_1,(_1,_1)):((_0,_0),_0,(_0,_0))",
     "subptr[1b](0x7f99adfffcac.0) o make_layout(shape(filter_zeros(slice((_,_,_,_0),"
     " ((_1,_1),_4,(_128,_1),_3):((_0,_0),_0,(_0,_1),_1)))))"},
    // filter_zeros(tSFBsSFB(_,_,_,0)): smem_ptr[32b](0x7efd00030e00) o
    // ((_1,_1),_1,(_1,_1)):((_0,_0),_0,(_0,_1))
    {"TSfbSSfbFiltered", "smem_ptr[32b](0x7efd00030e00) o ((_1,_1),_1,(_1,_1)):((_0,_0),_0,(_0,_1))",
     "filter_zeros(slice((_,_,_,0), smem_ptr[32b](0x7efd00030e00) o"
     " ((_1,_1),_4,(_128,_1),_3):((_0,_0),_0,(_0,_1),_1)))"},
    // sSFA: smem_ptr[32b](0x7f3b00030800) o ((_1,_128),_128,((_128,_1),_3)):((_0,_1),_0,((_0,_128),_128))
    {"SSfaMma",
     "smem_ptr[32b](0x7f3b00030800) o ((_1,_128),_128,((_128,_1),_3)):((_0,_1),_0,((_0,_128),_128))",
     "smem_ptr[32b](0x7f3b00030800) o make_layout(get<0>(" + kSmemSfa + "), _128:_0, select<1,2>(" +
         kSmemSfa + "))"},
    // sSFB: smem_ptr[32b](0x7f3b00030e00) o (_128,(_128,_1),((_128,_1),_3)):(_0,(_0,_1),((_0,_1),_1))
    {"SSfbMma", "smem_ptr[32b](0x7f3b00030e00) o (_128,(_128,_1),((_128,_1),_3)):(_0,(_0,_1),((_0,_1),_1))",
     "smem_ptr[32b](0x7f3b00030e00) o make_layout(_128:_0, get<0>(" + kSmemSfb + "), select<1,2>(" +
         kSmemSfb + "))"},
    // tCsSFA: smem_ptr[32b](0x7f3b00030900) o
    // ((_2,_2,_16),_1,_1,((_128,_1),_3)):((_0,_8,_0),_0,_0,((_0,_128),_128))
    // (a wgmma thread's accumulators are (2,2,16):(64,8,512) of its 64x128 tile; warpgroup 1 starts 64 rows
    // further)
    {"TCsSfa",
     "smem_ptr[32b](0x7f3b00030900) o ((_2,_2,_16),_1,_1,((_128,_1),_3)):((_0,_8,_0),_0,_0,((_0,_128),_128))",
     "smem_ptr[32b](0x7f3b00030900) o make_layout(composition((_64,_128):(_1,_0), "
     "(_2,_2,_16):(_64,_8,_512)), _1:_0,"
     " _1:_0, select<1,2>(" +
         kSmemSfa + "))"},
    {"TCsSfb",
     "smem_ptr[32b](0x7f3b00030e00) o ((_2,_2,_16),_1,_1,((_128,_1),_3)):((_0,_0,_0),_0,_0,((_0,_1),_1))",
     "smem_ptr[32b](0x7f3b00030e00) o make_layout(composition((_64,_128):(_0,_0), "
     "(_2,_2,_16):(_64,_8,_512)), _1:_0,"
     " _1:_0, select<1,2>(" +
         kSmemSfb + "))"},
    // tCrSFA: ptr[32b](0x7f3aa9fffba0) o ((_2,_2,_16),_1,_1):((_0,_1,_0),_0,_0)
    {"TCrSfa", "ptr[32b](0x7f3aa9fffba0) o ((_2,_2,_16),_1,_1):((_0,_1,_0),_0,_0)",
     "ptr[32b](0x7f3aa9fffba0) o make_layout_like(((_2,_2,_16),_1,_1):((_0,_8,_0),_0,_0))"},
    {"TCrSfb", "ptr[32b](0x7f3aa9fffbb0) o ((_2,_2,_16),_1,_1):((_0,_0,_0),_0,_0)",
     "ptr[32b](0x7f3aa9fffbb0) o make_layout_like(((_2,_2,_16),_1,_1):((_0,_0,_0),_0,_0))"},
    // accum: ptr[32b](0x7f3aa9fffbc0) o ((_2,_2,_16),_1,_1):((_1,_2,_4),_0,_0)
    {"Accum", "ptr[32b](0x7f3aa9fffbc0) o ((_2,_2,_16),_1,_1):((_1,_2,_4),_0,_0)",
     "ptr[32b](0x7f3aa9fffbc0) o make_layout(((_2,_2,_16),_1,_1))"},
};

INSTANTIATE_TEST_SUITE_P(ScaleTensor, ArticleLayout, testing::ValuesIn(kScaleTensor), test_name);
INSTANTIATE_TEST_SUITE_P(Nvfp4Training, ArticleLayout, testing::ValuesIn(kNvfp4Training), test_name);
INSTANTIATE_TEST_SUITE_P(BlockScaledUmma, ArticleLayout, testing::ValuesIn(kBlockScaledUmma), test_name);
INSTANTIATE_TEST_SUITE_P(Sm90Scaling, ArticleLayout, testing::ValuesIn(kSm90Scaling), test_name);

// "Blockwise and Groupwise GEMM and Grouped GEMM on Blackwell", section "Scale Factor Tensors", gives the form of blockwise scale layouts:
// ((granularity M, M / granularity M), (granularity K, …)) : ((0, int), (0, int))
TEST(SoftwareScalingLayout, BlockwiseFactorsAreBroadcastWithStrideZero) {
  const Evaluation e = evaluate("deduce_layoutSFA<128,1,64>()");
  EXPECT_EQ(to_string(e.value, Marks::plain), "((128,0),(64,0),0):((0,1),(0,0),0)");
  const Evaluation k = evaluate("tile_atom_to_shape_SFA<_1,_128,_128>((8192,8192,8192), K, MN)");
  EXPECT_EQ(to_string(k.value, Marks::cute), "((_1,8192),(_128,64),1):((_0,64),(_0,_1),524288)");
}

// The TV layouts of the s2t copy are constants of the copy atom: they are parsed and checked as functions.
TEST(Sm90ScalingLayout, CopyAtomLayoutsReadBack) {
  // TiledLayout_TV: (_1,((_128,_1))):(_0,((_1,_0))); ValLayoutSrc: (_1,_128):(_0,_1); TiledLayout_TV: (_32,_1):(_1,_0);
  // ValLayoutSrc: (_1,_1):(_0,_1); tSFBcSFB_k and its filter_zeros, whose marks the article shortens
  for (const char* text : {"(_1,((_128,_1))):(_0,((_1,_0)))", "(_1,_128):(_0,_1)", "(_32,_1):(_1,_0)", "(_1,_1):(_0,_1)",
                           "ArithTuple((0,0),(_0,_0),0) o ((_1,_1),_4,_128,8):((_0,_0),_0,_0,4)",
                           "ArithTuple((0,0),(_0,0),0) o ((_1,_1),_4,_128):((_0,_0),_0,_0)"}) {
    EXPECT_EQ(to_string(evaluate(text, Reading::cute).value, Marks::cute), text);
  }
}

TEST(BlockScaledUmmaLayout, CopyAtomLayoutsReadBackAndBroadcastFourTimes) {
  for (const char* text :
       {"(1,(32,(4,4),4)):(0,(1,(512,32),128))", "(1,(4,128,4)):(0,(1,4,0))", "(1,2048):(0,1)", "(2,2048):(0,1)",
        "(2,(32,(4,4),4)):(0,(1,(512,32),128))", "(2,(4,128,4)):(0,(1,4,0))",
        "(((16,32,2),1),(2,16),64,(1,1)):(((1@0,1@1,1@2),0),(1@2,3@2),1@3,(0,1@4))",
        "(((16,32,2),1),32,64,(1,1)):(((1@0,1@1,1@2),0),2@2,1@3,(0,1@4))"}) {
    EXPECT_EQ(to_string(evaluate(text, Reading::plain).value, Marks::plain), text);
  }
  const Layout src = parse_layout("(1,(4,128,4)):(0,(1,4,0))");
  EXPECT_EQ(size(src).value, 2048);
  EXPECT_EQ(cosize(src).value, 512);
}

}  // namespace
}  // namespace drywell::layout
