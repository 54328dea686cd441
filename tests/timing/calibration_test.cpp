// The timed model of sm_90a compared with an H200: every microbenchmark of the committed record (docs/lab/calibration.md).
#include "conformance/microbench/whole.h"

#include <gtest/gtest.h>

#include "drywell/core/files.h"
#include "tests/support/paths.h"

namespace drywell::kernels::microbench {
namespace {

std::string slowest(const std::vector<Comparison>& all) {
  std::string out;
  for (const Comparison& c : all) {
    if (c.error() > 0.15) out += c.name + "  ";
  }
  return out;
}

// Issue 5: the median error is at most 5 % over the fitted half and 10 % over the other half.
TEST(Calibration, MediansOfTheH200Hold) {
  const std::string file = test::source_path("traces/hw/h200-2026-11-22-microbench.txt");
  const Record r = parse_record(read_text_file(file), file);
  SimulatedDevice simulator({.arch = "sm_90a"});
  const std::vector<Comparison> all = compare(r, suite(), simulator);
  ASSERT_GE(all.size(), 180u);
  EXPECT_EQ(all.size(), r.values.size()) << "the record has microbenchmarks that the suite lacks";
  EXPECT_LE(median_error(all, true), 0.05) << "far off: " << slowest(all);
  EXPECT_LE(median_error(all, false), 0.10) << "far off: " << slowest(all);
}

// At most 15 % for the whole kernels, 18 % for the large quantizer: what it stores takes places in both halves of the model's L2 (docs/lab/calibration.md).
// tma-copy.full needs a gigabyte: only `drywell bench-hw` runs it.
TEST(Calibration, WholeKernelsOfTheH200Hold) {
  const std::string file = test::source_path("traces/hw/h200-2026-11-22-microbench.txt");
  const Record r = parse_record(read_text_file(file), file);
  std::vector<WholeKernel> held;
  for (WholeKernel& w : whole_kernels()) {
    EXPECT_TRUE(r.kernels.contains(w.name)) << w.name;
    if (w.name != "kernel.tma-copy.full") held.push_back(std::move(w));
  }
  const std::vector<WholeComparison> all = compare(r, held, "sm_90a");
  ASSERT_EQ(all.size(), 5u);
  for (const WholeComparison& c : all) EXPECT_LE(c.error(), c.name == "kernel.quantize-fp8.full" ? 0.18 : 0.15) << c.name << ": " << c.simulated.cycles << " of " << c.measured.cycles << " cycles";
}

TEST(Stopwatch, StampsEveryReturnAndKeepsTheRest) {
  const std::string text =
      ".visible .entry k(\n\t.param .u64 p\n)\n{\n\t.reg .b32 %r<2>;\n\tmov.u32 %r0, 1;\n\tret;\n\tmov.u32 %r1, 2;\n\tret;\n}\n";
  const std::string out = stamped(text, "k");
  size_t stamps = 0;
  for (size_t at = out.find("%globaltimer"); at != std::string::npos; at = out.find("%globaltimer", at + 1)) ++stamps;
  EXPECT_EQ(stamps, 3u);
  EXPECT_NE(out.find("\t.param .u64 p,\n\t.param .u64 stamps\n)"), std::string::npos);
  EXPECT_LT(out.find("%globaltimer"), out.find("mov.u32 %r0, 1"));
}

TEST(Stopwatch, RefusesWhatItCannotTime) {
  const std::string head = ".visible .entry k(\n\t.param .u64 p\n)\n{\n\t.reg .pred %p<1>;\n";
  EXPECT_THROW(stamped(head + "\t@%p0 ret;\n\tret;\n}\n", "k"), InputError);
  EXPECT_THROW(stamped(head + "\texit;\n}\n", "k"), InputError);
  EXPECT_THROW(stamped(head + "\tret;\n}\n", "other"), InputError);
}

TEST(Record, KeepsWholeKernels) {
  Record r;
  r.kernels["kernel.x"] = {1234, 2345};
  const Record again = parse_record(print_record(r), "r");
  ASSERT_EQ(again.kernels.size(), 1u);
  EXPECT_EQ(again.kernels.at("kernel.x").nanoseconds, 1234);
  EXPECT_NEAR(again.kernels.at("kernel.x").gigahertz(), 1.9, 0.01);
  EXPECT_THROW(parse_record("# drywell microbenchmark record, format 1\nkernel.x 5 ns\n", "r"), InputError);
}

TEST(Calibration, EveryMicrobenchmarkIsInTheRecord) {
  const std::string file = test::source_path("traces/hw/h200-2026-11-22-microbench.txt");
  const Record r = parse_record(read_text_file(file), file);
  for (const Microbench& b : suite()) EXPECT_EQ(r.values.contains(b.name), made_for(b, isa::Target::sm_90a)) << b.name;
}

TEST(Record, PrintsAndParses) {
  Record r;
  r.provenance = {"device: none"};
  r.values = {{"latency.mad.lo", 4.125}};
  const Record again = parse_record(print_record(r), "r");
  EXPECT_EQ(again.provenance, r.provenance);
  EXPECT_EQ(again.values, r.values);
}

TEST(Record, RefusesWhatIsNone) {
  for (const char* text : {"", "hello\n", "# drywell microbenchmark record, format 1\nname\n", "# drywell microbenchmark record, format 1\nname 0 cyc fit\n",
                           "# drywell microbenchmark record, format 1\nname inf cyc fit\n"}) {
    EXPECT_THROW(parse_record(text, "r"), InputError) << text;
  }
}

}  // namespace
}  // namespace drywell::kernels::microbench
