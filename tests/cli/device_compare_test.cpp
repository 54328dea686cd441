// `drywell device compare` with surveys of machines that Drywell has figures for, and of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

test::Finished compare(const std::string& machine) {
  const test::TemporaryDirectory directory;
  const std::string file = directory.file("a.survey");
  write_file_atomically(file, "# drywell survey, format 1\n# device: " + machine + "\n");
  return test::drywell({"device", "compare", file});
}

TEST(DeviceCompare, TakesTheArchitectureOfTheCapability) {
  for (const char* machine : {"NVIDIA H200, compute capability 9.0, driver API 13.0", "NVIDIA B300, compute capability 10.3, driver API 13.0",
                              "NVIDIA GB10, compute capability 12.1, driver API 13.0", "simulated sm_100a"}) {
    const test::Finished f = compare(machine);
    EXPECT_EQ(f.exit_code, 0) << machine << f.err;
  }
}

TEST(DeviceCompare, AnUnreadableCapabilityIsAMistakeOfTheFile) {
  for (const char* machine : {"X, compute capability nine.0, driver", "X, compute capability 9, driver", "X, compute capability 99999999999999999999.0, d",
                              "X, compute capability .", "X, compute capability 7.5, driver", "nothing"}) {
    const test::Finished f = compare(machine);
    EXPECT_EQ(f.exit_code, 2) << machine << f.err;
    EXPECT_THAT(f.err, testing::HasSubstr("--arch")) << machine;
  }
}

}  // namespace
}  // namespace drywell
