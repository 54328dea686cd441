// Series of measurements past kernels that take the GPU from the process, with a machine that does so.
#include "launch/cuda_driver/series.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

#include "conformance/survey/survey.h"
#include "launch/cuda_driver/cuda_device.h"

namespace drywell::kernels {
namespace {

// Items 0 to 9; those of `losing` lose the machine of their process, for good.
Stretch measure(size_t first, const std::string& losing) {
  static bool lost = false;
  if (lost) throw std::logic_error("the machine was lost in this process");
  Stretch out;
  for (size_t i = first; i < 10 && !lost; ++i) {
    out.text += std::to_string(i);
    lost = losing.find(std::to_string(i)) != std::string::npos;
    out.reached = i + 1;
  }
  out.lost = lost;
  return out;
}

TEST(Series, GoesOnBehindItemsThatLoseTheMachine) {
  const auto texts = [](const std::string& losing) { return run_series([&](size_t first) { return measure(first, losing); }); };
  EXPECT_EQ(texts(""), (std::vector<std::string>{"0123456789"}));
  EXPECT_EQ(texts("27"), (std::vector<std::string>{"012", "34567", "89"}));
  EXPECT_EQ(texts("09"), (std::vector<std::string>{"0", "123456789", ""}));
}

TEST(Series, ErrorsOfAChildAreErrorsOfTheSeries) {
  try {
    run_series([](size_t) -> Stretch { throw Unavailable(Code::E4503, "no such GPU", "buy one"); });
    FAIL();
  } catch (const Unavailable& e) {
    EXPECT_EQ(e.code(), Code::E4503);
    EXPECT_STREQ(e.what(), "error E4503: no such GPU\n    hint: buy one");
  }
  try {
    run_series([](size_t) -> Stretch { throw InputError(Code::E4506, "not a record"); });
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4506);
    EXPECT_STREQ(e.what(), InputError(Code::E4506, "not a record").what());
  }
}

TEST(Series, AChildThatDiesIsAnError) {
  try {
    run_series([](size_t) -> Stretch {
      std::signal(SIGTERM, SIG_DFL);
      std::raise(SIGTERM);
      return {};
    });
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4505);
    EXPECT_NE(std::string(e.what()).find("signal 15"), std::string::npos) << e.what();
  }
}

TEST(Capability, EachMachineWithFiguresIsKnown) {
  EXPECT_EQ(arch_of_capability(9, 0), "sm_90a");
  EXPECT_EQ(arch_of_capability(10, 0), "sm_100a");
  EXPECT_EQ(arch_of_capability(10, 3), "sm_103a");
  EXPECT_EQ(arch_of_capability(12, 0), "sm_120a");
  EXPECT_EQ(arch_of_capability(12, 1), "sm_121a");
  EXPECT_EQ(arch_of_capability(8, 0), "");
}

// A GPU on which the second launch fails and which is lost then.
class Failing : public SimulatedDevice {
 public:
  Failing() : SimulatedDevice({.arch = "sm_90a"}) {}
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) override {
    sim::RunResult r = SimulatedDevice::launch(kernel, config, args, options);
    if (++launches_ == 2) {
      lost_ = true;
      r.fault.emplace().code = kLaunchFailedOnGpu;
    }
    return r;
  }
  bool lost() const override { return lost_; }

 private:
  unsigned launches_ = 0;
  bool lost_ = false;
};

TEST(Series, ASurveyKeepsTheResultsBeforeALostMachine) {
  const auto make = [](size_t first) {
    survey::Survey found;
    size_t seen = 0;
    bool lost = false;
    try {
      survey::Subject subject([] { return std::make_unique<Failing>(); });
      survey::survey_programs(
          subject, [&](const std::string& name) { return seen++ >= first && name.starts_with("add."); }, found.programs);
    } catch (const survey::MachineLost&) {
      lost = true;
    }
    return Stretch{survey::print_survey(found), seen, lost};
  };
  survey::Survey all;
  for (const std::string& text : run_series(make)) survey::append(all, survey::parse_survey(text, "test"));
  ASSERT_GE(all.programs.size(), 3u);
  for (size_t i = 0; i < all.programs.size(); ++i) EXPECT_EQ(all.programs[i].verdict, i % 2 == 0 ? "passed" : "failed") << all.programs[i].program;
}

}  // namespace
}  // namespace drywell::kernels
