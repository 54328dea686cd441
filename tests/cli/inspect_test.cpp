// The inspection commands on a command line. `drywell layout`, `sf` and `tmem` print the layouts that the articles
// (docs/facts/articles.md) print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "drywell/core/files.h"
#include "drywell/core/npy.h"
#include "support/mistake.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using test::drywell;
using test::Finished;
using test::Mistake;
using test::TemporaryDirectory;
using testing::HasSubstr;
using testing::StartsWith;

struct ArticleCommand {
  const char* name;
  const char* quoted;  // from the article
  std::vector<std::string> arguments;
};

/// An environment variable while it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(Table, FollowsTheWidthOfTheTerminal) {
  const std::vector<std::string> words = {"smem", "tile", "--rows=2", "--row-bytes=128", "--bits=16", "--table"};
  const std::string whole = test::drywell(words).out;
  const Setting narrow("COLUMNS", "72");
  const std::string parts = test::drywell(words).out;
  size_t longest = 0;
  for (const std::string& line : lines_of(whole)) longest = std::max(longest, line.size());
  EXPECT_GT(longest, 72u) << "the table is wider than the terminal";
  for (const std::string& line : lines_of(parts)) EXPECT_LE(line.size(), 72u) << line;
  const auto words_in = [](const std::string& text) {
    std::istringstream in(text);
    return std::multiset<std::string>{std::istream_iterator<std::string>(in), {}};
  };
  for (const std::string& word : words_in(whole)) EXPECT_TRUE(words_in(parts).contains(word)) << word << " is in a part";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// Times of the host differ from run to run; all other words are the same, in the same order.
TEST(Summary, FollowsTheWidthOfTheTerminal) {
  const std::vector<std::string> words = {"run", "fused-rht", "--m=256", "--n=256", "--driver=timed", "--verify"};
  const auto stable = [](std::string text) {
    const size_t from = text.find("  simulated"), to = text.find("  cycles");
    return from < to && to != std::string::npos ? words_of(text.erase(from, to - from)) : std::vector<std::string>{};
  };
  const std::string whole = test::drywell(words).out;
  const Setting narrow("COLUMNS", "80");
  const std::string parts = test::drywell(words).out;
  size_t longest = 0;
  for (const std::string& line : lines_of(whole)) longest = std::max(longest, line.size());
  EXPECT_GT(longest, 80u) << "some line is wider than the terminal";
  for (const std::string& line : lines_of(parts)) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_FALSE(stable(whole).empty());
  EXPECT_EQ(stable(parts), stable(whole));
  EXPECT_THAT(parts, testing::ContainsRegex("\n                [^ ]")) << "below the column of the values";
}

/// Columns of text in UTF-8.
size_t columns_of(const std::string& line) {
  return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

TEST(Summary, PagesOfWordsFit) {
  const Setting narrow("COLUMNS", "80");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"run", "--help"}, {"trace", "export", "--help"}, {"list", "gemm-bf16"}, {"errors", "F3001"}, {"arch", "sm_100a", "--assumed"}})
    for (const std::string& line : lines_of(test::drywell(words).out)) EXPECT_TRUE(columns_of(line) <= 80 || columns_of(words_of(line).back()) > 40) << words[0] << ": " << line;  // a long word stays whole
}

class LayoutOnTheCommandLine : public testing::TestWithParam<ArticleCommand> {};

TEST_P(LayoutOnTheCommandLine, IsPrinted) {
  const Finished f = drywell(GetParam().arguments);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr(GetParam().quoted));
}

const std::vector<std::string> kMxf8 = {"sf", "mma", "mxf8", "--tile=128x256", "--stages=4"};
const std::vector<std::string> kMxf4 = {"sf", "mma", "mxf4", "--tile=128x256", "--stages=4"};
const std::vector<std::string> kNvf4 = {"sf", "mma", "nvf4", "--tile=128x256", "--stages=3"};
std::vector<std::string> problem(const char* mnk) { return {"sf", "mma", "nvf4", "--problem", mnk}; }
std::vector<std::string> blockwise(const char* granularity) {
  return {"sf", "blockwise", "--granularity", granularity, "--problem=256x512x1024", "--tile=128x128x128", "--stages=4"};
}

INSTANTIATE_TEST_SUITE_P(
    Articles, LayoutOnTheCommandLine,
    testing::Values(
        ArticleCommand{"ScaleTensorAtom", "((32,4),(16,4)):((16,4),(0,1))", {"layout", "sf_atom<16>()"}},
        ArticleCommand{"ScaleTensorSfa128x64", "(((32,4),1),((16,4),1),(1,1)):(((16,4),512),((0,1),512),(0,512))", problem("128x128x64")},
        ArticleCommand{"ScaleTensorSfa128x128", "(((32,4),1),((16,4),2),(1,1)):(((16,4),1024),((0,1),512),(0,1024))", problem("128x128x128")},
        ArticleCommand{"ScaleTensorSfa256x64", "(((32,4),2),((16,4),1),(1,1)):(((16,4),512),((0,1),512),(0,1024))", problem("256x128x64")},
        ArticleCommand{"ScaleTensorSfa256x128", "(((32,4),2),((16,4),2),(1,1)):(((16,4),1024),((0,1),512),(0,2048))", problem("256x128x128")},
        ArticleCommand{"BlockScaledUmmaMxf8SmemSfa", "((((32,4),1),(32,1)),1,4,4):((((16,4),0),(0,0)),0,1,512)", kMxf8},
        ArticleCommand{"BlockScaledUmmaMxf8SmemSfb", "((((32,4),2),(32,1)),1,4,4):((((16,4),512),(0,0)),0,1,1024)", kMxf8},
        ArticleCommand{"BlockScaledUmmaMxf8TmemSfa", "((((32,4),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)   # 4 columns", kMxf8},
        ArticleCommand{"BlockScaledUmmaMxf8TmemSfb", "((((32,8),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)   # 8 columns", kMxf8},
        ArticleCommand{"BlockScaledUmmaNvf4SmemSfa", "((((32,4),1),(16,4)),1,4,3):((((16,4),0),(0,1)),0,512,2048)", kNvf4},
        ArticleCommand{"BlockScaledUmmaNvf4SmemSfb", "((((32,4),2),(16,4)),1,4,3):((((16,4),2048),(0,1)),0,512,4096)", kNvf4},
        ArticleCommand{"BlockScaledUmmaNvf4TmemSfa", "((((32,4),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,16)", kNvf4},
        ArticleCommand{"BlockScaledUmmaNvf4TmemSfb", "((((32,8),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,32)", kNvf4},
        ArticleCommand{"BlockScaledUmmaMxf4SmemSfa", "((((32,4),1),(32,2)),1,(2,2),4):((((16,4),0),(0,1)),0,(2,512),1024)", kMxf4},
        ArticleCommand{"BlockScaledUmmaMxf4SmemSfb", "((((32,4),2),(32,2)),1,(2,2),4):((((16,4),1024),(0,1)),0,(2,512),2048)", kMxf4},
        // "SM90 Blockwise Scaling and Groupwise Scaling", section "Memory layouts", with the marks of C++ dropped:
        // ((_128,2), (_128,8), 1) :((_0,_1), (_0,2), 2*8)
        ArticleCommand{"Sm90ScalingBlockwiseSfa", "((128,2),(128,8),1):((0,1),(0,2),16)", blockwise("128x128x128")},
        ArticleCommand{"Sm90ScalingBlockwiseSfb", "((128,4),(128,8),1):((0,1),(0,4),32)", blockwise("128x128x128")},
        ArticleCommand{"Sm90ScalingBlockwiseAtom", "((128,1),(128,1)):((0,1),(0,1))", blockwise("128x128x128")},
        ArticleCommand{"Sm90ScalingBlockwiseStaged", "((128,1),(128,1),4):((0,1),(0,1),1)", blockwise("128x128x128")},
        ArticleCommand{"Sm90ScalingGroupwiseSfa", "((1,256),(128,8),1):((0,1),(0,256),2048)", blockwise("1x128x128")},
        ArticleCommand{"Sm90ScalingGroupwiseAtom", "((1,128),(128,1)):((0,1),(0,128))", blockwise("1x128x128")},
        ArticleCommand{"Sm90ScalingGroupwiseStaged", "((1,128),(128,1),4):((0,1),(0,128),128)", blockwise("1x128x128")},
        // "Blockwise and Groupwise GEMM and Grouped GEMM on Blackwell", section "Scale Factor Tensors":
        // ((scale granularity M, M / scale granularity M), (scale granularity K, K / scale granularity K)) : ((0, int), (0, int))
        ArticleCommand{"SoftwareScalingSfa", "((1,8192),(128,64),1):((0,64),(0,1),524288)", {"sf", "blockwise", "--granularity=1x128x128", "--problem=8192x8192x8192", "--major-a=k"}},
        // "NVFP4 training in TransformerEngine", section "Epilogue Setup", bulk_tmem_mma:
        // tmem_[32b](0x0000.0000) o ((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16)
        ArticleCommand{"Nvfp4TrainingBulkTmemMma", "agrees: 2048 elements of 16 instructions", {"tmem", "check", "tmem_[32b](0x0000.0000) o ((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16)", "--n=16"}}),
    [](const auto& i) { return std::string(i.param.name); });

class InspectMistake : public testing::TestWithParam<Mistake> {};

TEST_P(InspectMistake, GetsOneMessageAndItsExitCode) { test::expect_one_message(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Each, InspectMistake,
    testing::Values(Mistake{"NoLayout", {"layout"}, 2, "which layout"}, Mistake{"BadLayout", {"layout", "(4,2):(1"}, 3, "E1801"},
                    Mistake{"UnknownFunction", {"layout", "coalesc((4,2))"}, 3, "did you mean 'coalesce'?"},
                    Mistake{"NotALayout", {"layout", "size((4,2))", "--injective"}, 3, "E1803"},
                    Mistake{"UnknownView", {"layout", "(4,2):(1,4)", "--table", "--view=3d"}, 2, "no view '3d'"},
                    Mistake{"UnwritableSvg", {"layout", "(4,2):(1,4)", "--svg=/nonexistent/x.svg"}, 3, "cannot be written"},
                    Mistake{"BadWord", {"desc", "smem", "0x12g"}, 2, "'0x12g' is not a number"},
                    Mistake{"PictureWithoutTile", {"desc", "smem", "0", "--bytes"}, 2, "need --tile"},
                    Mistake{"OutsideTheTile", {"desc", "smem", "0x4000404000010040", "--tile=8x64", "--at=8,0"}, 2, "outside the 8 x 64"},
                    Mistake{"TwoSigns", {"desc", "smem", "0x4000404000010040", "--tile=8x64", "--at=--1,0"}, 2, "is not an element ROW,K"},
                    Mistake{"SmallestNumber", {"desc", "smem", "0x4000404000010040", "--tile=8x64", "--at=--9223372036854775808,0"}, 2, "is not an element ROW,K"},
                    Mistake{"ExtentsBeyond32Bits", {"fragment", "tcgen05.mma.m4294967424n64"}, 2, "no extents such as m128n64"},
                    Mistake{"ExtentsAndMore", {"fragment", "tcgen05.mma.m128n64x"}, 2, "no extents such as m128n64"},
                    Mistake{"UnknownKind", {"desc", "instr", "0", "--kind=f64"}, 2, "no kind 'f64'"},
                    Mistake{"ShortMap", {"desc", "tensor-map", "/dev/null"}, 3, "E4001"},
                    Mistake{"BadMap", {"desc", "tensor-map", "--make", "dims=64,kind=x"}, 3, "E4403"},
                    Mistake{"UnknownSf", {"sf", "mma", "mxf9"}, 3, "E1802"}, Mistake{"BadTile", {"sf", "mma", "mxf8", "--tile=128"}, 2, "is not a tile MxN"},
                    Mistake{"MissingNpy", {"sf", "to-blocked", "/nonexistent.npy", "x.npy"}, 3, "/nonexistent.npy"},
                    Mistake{"WideNpy", {"sf", "to-blocked", test::source_path("tests/data/npy/float32_2x3.npy"), "x.npy"}, 3, "are bytes"},
                    Mistake{"NoFragments", {"fragment", "add.f32"}, 2, "no instruction with fragments"},
                    Mistake{"NoOperand", {"fragment", "mma.m16n8k16.f16", "--operand=c"}, 2, "no operand 'c'"},
                    Mistake{"BadAddress", {"smem", "banks", "lane*"}, 3, "column 6"}, Mistake{"BadBytes", {"smem", "banks", "lane", "--bytes=3"}, 2, "--bytes"},
                    Mistake{"NoSuchCta", {"tmem", "map", "tma-copy", "--rows=64", "--columns=32", "--cta=9"}, 2, "no CTA 9"},
                    Mistake{"NoMma", {"tmem", "map", "tma-copy", "--rows=64", "--columns=32", "--check=((128,16),1):((65536,1),0)"}, 2, "no tcgen05.mma"},
                    Mistake{"NoSuchShape", {"tmem", "check", "((128,16),1):((65536,1),0)", "--n=17"}, 3, "E1422"},
                    Mistake{"RecordAPtxFile", {"trace", "record", "x.ptx", "-o", "/tmp/x.trace"}, 2, "launch files"},
                    Mistake{"TimelineWithoutCycles", {"trace", "export", test::source_path("traces/golden/tma-copy.trace")}, 3, "has no timeline"},
                    Mistake{"LaunchFileForAKernel", {"ptx", "emit", "x.toml"}, 2, "launch files work with drywell run, step, dap"},
                    Mistake{"NoGoldens", {"trace", "check", test::source_path("docs")}, 3, "holds no .trace"}),
    [](const auto& i) { return std::string(i.param.name); });

TEST(InspectDesc, WordsRoundTripThroughTheirFields) {
  EXPECT_THAT(drywell({"desc", "smem", "--start=1024", "--lbo=16", "--sbo=1024", "--swizzle=128B"}).out, StartsWith("0x4000404000010040"));
  EXPECT_THAT(drywell({"desc", "smem", "--start=1024", "--lbo=16", "--sbo=1024", "--swizzle=128B", "--wgmma"}).out, StartsWith("0x4000004000010040"));
  // kind::f16, bf16 x bf16 -> f32, 128 x 128: docs/facts/tcgen05.md §10.
  EXPECT_THAT(drywell({"desc", "instr", "--m=128", "--n=128"}).out, StartsWith("0x08200490"));
  EXPECT_EQ(drywell({"desc", "instr", "0x08200490"}).exit_code, 0);
  const Finished bad = drywell({"desc", "smem", "0x6000404000010040"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.out, HasSubstr("E1401"));
}

TEST(InspectDesc, TensorMapsGoToAFileAndBack) {
  const TemporaryDirectory d;
  const Finished made = drywell({"desc", "tensor-map", "--make", "type=bf16,dims=64x128,box=64x8,swizzle=128B", "--address=4096", "-o", d.file("map")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string fields = made.out.substr(0, made.out.find("OOB fill"));
  EXPECT_THAT(drywell({"desc", "tensor-map", d.file("map")}).out, StartsWith(fields));
  std::string bytes = read_text_file(d.file("map"));
  bytes[127] = 1;
  write_file_atomically(d.file("map"), bytes);
  EXPECT_THAT(drywell({"desc", "tensor-map", d.file("map")}).out, HasSubstr("the driver's encode functions did not make these bytes"));
}

TEST(InspectSf, ConvertsFilesBothWaysWithPadding) {
  const TemporaryDirectory d;
  std::vector<uint8_t> factors(2 * 130 * 6);
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = static_cast<uint8_t>(i * 7 % 251);
  write_npy(d.file("x.npy"), NpyArray::of<uint8_t>(factors, {2, 130, 6}));
  ASSERT_EQ(drywell({"sf", "to-blocked", d.file("x.npy"), d.file("b.npy"), "--pad=255"}).exit_code, 0);
  const NpyArray b = read_npy(d.file("b.npy"));
  EXPECT_EQ(b.shape, (std::vector<uint64_t>{2, 2, 2, 512}));
  // Factor (row 33, 5) of the second matrix: its second factor tile, lane 1, group 1 ("CUTLASS tutorial: hardware-supported block scaling
  // with Blackwell GPUs", section
  // "TMA load of operands and scale factors").
  EXPECT_EQ(b.values<uint8_t>()[2048 + 512 + 1 * 16 + 1 * 4 + 1], factors[130 * 6 + 33 * 6 + 5]);
  EXPECT_EQ(b.values<uint8_t>()[2047], 255);
  ASSERT_EQ(drywell({"sf", "from-blocked", d.file("b.npy"), d.file("y.npy"), "--rows=130", "--factors=6"}).exit_code, 0);
  EXPECT_EQ(read_text_file(d.file("y.npy")), read_text_file(d.file("x.npy")));
}

TEST(InspectPictures, AreWrittenForEveryCommand) {
  const TemporaryDirectory d;
  const std::vector<std::vector<std::string>> commands = {{"layout", "((8,2),(4,2)):((4,64),(1,32))"},
                                                          {"desc", "smem", "0x4000404000010040", "--tile=16x64"},
                                                          {"desc", "tensor-map", "--make", "type=f16,dims=64x64,box=64x8,swizzle=128B"},
                                                          {"sf", "mma", "nvf4"},
                                                          {"fragment", "mma.m16n8k16.f16"},
                                                          {"smem", "tile"},
                                                          {"smem", "banks", "lane*4"},
                                                          {"tmem", "map", "fused-rht", "--m=64", "--n=128"}};
  for (std::vector<std::string> c : commands) {
    c.insert(c.end(), {"--svg", d.file("x.svg"), "--html", d.file("x.html")});
    const Finished f = drywell(c);
    EXPECT_EQ(f.exit_code, 0) << c[0] << f.err;
    const std::string svg = read_text_file(d.file("x.svg")), html = read_text_file(d.file("x.html"));
    EXPECT_THAT(svg, StartsWith("<svg xmlns=")) << c[0];
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n") << c[0];
    EXPECT_THAT(html, HasSubstr("</html>")) << c[0];
    for (const char* outside : {"<script", "<link", "src=", "url("}) EXPECT_EQ(html.find(outside), std::string::npos) << c[0];
  }
}

// The state at a cycle: the accumulator is in flight between the issue and the completion of the MMA, and later events are ignored.
TEST(InspectTmem, MapsAKernelAtACycle) {
  const std::vector<std::string> run = {"tmem", "map", "fused-rht", "--m=64", "--n=128", "--driver=timed"};
  const auto at = [&](uint64_t cycle) {
    std::vector<std::string> words = run;
    words.insert(words.end(), {"--at", std::to_string(cycle)});
    return drywell(words).out;
  };
  const std::string whole = drywell(run).out;
  EXPECT_THAT(whole, HasSubstr("freed at"));
  EXPECT_THAT(whole, HasSubstr("tcgen05.ld"));
  EXPECT_THAT(at(0), testing::Not(HasSubstr("tcgen05")));
  // The first MMA's line: columns lanes role times first last.
  std::istringstream line(whole.substr(whole.find("\n0-15 ") + 1));
  std::string columns, lanes, role;
  uint64_t times = 0, first = 0;
  line >> columns >> lanes >> role >> times >> first;
  ASSERT_EQ(role, "D");
  EXPECT_THAT(at(first), HasSubstr("in flight)"));
  EXPECT_THAT(at(first), testing::Not(HasSubstr("freed")));
  EXPECT_THAT(at(first - 1), testing::Not(HasSubstr("tcgen05.mma")));
}

TEST(InspectTrace, ChecksADirectoryForCi) {
  const TemporaryDirectory d;
  ASSERT_EQ(drywell({"trace", "record", "tma-copy", "--rows=64", "--columns=32", "-o", d.file("a.trace")}).exit_code, 0);
  ASSERT_EQ(drywell({"trace", "record", "tma-copy", "--rows=64", "--columns=64", "--values", "-o", d.file("b.trace.zst")}).exit_code, 0);
  EXPECT_EQ(drywell({"trace", "check", d.path()}).exit_code, 0);
  std::string text = read_text_file(d.file("a.trace"));
  text.replace(text.find("tx=8192"), 7, "tx=4096");
  write_file_atomically(d.file("a.trace"), text);
  write_file_atomically(d.file("c.trace"), std::string_view("# trace 1\n# profile arch\n"));
  const Finished f = drywell({"trace", "check", d.path(), "--junit", d.file("r.xml"), "--json", d.file("r.json")});
  EXPECT_EQ(f.exit_code, 3) << "one cannot be run";
  EXPECT_THAT(read_text_file(d.file("r.xml")), HasSubstr("tests=\"3\" failures=\"0\" errors=\"1\""));
  // The schema of Ant's reports, which CI servers read: github.com/windyroad/JUnit-Schema.
  if (const char* schema = std::getenv("DRYWELL_JUNIT_XSD"); schema != nullptr) {
    const Finished valid = test::run_process("/bin/sh", {"-c", "xmllint --noout --schema \"$0\" \"$1\" 2>&1", schema, d.file("r.xml")});
    EXPECT_EQ(valid.exit_code, 0) << valid.out;
  }
  EXPECT_EQ(nlohmann::json::parse(read_text_file(d.file("r.json"))).at("traces").size(), 3u);
  // A count that is not compared in the arch profile is still refreshed.
  EXPECT_THAT(drywell({"trace", "bless", d.file("a.trace")}).out, HasSubstr("written"));
}

/// A launch file of one thread that stores at an offset of its buffer of four bytes.
void write_store(const TemporaryDirectory& d, const char* offset) {
  write_file_atomically(d.file("store.toml"), std::string_view("module = \"store.ptx\"\n[buffers]\nx = \"u32[1]:zeros\"\n[[launch]]\nblock = 1\nargs = [\"@x\"]\n"));
  write_file_atomically(d.file("store.ptx"), std::string(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %a;\n  ld.param.u64 %a, [p];\n"
                                                         "  st.global.u32 [%a+") +
                                                 offset + "], 7;\n  ret;\n}\n");
}

TEST(InspectTrace, AFaultIsSaidFirstAndNotBlessed) {
  const TemporaryDirectory d;
  write_store(d, "0");
  ASSERT_EQ(drywell({"trace", "record", d.file("store.toml"), "-o", d.file("a.trace")}).exit_code, 0);
  const std::string golden = read_text_file(d.file("a.trace"));
  EXPECT_THAT(golden, testing::Not(HasSubstr(d.path()))) << "a golden trace is the same in every folder";
  write_store(d, "4096");
  const Finished check = drywell({"trace", "check", d.file("a.trace")});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(check.out, HasSubstr("differs\nnow ended in a fault: F3001"));
  const Finished bless = drywell({"trace", "bless", d.file("a.trace")});
  EXPECT_EQ(bless.exit_code, 3);
  EXPECT_THAT(bless.out, HasSubstr("not written: the run ended in a fault: F3001"));
  EXPECT_EQ(read_text_file(d.file("a.trace")), golden);
  ASSERT_EQ(drywell({"trace", "record", d.file("store.toml"), "-o", d.file("b.trace")}).exit_code, 0);
  EXPECT_THAT(drywell({"trace", "diff", d.file("a.trace"), d.file("b.trace")}).out, HasSubstr(d.file("b.trace") + " ended in a fault: F3001"));
  EXPECT_EQ(drywell({"trace", "bless", d.file("b.trace")}).exit_code, 0) << "a trace of a fault may be refreshed";
}

// docs/running-ptx.md: the options of `drywell run` apply to launch files, too.
TEST(RunLaunchFile, TakesExpectAndSave) {
  const TemporaryDirectory d;
  write_store(d, "0");
  const Finished saved = drywell({"run", d.file("store.toml"), "--save", "x=" + d.file("x.npy")});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  const NpyArray x = read_npy(d.file("x.npy"));
  ASSERT_EQ(x.data.size(), 4u);
  EXPECT_EQ(x.data[0], std::byte{7});
  EXPECT_EQ(drywell({"run", d.file("store.toml"), "--verify", "--expect", "x=" + d.file("x.npy")}).exit_code, 0);
  EXPECT_EQ(drywell({"run", d.file("store.toml"), "--expect", "y=" + d.file("x.npy")}).exit_code, 3) << "no buffer y";
  const Finished sizes = drywell({"run", d.file("store.toml"), "--grid=2"});
  EXPECT_EQ(sizes.exit_code, 2);
  EXPECT_THAT(sizes.err, HasSubstr("--expect and --save are added to its own"));
}

TEST(InspectTrace, ExportsTimelines) {
  const TemporaryDirectory d;
  ASSERT_EQ(drywell({"trace", "record", "tma-copy", "--rows=64", "--columns=32", "--driver=timed", "-o", d.file("a.trace")}).exit_code, 0);
  const Finished perfetto = drywell({"trace", "export", d.file("a.trace")});
  const auto j = nlohmann::json::parse(perfetto.out);
  size_t begins = 0, ends = 0, stalls = 0;
  for (const auto& e : j.at("traceEvents")) {
    const std::string ph = e.at("ph");
    begins += ph == "b";
    ends += ph == "e";
    stalls += ph == "X" && e.at("name").get<std::string>().starts_with("stall: ");
    if (ph == "X") {
      EXPECT_GT(e.at("dur").get<int>(), 0);
    }
  }
  EXPECT_GE(begins, 2u) << "a load and a store by TMA";
  // Flows run from the issuing instruction over the operation's end to the first waiter of its mbarrier; each point is in a slice.
  std::map<int, std::string> phases;
  std::map<int, uint64_t> last;
  for (const auto& e : j.at("traceEvents")) {
    const std::string ph = e.at("ph");
    if (ph != "s" && ph != "t" && ph != "f") continue;
    const int id = e.at("id").get<int>();
    const auto at = e.at("ts").get<uint64_t>();
    EXPECT_GE(at, last[id]);
    last[id] = at;
    phases[id] += ph;
    bool held = false;
    for (const auto& s : j.at("traceEvents"))
      held = held || (s.at("ph") == "X" && s.at("pid") == e.at("pid") && s.at("tid") == e.at("tid") && s.at("ts").get<uint64_t>() <= at &&
                      at < s.at("ts").get<uint64_t>() + s.at("dur").get<uint64_t>());
    EXPECT_TRUE(held) << e.dump();
  }
  size_t waited = 0;
  for (const auto& [id, p] : phases) {
    EXPECT_TRUE(p == "stf" || p == "sf") << p;
    waited += p == "stf";
  }
  EXPECT_EQ(phases.size(), begins);
  EXPECT_EQ(waited, 1u) << "the load's, whose mbarrier the warps wait for";
  EXPECT_EQ(begins, ends);
  EXPECT_GT(stalls, 0u);
  EXPECT_THAT(drywell({"trace", "export", d.file("a.trace"), "--format=csv"}).out, HasSubstr("\"cta=0.0.0 w=0\",0,I,"));
  EXPECT_THAT(drywell({"trace", "export", d.file("a.trace"), "--format=html"}).out, HasSubstr("</html>"));
}

}  // namespace
}  // namespace drywell
