#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "drywell/core/files.h"
#include "drywell/sim/arch_config.h"
#include "tests/support/paths.h"

namespace drywell::sim {
namespace {

/// The diagnostics of loading this text, one code per line, in order.
std::vector<Diagnostic> diagnostics_of(std::string_view toml) {
  try {
    parse_arch(toml, "x.toml");
  } catch (const InputError& e) {
    return {e.diagnostics().list().begin(), e.diagnostics().list().end()};
  }
  return {};
}

class BuiltinArchs : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Arch, BuiltinArchs, testing::Values("sm_100a", "sm_90a", "sm_103a", "sm_120a", "sm_121a"),
                         [](const auto& test) { return std::string(test.param).substr(3); });

TEST_P(BuiltinArchs, GiveEveryFigureWithProvenanceAndSource) {
  const ArchConfig arch = load_arch(GetParam());
  EXPECT_EQ(arch.name, GetParam());
  EXPECT_EQ(isa::target_name(arch.target), GetParam());
  const auto schema = arch_schema(arch.tensor);
  ASSERT_EQ(arch.entries.size(), schema.size());
  for (size_t i = 0; i < schema.size(); ++i) {
    const ArchEntry& e = arch.entries[i];
    EXPECT_EQ(e.key, schema[i].key);
    EXPECT_FALSE(e.value.empty()) << e.key;
    EXPECT_FALSE(e.doc.empty()) << e.key;
    EXPECT_GE(e.source.size(), 5u) << e.key;
    EXPECT_NE(e.where.line, 0u) << e.key << " comes from a default, not from the file";
    if (e.provenance == Provenance::measured && arch.name != "sm_103a") {
      EXPECT_EQ(e.source.find("B300: QRC"), std::string::npos)
          << e.key << ": a sibling chip's figure is derived";
    }
  }
}

TEST_P(BuiltinArchs, CostEveryTimingClassOfTheChip) {
  const ArchConfig arch = load_arch(GetParam());
  std::set<std::string> costed;
  for (const ArchEntry& e : arch.entries) {
    if (e.key.starts_with("class.") && e.key.ends_with(".latency"))
      costed.insert(e.key.substr(6, e.key.size() - 14));
  }
  const std::set<std::string> umma_only = {"umma", "tmem_cp", "tmem_ld", "tmem_st",
                                           "tmem_wait", "tmem_shift", "tmem_alloc", "tcgen05_commit",
                                           "tcgen05_fence"};
  const std::set<std::string> blackwell_only = {"fma2", "cvt_rs4", "clc"};
  for (size_t i = 0; i < static_cast<size_t>(isa::TimingClass::count_); ++i) {
    const std::string name(isa::timing_class_name(static_cast<isa::TimingClass>(i)));
    bool absent = arch.tensor == TensorCore::wgmma ? blackwell_only.contains(name) : name.starts_with("wgmma");
    absent = absent || (arch.tensor != TensorCore::umma && umma_only.contains(name));
    EXPECT_EQ(costed.contains(name), !absent) << name;
  }
}

TEST_P(BuiltinArchs, DescribeThemselves) {
  const ArchConfig arch = load_arch(GetParam());
  const std::string all = describe(arch, false), assumed = describe(arch, true);
  EXPECT_NE(all.find("[smem] shared memory\n"), std::string::npos);
  EXPECT_NE(all.find(fmt::format("{} B", arch.smem.cta_bytes)), std::string::npos);
  EXPECT_EQ(assumed.find("measured  "), std::string::npos);
  size_t lines = 0;
  for (const ArchEntry& e : arch.entries) {
    const bool is_assumed = e.provenance == Provenance::assumed;
    EXPECT_NE(all.find("  " + e.key + ' '), std::string::npos) << e.key;
    EXPECT_EQ(assumed.find("  " + e.key + ' ') != std::string::npos, is_assumed) << e.key;
    EXPECT_EQ(assumed_figures_markdown(arch).find("| `" + e.key + "` |") != std::string::npos, is_assumed)
        << e.key;
    lines += is_assumed;
  }
  EXPECT_NE(assumed.find(std::to_string(lines) + " of " + std::to_string(arch.entries.size())),
            std::string::npos);
}

// docs/deviations.md and `drywell arch --assumed` say the same.
TEST_P(BuiltinArchs, AssumedFiguresStandInDeviations) {
  ArchConfig arch = load_arch(GetParam());
  std::erase_if(arch.entries, [&](const ArchEntry& e) { return e.where.file != arch.name + ".toml"; });  // a base has its own section
  const bool early = arch.name == "sm_100a" || arch.name == "sm_90a";
  const std::string page = read_text_file(test::source_path(early ? "docs/deviations.md" : "docs/assumed-figures.md"));
  const size_t begin = page.find("### " + arch.name + "\n");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = std::min(page.find("\n#", begin + 4), page.size());
  const std::string table = assumed_figures_markdown(arch);
  EXPECT_EQ(page.substr(begin, end - begin).substr(page.find('|', begin) - begin), table.substr(table.find('|')))
      << "drywell arch " << arch.name << " --assumed --markdown";
}

TEST(ArchConfig, TypedMembersHoldTheFiguresOfTheFile) {
  const ArchConfig b200 = load_arch("sm_100a"), h200 = load_arch("sm_90a");
  EXPECT_EQ(b200.chip.sms, 148u);
  EXPECT_EQ(b200.smem.cta_bytes, 232448u);
  EXPECT_EQ(b200.tmem.columns, 512u);
  EXPECT_TRUE(b200.smem.tensor_first);
  EXPECT_EQ(b200.cost(isa::TimingClass::fma).latency, 4);
  EXPECT_EQ(b200.cost(isa::TimingClass::mufu).pipe, Pipe::xu);
  EXPECT_EQ(b200.seconds(1.85e9), 1);
  EXPECT_EQ(h200.chip.sms, 132u);
  EXPECT_EQ(h200.tensor, TensorCore::wgmma);
  EXPECT_EQ(h200.cost(isa::TimingClass::ld_shared).latency, 23);
  EXPECT_EQ(h200.barrier.cta_base + 4 * h200.barrier.cta_per_warp, 20);  // bar.sync of 128 threads
}

struct UmmaRow {
  bool pair, from_smem;
  int m;
  std::array<double, 6> expected;  // N = 64, 80, 96, 112, 128, 256
};
constexpr std::array<int, 6> kColumns = {64, 80, 96, 112, 128, 256};

/// Rows of A and of B one SM holds for an instruction, and array time per column, as arch_keys.inc describes
/// them.
double umma_interval(const ArchConfig& a, const UmmaRow& row, int n) {
  const auto& u = a.umma;
  const bool folded = row.pair && row.m == 128;
  const double a_rows = row.pair ? row.m / 2 : row.m, b_rows = row.pair ? n / 2.0 : n;
  const double k_bytes = static_cast<double>(u.k_bytes);
  double fetch = ((row.from_smem ? k_bytes * a_rows : 0) + k_bytes * b_rows) / u.fetch_bytes_per_clk;
  if (row.pair) fetch += folded ? u.fetch_pair_m128 : u.fetch_pair_m256;
  const double array =
      folded ? std::max(n * u.array_per_column_pair_m128, u.array_floor_pair_m128) : n * u.array_per_column;
  return std::max({fetch, array, u.interval_floor});
}

double umma_latency(const ArchConfig& a, const UmmaRow& row, int n) {
  const auto& u = a.umma;
  const bool folded = row.pair && row.m == 128;
  double latency = u.latency + (row.pair ? u.latency_pair : 0) + (folded ? u.latency_pair_m128 : 0);
  latency += n * (folded ? u.array_per_column_pair_m128 : u.array_per_column);
  if (!row.from_smem) return latency;
  const double k_bytes = static_cast<double>(u.k_bytes);
  const double load = k_bytes * (row.pair ? row.m / 2 : row.m) / u.fetch_bytes_per_clk;
  return latency +
         (folded ? std::min(load, n * k_bytes / 2 / u.fetch_bytes_per_clk) + u.load_pair_m128 : load);
}

TEST(ArchConfig, UmmaCoefficientsGiveTheMeasuredIntervals) {
  // docs/facts/timing.md §4.1 (SemiAnalysis, B200).
  const UmmaRow rows[] = {
      {false, false, 128, {32, 40, 48, 56, 64, 128}}, {false, true, 128, {48, 52, 56, 60, 64, 128}}, {false, true, 64, {32, 40, 48, 56, 64, 128}}, {true, false, 256, {32, 40, 48, 56, 64, 128}}, {true, true, 256, {43, 45.3, 49.4, 56, 64, 128}}, {true, false, 128, {18, 20, 24, 28, 32, 64}}, {true, true, 128, {25, 27, 29, 30, 32, 64}}};
  const ArchConfig arch = load_arch("sm_100a");
  for (const UmmaRow& row : rows) {
    for (size_t i = 0; i < kColumns.size(); ++i) {
      EXPECT_NEAR(umma_interval(arch, row, kColumns[i]), row.expected[i], 0.05 * row.expected[i])
          << row.m << ' ' << i;
    }
  }
}

TEST(ArchConfig, UmmaCoefficientsGiveTheMeasuredLatencies) {
  // docs/facts/timing.md §4.2 (SemiAnalysis, B200): exact.
  const UmmaRow rows[] = {
      {false, false, 128, {136, 144, 152, 160, 168, 232}}, {false, true, 64, {152, 160, 168, 176, 184, 248}}, {false, true, 128, {168, 176, 184, 192, 200, 264}}, {true, false, 256, {170, 178, 186, 194, 202, 266}}, {true, true, 256, {202, 210, 218, 226, 234, 298}}, {true, false, 128, {162, 166, 170, 174, 178, 210}}, {true, true, 128, {173, 179, 185, 191, 197, 229}}};
  const ArchConfig arch = load_arch("sm_100a");
  for (const UmmaRow& row : rows) {
    for (size_t i = 0; i < kColumns.size(); ++i) {
      EXPECT_EQ(umma_latency(arch, row, kColumns[i]), row.expected[i]) << row.m << ' ' << i;
    }
  }
  const auto& u = arch.umma;
  EXPECT_EQ(u.latency_start + u.latency_drain + u.latency_commit + arch.mbarrier.wake, u.latency);
}

constexpr std::string_view kVariant = R"(
base = "sm_100a"
name = "b200_half"
[chip]
sms = { value = 74, unit = "SM", provenance = "assumed", source = "one die, for an experiment" }
[class]
fma.latency = { value = 5, unit = "cyc", provenance = "assumed", source = "what if" }
)";

TEST(ArchLoader, InheritsFromItsBase) {
  const ArchConfig arch = parse_arch(kVariant, "variant.toml");
  EXPECT_EQ(arch.name, "b200_half");
  EXPECT_EQ(arch.chip.sms, 74u);
  EXPECT_EQ(arch.cost(isa::TimingClass::fma).latency, 5);
  EXPECT_EQ(arch.cost(isa::TimingClass::fma).interval, 1);
  EXPECT_EQ(arch.l2.latency, 305);
  EXPECT_EQ(arch.entries.front().key, "chip.sms");
  EXPECT_EQ(arch.entries.front().where, (SourcePos{"variant.toml", 5, 1}));
  EXPECT_EQ(arch.entries[1].where.file, "sm_100a.toml");
}

TEST(ArchLoader, AnotherMachinesFiguresAreAssumedAndOnlyThoseOfUnitsThatExist) {
  const ArchConfig base = load_arch("sm_100a");
  const ArchConfig arch = parse_arch(R"(base = "sm_100a"
inherited = "assumed"
name = "other"
tensor = "warp"
[chip]
sms = { value = 74, unit = "SM", provenance = "documented", source = "a data sheet" }
)",
                                     "other.toml");
  EXPECT_LT(arch.entries.size(), base.entries.size());
  EXPECT_EQ(arch.entries.front().provenance, Provenance::documented);
  EXPECT_EQ(arch.smem.bytes, base.smem.bytes);
  for (const ArchEntry& e : arch.entries) {
    EXPECT_FALSE(e.key.starts_with("umma.")) << e.key;
    if (e.key == "chip.sms") continue;
    EXPECT_EQ(e.provenance, Provenance::assumed) << e.key;
    EXPECT_EQ(e.source, "as sm_100a") << e.key;
    EXPECT_EQ(e.where, (SourcePos{"other.toml", 2, 13})) << e.key;
  }
}

TEST(ArchLoader, LoadsFilesWithBasesBesideThem) {
  const auto dir = std::filesystem::temp_directory_path() / "drywell-arch-test";
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "one.toml") << kVariant;
  std::ofstream(dir / "two.toml") << "base = \"one.toml\"\nname = \"two\"\n";
  std::ofstream(dir / "loop.toml") << "base = \"loop.toml\"\n";
  std::ofstream(dir / "lost.toml") << "base = \"absent.toml\"\n";
  EXPECT_EQ(load_arch(dir / "two.toml").chip.sms, 74u);
  EXPECT_EQ(load_arch(dir / "two.toml").name, "two");
  for (const char* bad : {"loop.toml", "lost.toml"}) {
    try {
      load_arch(dir / bad);
      ADD_FAILURE() << bad;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E2009);
    }
  }
  std::filesystem::remove_all(dir);
}

TEST(ArchLoader, RefusesUnknownArchitectures) {
  try {
    load_arch("sm_10a");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E2001);
    EXPECT_EQ(e.diagnostics().list()[0].hint, "did you mean 'sm_100a', 'sm_103a' or 'sm_120a'?");
  }
  EXPECT_THROW(load_arch("./absent.toml"), InputError);
}

TEST(ArchLoader, ReportsEverythingAtOnce) {
  const auto d = diagnostics_of(R"(base = "sm_100a"
colour = 3
[smem]
bank = { value = 32, unit = "bank", provenance = "documented", source = "a guide" }
banks = { value = 1000, unit = "bank", provenance = "documented", source = "a guide" }
bytes = { value = 1.5, unit = "B", provenance = "documented", source = "a guide" }
[wgmma]
queue = { value = 7, unit = "inst", provenance = "measured", source = "a probe" }
[l2]
latency = { value = 305, unit = "ns", provenance = "measured", source = "a probe" }
line = 128
sector = { value = 32, unit = "B", provenance = "rumoured", source = "a probe" }
far_latency = { value = 450, unit = "cyc", provenance = "measured" }
[class]
fma.pipe = { value = "fmaa", unit = "", provenance = "measured", source = "a probe" }
fmaa.pipe = { value = "fma", unit = "", provenance = "measured", source = "a probe" }
)");
  const auto has = [&](Code code, uint32_t line, std::string_view text, std::string_view hint) {
    return std::any_of(d.begin(), d.end(), [&](const Diagnostic& e) {
      return e.code == code && e.where.file == "x.toml" && e.where.line == line &&
             e.message.find(text) != std::string::npos && e.hint.find(hint) != std::string::npos;
    });
  };
  EXPECT_TRUE(has(Code::E2003, 2, "'colour'", ""));
  EXPECT_TRUE(has(Code::E2003, 4, "'smem.bank'", "did you mean 'smem.banks'?"));
  EXPECT_TRUE(has(Code::E2006, 5, "'smem.banks' = 1000 is outside 1 to 128", ""));
  EXPECT_TRUE(has(Code::E2005, 6, "'smem.bytes' must be of type integer", ""));
  EXPECT_TRUE(has(Code::E2003, 8, "'wgmma.queue'", "tensor = \"wgmma\""));
  EXPECT_TRUE(has(Code::E2008, 10, "unit 'ns'", "'cyc'"));
  EXPECT_TRUE(has(Code::E2005, 11, "'l2.line' is not a figure", "value"));
  EXPECT_TRUE(has(Code::E2007, 12, "unknown provenance 'rumoured'", "documented, measured"));
  EXPECT_TRUE(has(Code::E2007, 13, "'l2.far_latency' has no source", ""));
  EXPECT_TRUE(has(Code::E2006, 15, "unknown pipe 'fmaa'", "fma"));
  EXPECT_TRUE(has(Code::E2003, 16, "'class.fmaa.pipe'", "class.fma"));
  EXPECT_EQ(d.size(), 11u);
}

struct BadArch {
  const char* what;
  const char* toml;
  Code code;
};
class BadArchs : public testing::TestWithParam<BadArch> {};

TEST_P(BadArchs, AreRefusedWithTheirCode) {
  const auto d = diagnostics_of(GetParam().toml);
  ASSERT_FALSE(d.empty()) << GetParam().what;
  EXPECT_EQ(d.front().code, GetParam().code) << GetParam().what << ": " << d.front().message;
}

INSTANTIATE_TEST_SUITE_P(
    Arch, BadArchs,
    testing::Values(BadArch{"not TOML", "name = ", Code::E2002}, BadArch{"stray Unicode", "name\u00e9 = 1", Code::E2002}, BadArch{"empty", "", Code::E2010},
                    BadArch{"no figures",
                            "name = 'a'\ndescription = 'a'\ntarget = 'sm_90a'\ntensor = 'wgmma'", Code::E2004},
                    BadArch{"unknown target", "base = 'sm_90a'\ntarget = 'sm_91'", Code::E2010},
                    BadArch{"unknown tensor core", "base = 'sm_90a'\ntensor = 'abacus'", Code::E2010},
                    BadArch{"name is not text", "base = 'sm_90a'\nname = 3", Code::E2010},
                    BadArch{"unknown base", "base = 'sm_42'", Code::E2009},
                    BadArch{"base is not text", "base = 1", Code::E2009},
                    BadArch{"inherited as measured", "base = 'sm_100a'\ninherited = 'measured'", Code::E2007},
                    BadArch{"unknown part",
                            "base = 'sm_90a'\n[l1]\nline = { value = 128, unit = 'B', provenance = "
                            "'documented', source = 'a guide', note = '' }",
                            Code::E2003},
                    BadArch{"NaN",
                            "base = 'sm_90a'\n[chip]\nclock = { value = nan, unit = 'GHz', provenance = "
                            "'measured', source = 'a probe' }",
                            Code::E2006},
                    BadArch{"contradiction",
                            "base = 'sm_90a'\n[chip]\nclock = { value = 3, unit = 'GHz', provenance "
                            "= 'measured', source = 'a probe' }",
                            Code::E2011}));

}  // namespace
}  // namespace drywell::sim
