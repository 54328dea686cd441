// Explanation of the first difference in a diff: the instruction that issued an operation, the cause of an mbarrier event, and
// the words that changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/sim/trace.h"
#include "sim/trace/trace_reader.h"

namespace drywell::sim {
namespace {

using testing::HasSubstr;

/// One warp arrives on a barrier, then starts a copy that completes `bytes` on it.
std::string trace(const char* bytes, const char* shape = "dst=0x800") {
  const std::string copy = "cta=0.0.0 w=0 q=tma:0 ", barrier = "cta=0.0.0 mbar=0x400 ";
  return "# trace 1\n# profile arch\n# kernel k grid=1.1.1 block=32.1.1 cluster=1.1.1\n"
         "# code 3 k.cu:7 cp.async.bulk [%r1];\n# code 4 k.cu:9 mbarrier.arrive [%r2];\n" +
         barrier + "M arrive 1 phase=0 pending=0 tx=8\n" +
         "cta=0.0.0 w=0 n=0 I mbarrier.arrive pc=4\n" +
         copy + "B bulk_copy src=0x10 " + shape + "\n" +
         "cta=0.0.0 w=0 n=1 I cp.async.bulk pc=3 q=tma:0\n" +
         copy + "A read\n" + copy + "A write\n" +
         barrier + "M complete_tx " + bytes + " phase=0 pending=0 tx=0\n" + copy + "E\n";
}

TEST(TraceExplain, NamesTheOperationBehindABarrierEvent) {
  const TraceDiff d = diff_traces(trace("8"), trace("4"), {"old", "new", 0});
  EXPECT_THAT(d.message, HasSubstr("by cta=0.0.0 w=0 q=tma:0, issued by cp.async.bulk [%r1]; at k.cu:7"));
  EXPECT_THAT(d.message, HasSubstr("that is: 8 became 4"));
  EXPECT_THAT(d.message, HasSubstr("before it, both: M arrive 1 phase=0 pending=0 tx=8\n      by mbarrier.arrive [%r2]; at k.cu:9"));
}

TEST(TraceExplain, NamesTheInstructionBehindAnOperation) {
  const TraceDiff d = diff_traces(trace("8"), trace("8", "dst=0x900"), {"old", "new", 0});
  EXPECT_THAT(d.message, HasSubstr("issued by cp.async.bulk [%r1]; at k.cu:7"));
  EXPECT_THAT(d.message, HasSubstr("that is: dst=0x800 became dst=0x900"));
}

TEST(TraceReader, FindsFields) {
  EXPECT_EQ(field_of("M arrive 1 phase=3 tx=8", "phase"), "3");
  EXPECT_EQ(field_of("M arrive 1 phase=3 tx=8", "pha"), "");
  EXPECT_EQ(field_of("I mov pc=", "pc"), "");
  std::string_view rest = "  a  b";
  EXPECT_EQ(next_token(rest), "a");
  EXPECT_EQ(next_token(rest), "b");
  EXPECT_EQ(next_token(rest), "");
}

}  // namespace
}  // namespace drywell::sim
