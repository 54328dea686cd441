// Inputs that once broke the command (tests/corpus/hard): each ends with one message and its exit code, or
// runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>

#include "drywell/core/npy.h"
#include "drywell/core/pattern.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/trace.h"
#include "support/mistake.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using test::drywell;
using test::Finished;
using test::TemporaryDirectory;
using testing::HasSubstr;

std::string hard(const std::string& name) { return test::source_path("tests/corpus/hard/") + name; }

std::vector<std::string> run_words(const std::string& path, std::vector<std::string> more) {
  std::vector<std::string> words = {"run", path, "--arch=" + hard("small100.toml")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Input {
  const char* file;
  std::vector<std::string> more;
  int exit_code;
  const char* message;
};

class HardInput : public testing::TestWithParam<Input> {};

TEST_P(HardInput, EndsWithItsMessage) {
  const Input& i = GetParam();
  const Finished f = drywell(run_words(hard(i.file), i.more));
  EXPECT_EQ(f.exit_code, i.exit_code) << f.out << f.err;
  EXPECT_THAT(f.out + f.err, HasSubstr(i.message));
}

const std::vector<std::string> kFourWords = {"--arg", "u32[4]:zeros"};

INSTANTIATE_TEST_SUITE_P(
    Each, HardInput,
    testing::Values(
        Input{"a_local_1m.ptx", kFourWords, 3, "E4129"},
        Input{"a_local_alias.ptx", kFourWords, 3, "4294967360 bytes of local memory"},
        Input{"a_shared_alias.ptx", kFourWords, 3, "E4124"},
        Input{"shared_offset_wrap.ptx", kFourWords, 3, "E1107"},
        Input{"a_smem_dyn.ptx",
              {"--arg", "u32[4]:zeros", "--smem", "4294967295"},
              3,
              "4294967296 bytes of shared memory"},
        Input{"b_call_shared.ptx", kFourWords, 3, "'s' is not a .param variable"},
        Input{"b_call_shared_ret.ptx", kFourWords, 3, "'s' is not a .param variable"},
        Input{"b_func_2g_param.ptx", kFourWords, 4, "2147483648 bytes of local memory"},
        Input{"b_vprintf_ret8.ptx", kFourWords, 3, "'ret0' has .b8"},
        Input{"st_param_kernel.ptx", kFourWords, 3, "read only"},
        Input{"b_recursion_r100.ptx", kFourWords, 5, "F3005"},
        Input{"b_recursion_regs.ptx", kFourWords, 5, "F3005"},
        Input{"toml_truncation.toml", {}, 3, "block needs positive numbers up to 4294967295"},
        Input{"e_ok.ptx", {"--max-instructions", "18446744073709551616"}, 2, "does not fit in 64 bits"},
        Input{"e_ok.ptx", {"--max-instructions=0x10000000000000001"}, 2, "does not fit in 64 bits"},
        Input{"e_ok.ptx", {"--buffer", "x=f32[64]", "--map", "m=x,box=4294967297"}, 3, "E4403"}));

class HardKernel : public testing::TestWithParam<Input> {};

TEST_P(HardKernel, Runs) {
  const Finished f = drywell(run_words(hard(GetParam().file), GetParam().more));
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
}

INSTANTIATE_TEST_SUITE_P(
    Each, HardKernel,
    testing::Values(Input{"b_paths.ptx", kFourWords, 0, ""},
                    Input{"b_paths.ptx", {"--arg", "u32[4]:zeros", "--driver=timed"}, 0, ""},
                    Input{"b_paths.ptx", {"--arg", "u32[4]:zeros", "--check"}, 0, ""},
                    Input{"g_vecsrc.ptx", kFourWords, 0, ""}));

/// What a kernel that takes one buffer of 32-bit words leaves in it.
std::vector<uint32_t> words_after(const std::string& path, const std::string& buffer,
                                  const std::vector<std::string>& more = {}) {
  const TemporaryDirectory dir;
  std::vector<std::string> words =
      run_words(path, {"--buffer", "o=" + buffer, "--arg", "@o", "--save", "o=" + dir.file("o.npy")});
  words.insert(words.end(), more.begin(), more.end());
  const Finished f = drywell(words);
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  if (f.exit_code != 0) return {};
  const NpyArray a = read_npy(dir.file("o.npy"));
  std::vector<uint32_t> out(a.data.size() / 4);
  std::memcpy(out.data(), a.data.data(), a.data.size());
  return out;
}

// A recursion through a function that declares 65,536 registers and uses two: 300 frames once wrapped around
// 4 GiB, and the outermost call found another value in its register.
TEST(HardFrames, DeclaredRegistersTakeNoRoom) {
  const TemporaryDirectory dir;
  std::ofstream(dir.file("depth.raw"), std::ios::binary).write("\x2c\x01\0\0", 4);
  EXPECT_EQ(words_after(hard("b_wrap_regs.ptx"), "u32[1]:file=" + dir.file("depth.raw")),
            std::vector<uint32_t>{77});
}

// Special registers as elements of a vector: the values that a mov of each reads.
TEST(HardVectors, OfSpecialRegisters) {
  const TemporaryDirectory dir;
  std::ofstream(dir.file("v.ptx")) << R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p)
{
 .reg .b64 %d; .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %q;
 ld.param.u64 %d, [p];
 mov.b64 %rd0, {%tid.x, %ntid.x};
 mov.u32 %r0, %tid.x;
 setp.ne.u32 %q, %r0, 5;
 @%q bra END;
 st.global.u64 [%d], %rd0;
 st.global.v2.u32 [%d+8], {%tid.x, %laneid};
 setp.eq.u32 %q, %r0, 6;
 @%q st.global.v2.u32 [%d+8], {%tid.y, %tid.z};
END:
 ret;
}
)";
  EXPECT_EQ(words_after(dir.file("v.ptx"), "u32[4]:zeros", {"--block", "40"}),
            (std::vector<uint32_t>{5, 40, 5, 5}));
}

std::string copy_of_ok(const TemporaryDirectory& dir, const std::string& name) {
  std::filesystem::copy_file(hard("e_ok.ptx"), dir.file(name));
  return dir.file(name);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// An output is neither an input nor another output, by whatever name.
TEST(HardOutputs, AreNotInputs) {
  const TemporaryDirectory dir;
  const std::string source = copy_of_ok(dir, "k.ptx"), text = text_of(source);
  std::filesystem::create_symlink(source, dir.file("link.ptx"));
  std::filesystem::create_hard_link(source, dir.file("hard.ptx"));
  write_npy(dir.file("x.npy"),
            NpyArray::of_bytes("<u4", std::as_bytes(std::span<const uint32_t>(std::vector<uint32_t>(64, 7))),
                               {64}));
  const std::string array = text_of(dir.file("x.npy"));
  const std::vector<std::string> run = {
      "run", source, "--arch=" + hard("small100.toml"), "--buffer", "x=" + dir.file("x.npy"), "--arg", "@x"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = run;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<std::vector<std::string>> overwrites = {
      {"build", source, "-o", source},
      {"build", source, "-o", dir.file("link.ptx")},
      {"build", source, "-o", dir.file("hard.ptx")},
      {"build", source, "-o", dir.path() + "/./k.ptx"},
      with({"--json", source}),
      with({"--json", dir.file("hard.ptx")}),
      with({"--trace", source}),
      with({"--sarif", source, "--check"}),
      with({"--save", "x=" + source}),
      with({"--save", "x=" + dir.file("x.npy")}),
      with({"--json", dir.file("x.npy")}),
      with({"--save", "x=" + dir.file("new"), "--json", dir.file("new")})};
  for (const std::vector<std::string>& words : overwrites) {
    const Finished f = drywell(words);
    EXPECT_EQ(f.exit_code, 2) << testing::PrintToString(words) << f.err;
    EXPECT_EQ(text_of(source), text) << testing::PrintToString(words);
    EXPECT_EQ(text_of(dir.file("x.npy")), array) << testing::PrintToString(words);
  }
  EXPECT_FALSE(std::filesystem::exists(dir.file("new")));
  EXPECT_EQ(drywell(with({"--save", "x=" + dir.file("y.npy")})).exit_code, 0);
}

// The same of files that a command reads beside its subject: the machine, raw bytes of an argument, the module of a launch file.
TEST(HardOutputs, AreNotInputsOfAnyOption) {
  const TemporaryDirectory dir;
  const std::string source = copy_of_ok(dir, "k.ptx"), plan = dir.file("plan.toml"), machine = dir.file("m.toml"), raw = dir.file("raw");
  std::filesystem::copy_file(hard("small100.toml"), machine);
  std::ofstream(raw) << "12345678";
  std::ofstream(plan) << "module = \"k.ptx\"\n[[launch]]\nargs = [\"u32[64]:zeros\"]\n";
  const std::vector<std::vector<std::string>> overwrites = {
      {"run", source, "--arch=" + machine, "--arg", "u32[64]:zeros", "--json", machine},
      {"run", "tma-copy", "--rows=64", "--columns=32", "--arch=" + machine, "--trace", machine},
      {"run", source, "--arg", "file:" + raw, "--json", raw},
      {"run", plan, "--json", source},
      {"trace", "record", plan, "-o", source},
      {"trace", "record", source, "--arch=" + machine, "--arg", "u32[64]:zeros", "-o", machine},
      {"tmem", "show", plan, "-o", source},
      {"ptx", "emit", "tma-copy", "--arch=" + machine, "-o", machine},
      {"ptxas", source, "-o", source},
      {"conformance", "--arch=" + machine, "--json", machine},
      {"exec", "--arch=" + machine, "--report=" + machine, "--", "/bin/true"}};
  std::map<std::string, std::string> before;
  for (const std::string& path : {source, plan, machine, raw}) before[path] = text_of(path);
  for (const std::vector<std::string>& words : overwrites) {
    const Finished f = drywell(words);
    EXPECT_EQ(f.exit_code, 2) << testing::PrintToString(words) << f.err;
    EXPECT_NE(f.err.find("would overwrite"), std::string::npos) << testing::PrintToString(words) << f.err;
    for (const auto& [path, text] : before) ASSERT_EQ(text_of(path), text) << testing::PrintToString(words);
  }
}

// Only its owner could read the file that is replaced; so it stays.
TEST(HardOutputs, KeepTheirMode) {
  const TemporaryDirectory dir;
  const std::string out = dir.file("out.json");
  std::ofstream(out) << "old";
  std::filesystem::permissions(out, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_EQ(drywell({"run", hard("e_ok.ptx"), "--arch=" + hard("small100.toml"), "--arg", "u32[64]:zeros",
                     "--json", out})
                .exit_code,
            0);
  EXPECT_NE(text_of(out), "old");
  EXPECT_EQ(std::filesystem::status(out).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// A .file directive with escape sequences: a terminal gets colours of Drywell's own and nothing else.
TEST(HardTerminal, GetsNoEscapeSequencesOfTheInput) {
  if (!std::filesystem::exists("/usr/bin/script")) GTEST_SKIP() << "no script(1) to make a terminal";
  const std::string command = test::binary_path() + " run " + hard("c_file_esc.ptx") +
                              " --arch=" + hard("small100.toml") + " --arg u32[4]:zeros";
  const Finished f = test::run_process("/usr/bin/script", {"-qec", command, "/dev/null"});
  EXPECT_THAT(f.out, HasSubstr("\\x1b]0;pwn\\x07"));
  EXPECT_THAT(f.out, testing::Not(HasSubstr("\x1b]")));
  EXPECT_THAT(f.out, testing::Not(HasSubstr("\x1b[2J")));
}

// A kernel under `exec` that prints a sequence which clears the screen.
TEST(HardTerminal, GetsNoEscapeSequencesOfAKernel) {
  const std::string guest = std::filesystem::path(test::binary_path()).parent_path().parent_path() / "tests/attack/drywell_attack_guest";
  if (!std::filesystem::exists("/usr/bin/script")) GTEST_SKIP() << "no script(1) to make a terminal";
  if (!std::filesystem::exists(guest)) GTEST_SKIP() << "the guest of the attack is not built";
  const std::string command = test::binary_path() + " exec -- " + guest + " print";
  const Finished shown = test::run_process("/usr/bin/script", {"-qec", command, "/dev/null"});
  EXPECT_THAT(shown.out, HasSubstr("\\x1b[2J1.500000"));
  const Finished raw = drywell({"exec", "--", guest, "print"});
  EXPECT_EQ(raw.out, "\x1b[2J1.500000\n") << "what goes to a pipe is unchanged";
}

TEST(HardTerminal, ControlsAreShown) {
  EXPECT_EQ(without_controls("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(without_controls(paint("red", Colour::red, true)), paint("red", Colour::red, true));
  EXPECT_EQ(without_controls("\x1b[2J\r\x7f\x1b[31"), "\\x1b[2J\\x0d\\x7f\\x1b[31");
  EXPECT_EQ(without_controls("\xc2\x9b"
                             "2J \xc3\xbc"),
            "\\xc2\\x9b2J \xc3\xbc");
  EXPECT_EQ(without_controls(std::string("\x1b")), "\\x1b");
  EXPECT_EQ(without_controls("\x9b"
                             "2J\xff"),
            "\\x9b2J\xff")
      << "C1 as a byte";
}

// Other text would be read than the one that is there, or none.
TEST(HardTerminal, TextIsNeitherHiddenNorTurnedAround) {
  EXPECT_EQ(without_controls("\u202Eabc\u2066\u200F\u2028"), "\\xe2\\x80\\xaeabc\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xe2\\x80\\xa8");
  EXPECT_EQ(without_controls("\x1b[8mconcealed\x1b[30;40m"), "\\x1b[8mconcealed\\x1b[30;40m");
  EXPECT_EQ(without_controls("\x1b[38;5;16mblack"), "\\x1b[38;5;16mblack");
  const std::string picture = "\x1b[48;5;117m\x1b[38;5;16m 1 \x1b[0m";
  EXPECT_EQ(without_controls(picture), picture) << "a cell of a picture";
  EXPECT_EQ(without_controls("\u2026 \u00FC \U0001F600"), "\u2026 \u00FC \U0001F600");
}

// Patterns are bounded, and searched in linear time.
TEST(HardPatterns, AreRefusedOrFast) {
  const auto list = [](const std::string& filter) {
    return drywell({"conformance", "--list", "--filter", filter});
  };
  EXPECT_THAT(list(std::string(20000, '(')).err, HasSubstr("longer than 500 characters"));
  EXPECT_THAT(list(std::string(100, '(') + std::string(100, ')')).err, HasSubstr("nested deeper than 20"));
  EXPECT_THAT(list("((a{99}){99}){99}").err, HasSubstr("multiply to more than 1000"));
  EXPECT_THAT(list("(").err, HasSubstr("is no regular expression"));
  EXPECT_EQ(list("add").exit_code, 0);
  const Pattern slow("(a*)*b$");
  EXPECT_FALSE(slow.finds(std::string(5000, 'a')));
  EXPECT_TRUE(slow.finds(std::string(5000, 'a') + "b"));
  EXPECT_TRUE(Pattern("").finds("anything"));
  EXPECT_TRUE(Pattern("^mma/(f16|bf16)").finds("mma/bf16"));
  EXPECT_THROW(Pattern("(a)\\1"), PatternError);
  try {
    Pattern(std::string_view("(?:a)", 1));  // what is behind a view is no part of it
    ADD_FAILURE() << "an open parenthesis was taken";
  } catch (const PatternError& e) {
    EXPECT_THAT(e.what(), HasSubstr("Mismatched '('"));
  }
  for (const char* number : {"a\\18446744073709551616", "a{18446744073709551616", "a{2,18446744073709551616}"}) EXPECT_THROW(Pattern{number}, PatternError) << number;
  EXPECT_TRUE(Pattern("kernel_18446744073709551616").finds("kernel_18446744073709551616"));
}

// 40 ranges of a million names, and 800 KB of constants in one line: refused before they take memory.
TEST(HardNames, RangesAreBounded) {
  EXPECT_THAT(drywell({"ptx", "check", hard("a_range_many.ptx")}).err, HasSubstr("E1110"));
  EXPECT_THAT(drywell({"ptx", "check", hard("a_const_range.ptx")}).err, HasSubstr("E1110"));
}

/// A sanitizer's shadow takes more addresses than the limits of these tests.
bool addresses_can_be_limited() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

/// A command under `ulimit -v`, in kilobytes.
Finished within(const std::string& kilobytes, const std::string& words) {
  return test::run_process("/bin/bash", {"-c", "ulimit -v " + kilobytes + "; exec " + test::binary_path() + " " + words});
}

// Device memory has 180 GB of addresses: where there are fewer, it has fewer.
TEST(HardHost, FewAddresses) {
  if (!addresses_can_be_limited()) GTEST_SKIP() << "built with a sanitizer";
  for (const char* driver : {"eager", "timed"}) {
    const Finished f = within("600000", "run tma-copy --rows=256 --columns=64 --verify --driver=" + std::string(driver));
    EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  }
  const Finished big = within("600000", "run " + hard("e_ok.ptx") + " --buffer x=u32[268435456]:zeros --arg @x");
  EXPECT_EQ(big.exit_code, 3);
  EXPECT_THAT(big.err, HasSubstr("E4105"));
}

// Some kilobytes that unpack to 200 MB: to a trace that is too long, and to zeros.
TEST(HardTraces, ThatUnpackToMoreThanTheHostHas) {
  if (!addresses_can_be_limited()) GTEST_SKIP() << "built with a sanitizer";
  const test::TemporaryDirectory dir;
  const auto pack = [&](const std::string& name, const std::string& begin, char filler) {
    sim::TraceFile file(dir.file(name));
    file.write(begin);
    const std::string piece(1 << 20, filler);
    for (int i = 0; i < 200; ++i) file.write(piece);
    file.write("\n");
    file.commit();
    return dir.file(name);
  };
  const std::string header = "# trace 1\n# profile arch\n# values no\n";
  EXPECT_THAT(within("700000", "trace show " + pack("long.trace.zst", header, 'x')).err, HasSubstr("E4204"));
  EXPECT_THAT(within("700000", "trace show " + pack("zeros.trace.zst", "", '\0')).err, HasSubstr("E4202"));
}

// A grid of 2^31 - 1 CTAs, of which a hundred instructions run.
TEST(HardGrid, NothingIsKeptPerCtaBeforeItStarts) {
  for (const char* more : {"--driver=eager", "--check", "--driver=timed"}) {
    const Finished f = drywell({"run", hard("d_grid.ptx"), "--arch=" + hard("small100.toml"), "--grid",
                                "2147483647", "--max-instructions", "100", more});
    EXPECT_EQ(f.exit_code, 5) << more << f.err;
    EXPECT_THAT(f.out, HasSubstr("F3602")) << more;
  }
}

}  // namespace
}  // namespace drywell
