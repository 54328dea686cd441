// The CTAs of an SM share its 512 columns of tensor memory: tcgen05.alloc waits until another CTA frees enough (PTX ISA 9.7.16.7).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "drywell/sim/device.h"
#include "support/ptx_run.h"

namespace drywell::sim {
namespace {

struct Span {
  uint64_t from = 0, to = 0;  // cycles at which a CTA has its columns
  uint64_t column = 0;
};

/// Every CTA allocates `columns`, keeps them for a few thousand cycles and frees them.
std::vector<Span> run(uint32_t columns, uint32_t ctas, uint32_t group, uint32_t sms, uint32_t threads = 1) {
  const std::string text = fmt::format(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n.reg .b32 %r<4>; .reg .b64 %d<6>;\n.shared .align 4 .b8 slot[4];\n"
      "tcgen05.alloc.cta_group::{0}.sync.aligned.shared::cta.b32 [slot], {1};\nmov.u64 %d1, %clock64;\nld.shared.b32 %r1, [slot];\nnanosleep.u32 3000;\nmov.u64 %d2, %clock64;\n"
      "tcgen05.dealloc.cta_group::{0}.sync.aligned.b32 %r1, {1};\nmov.u32 %r2, %ctaid.x;\nld.param.u64 %d3, [out];\nmad.wide.u32 %d3, %r2, 24, %d3;\ncvt.u64.u32 %d4, %r1;\n"
      "st.global.u64 [%d3], %d1;\nst.global.u64 [%d3+8], %d2;\nst.global.u64 [%d3+16], %d4;\nret;\n}}\n",
      group, columns);
  Device d({.sm_count = sms});
  const GmemAddr out = d.allocate(24 * ctas);
  RunOptions options;
  options.driver = DriverKind::timed;
  options.threads = threads;
  const RunResult r = d.launch(d.load(test::parse_or_throw(text)), "k", {.grid = {ctas}, .block = {32}, .cluster = {group}}, Args().add(out), options);
  EXPECT_TRUE(r.ok()) << r.fault->to_string();
  std::vector<Span> spans(ctas);
  d.read(spans.data(), out, 24 * ctas);
  return spans;
}

/// Maximum number of CTAs that have columns at the same time.
uint32_t most_at_once(const std::vector<Span>& spans) {
  uint32_t most = 0;
  for (const Span& a : spans) {
    most = std::max(most, static_cast<uint32_t>(std::count_if(spans.begin(), spans.end(), [&](const Span& b) { return b.from <= a.from && a.from < b.to; })));
  }
  return most;
}

TEST(TensorMemoryOfAnSm, IsSharedByItsCtas) {
  EXPECT_EQ(most_at_once(run(512, 5, 1, 1)), 1u);
  EXPECT_EQ(most_at_once(run(256, 5, 1, 1)), 2u);
  EXPECT_EQ(most_at_once(run(128, 7, 1, 1)), 4u);
  const std::vector<Span> quarter = run(128, 4, 1, 1);
  std::vector<uint64_t> columns;
  for (const Span& s : quarter) columns.push_back(s.column);
  std::sort(columns.begin(), columns.end());
  EXPECT_EQ(columns, (std::vector<uint64_t>{0, 128, 256, 384}));
}

TEST(TensorMemoryOfAnSm, IsSharedByItsPairs) {
  EXPECT_EQ(most_at_once(run(512, 6, 2, 2)), 2u);  // the two CTAs of a pair
  EXPECT_EQ(most_at_once(run(256, 8, 2, 2)), 4u);
}

TEST(TensorMemoryOfAnSm, WaitsDoNotDependOnHostThreads) {
  const std::vector<Span> one = run(512, 24, 1, 8), four = run(512, 24, 1, 8, 4);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].from, four[i].from) << "CTA " << i;
    EXPECT_EQ(one[i].to, four[i].to) << "CTA " << i;
  }
}

}  // namespace
}  // namespace drywell::sim
