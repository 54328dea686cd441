// The options of `drywell exec` in their environment variable.
#include "cudart/options.h"

#include <gtest/gtest.h>

#include "drywell/core/error.h"

namespace drywell::cudart {
namespace {

TEST(ExecOptions, PassThroughUnchanged) {
  ExecOptions o;
  o.kernel = "a\nsummary=1\\n\\w+\\";
  o.dump = "/tmp/dumps";
  o.trace = "/tmp/line\nfeed\\";
  o.limits = {.instructions = 1, .cycles = 2, .timeout = "3m", .memory = "4G"};
  o.driver = "timed";
  o.caches = "warm";
  const ExecOptions back = from_environment(to_environment(o));
  EXPECT_EQ(back.kernel, o.kernel);
  EXPECT_EQ(back.trace, o.trace);
  EXPECT_EQ(back.dump, o.dump);
  EXPECT_FALSE(back.summary) << "a line feed in a value begins no option";
  EXPECT_EQ(back.limits.instructions, 1u);
  EXPECT_EQ(back.limits.cycles, 2u);
  EXPECT_EQ(back.limits.timeout, "3m");
  EXPECT_EQ(back.limits.memory, "4G");
  EXPECT_EQ(run_options(back).caches, sim::Caches::warm);
  EXPECT_EQ(run_options({}).caches, sim::Caches::carry);
  EXPECT_THROW(run_options(from_environment("caches=hot")), InputError);
}

TEST(ExecOptions, SomeKernelsAreTimed) {
  ExecOptions o;
  o.time = "gemm.*";
  o.clock = "sustained";
  o.values = false;
  o.limits.cycles = 7;
  const ExecOptions back = from_environment(to_environment(o));
  EXPECT_TRUE(time_filter(back)->finds("gemm_bf16"));
  EXPECT_FALSE(time_filter(back)->finds("fill"));
  const sim::RunOptions r = run_options(back);
  EXPECT_EQ(r.driver, sim::DriverKind::eager) << "of the other kernels";
  EXPECT_TRUE(r.values) << "of the other kernels";
  EXPECT_EQ(r.max_cycles, 7u);
  EXPECT_EQ(r.clock.kind, sim::ClockChoice::Kind::sustained);
  EXPECT_FALSE(time_filter({}).has_value());
}

TEST(ExecOptions, OfTimeExcludeEachOther) {
  EXPECT_THROW(run_options(from_environment("driver=timed\ntime=gemm")), InputError);
  EXPECT_THROW(run_options(from_environment("no-values=1")), InputError);
  EXPECT_THROW(time_filter(from_environment("time=(")), InputError);
  EXPECT_THROW(run_options(from_environment("clock=fast")), InputError);
  EXPECT_FALSE(run_options(from_environment("driver=timed\nno-values=1")).values);
}

TEST(ExecOptions, CheckHasTheLevelsOfRun) {
  EXPECT_FALSE(check_level({}).has_value());
  EXPECT_FALSE(check_level(from_environment("check=off")).has_value());
  EXPECT_EQ(check_level(from_environment("check=basic")), sim::CheckLevel::basic);
  EXPECT_EQ(check_level(from_environment("check=full")), sim::CheckLevel::full);
  EXPECT_THROW(run_options(from_environment("check=most")), InputError);
  ExecOptions o;
  o.check = "basic";
  EXPECT_EQ(from_environment(to_environment(o)).check, "basic");
}

TEST(ExecOptions, WrittenByHandKeepTheirBackslashes) {
  EXPECT_EQ(from_environment("kernel=gemm\\w+\\d").kernel, "gemm\\w+\\d");
}

TEST(ExecOptions, AreTheBoundsOfEveryLaunch) {
  const ExecOptions o =
      from_environment("driver=timed\nmax-instructions=5\nmax-cycles=6\ntimeout=100\nmemory=1G\n");
  const sim::RunOptions r = run_options(o);
  EXPECT_EQ(r.max_instructions, 5u);
  EXPECT_EQ(r.max_cycles, 6u);
  EXPECT_EQ(r.max_memory, uint64_t{1} << 30);
  EXPECT_TRUE(r.deadline.has_value());
  EXPECT_THROW(run_options(from_environment("max-cycles=6")), InputError)
      << "the default driver has no clock";
  EXPECT_THROW(run_options(from_environment("timeout=soon")), InputError);
}

}  // namespace
}  // namespace drywell::cudart
