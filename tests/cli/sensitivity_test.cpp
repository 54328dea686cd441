// drywell arch --sensitivity: the effect that it prints is that of a machine with the figure changed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

const std::vector<std::string> kKernel = {"tma-copy", "--rows=64", "--columns=128"};

double seconds_on(const std::string& arch) {
  std::vector<std::string> words = {"run", "--driver=timed", "--json=-", "--arch=" + arch};
  words.insert(words.end(), kKernel.begin(), kKernel.end());
  const test::Finished f = test::drywell(words);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  return nlohmann::json::parse(f.out).at("seconds");
}

test::Finished sensitivity(std::vector<std::string> subject) {
  std::vector<std::string> words = {"arch", "sm_100a", "--sensitivity"};
  words.insert(words.end(), subject.begin(), subject.end());
  return test::drywell(words);
}

TEST(Sensitivity, IsTheTimeWithTheFigureChanged) {
  const test::Finished f = sensitivity(kKernel);
  ASSERT_EQ(f.exit_code, 0) << f.err;
  const double predicted = seconds_on("sm_100a");
  std::smatch head, row;
  ASSERT_TRUE(std::regex_search(f.out, head, std::regex("predicted ([0-9.]+) us, ([0-9.]+) to ([0-9.]+) us")))
      << f.out;
  EXPECT_NEAR(std::stod(head[1]), predicted * 1e6, 0.01);
  EXPECT_LT(std::stod(head[2]), std::stod(head[1]));
  EXPECT_GT(std::stod(head[3]), std::stod(head[1]));

  ASSERT_TRUE(std::regex_search(
      f.out, row,
      std::regex("\n  (\\w+)\\.([a-z0-9_.]+) +([0-9.]+) (assumed|derived) +\\S+ %? *([-+]?[0-9.]+) %\n")))
      << f.out;
  const std::string section = row[1], name = row[2], more = row[5];
  const double value = std::stod(row[3]) * (row[4] == "assumed" ? 1.25 : 1.10);
  const std::string table = test::drywell({"arch", "sm_100a"}).out;
  std::smatch unit;
  ASSERT_TRUE(std::regex_search(
      table, unit, std::regex(fmt::format("{}\\.{} +[0-9.]+ (\\S*) +{}", section, name, row[4].str()))))
      << row[0];
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("changed.toml");
  write_file_atomically(path,
                        fmt::format("base = \"sm_100a\"\nname = \"changed\"\n[{}]\n{} = {{ value = {}, unit "
                                    "= \"{}\", provenance = \"assumed\", source = \"this test\" }}\n",
                                    section, name, value, unit.str(1)));
  EXPECT_NEAR(100 * (seconds_on(path) / predicted - 1), std::stod(more), 0.06) << section << "." << name;
}

TEST(Sensitivity, IsOfAMachineAndALaunch) {
  EXPECT_EQ(test::drywell({"arch", "--sensitivity", "tma-copy"}).exit_code, 2);
  EXPECT_EQ(sensitivity({"no-such-kernel"}).exit_code, 2);
  EXPECT_EQ(sensitivity({"tma-copy", "--rows=0"}).exit_code, 2);
  EXPECT_EQ(sensitivity({"tma-copy", "--rows", "64"}).exit_code, 2) << "64 is an architecture's place";
  EXPECT_EQ(test::drywell({"arch", "sm_100a", "--surplus"}).exit_code, 2);
}

}  // namespace
}  // namespace drywell
