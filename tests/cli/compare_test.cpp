// `drywell compare`: two reports of runs. Expected differences are taken from the two reports themselves by
// the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "drywell/core/files.h"
#include "support/mistake.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using Json = nlohmann::json;
using test::Finished;
using test::Mistake;
using testing::HasSubstr;
using testing::Not;

/// Reports of a GEMM with few and with many stages.
class Reports {
 public:
  Reports() {
    run("2", before());
    run("6", after());
  }
  std::string before() const { return directory_.file("before.json"); }
  std::string after() const { return directory_.file("after.json"); }
  std::string file(const std::string& name) const { return directory_.file(name); }

 private:
  void run(const std::string& stages, const std::string& report) const {
    const Finished f = test::drywell({"run", "gemm-bf16", "--m=128", "--n=128", "--k=512",
                                      "--stages=" + stages, "--driver=timed", "--json=" + report});
    EXPECT_EQ(f.exit_code, 0) << f.err;
  }
  test::TemporaryDirectory directory_;
};

const Reports& reports() {
  static const Reports r;
  return r;
}
Json report(const std::string& file) { return Json::parse(read_text_file(file)); }

TEST(Compare, SaysWhatChangedByUnitStallAndLine) {
  const Json before = report(reports().before()), after = report(reports().after());
  ASSERT_LT(after["cycles"].get<double>(), before["cycles"].get<double>())
      << "more stages hide more of the loads";
  const Finished f = test::drywell({"compare", reports().before(), reports().after(), "--json=-"});
  ASSERT_EQ(f.exit_code, 0) << f.err;
  const Json c = Json::parse(f.out)["launches"][0];
  EXPECT_EQ(c["cycles"]["before"], before["cycles"]);
  EXPECT_EQ(c["cycles"]["after"], after["cycles"]);
  EXPECT_NEAR(c["slower"].get<double>(), after["cycles"].get<double>() / before["cycles"].get<double>() - 1,
              1e-9);
  for (const Json& u : c["units"]) {
    EXPECT_EQ(u["before"], before["units"][u["name"].get<std::string>()]["utilisation"]);
    EXPECT_EQ(u["after"], after["units"][u["name"].get<std::string>()]["utilisation"]);
  }
  const auto change = [](const Json& j) {
    return std::abs(j["after"].get<double>() - j["before"].get<double>());
  };
  for (const char* table : {"units", "stalls", "lines"}) {
    ASSERT_GT(c[table].size(), 3u) << table;
    for (size_t i = 1; i < c[table].size(); ++i)
      EXPECT_GE(change(c[table][i - 1]), change(c[table][i])) << table;
  }
}

TEST(Compare, TextIsWords) {
  const std::string out = test::drywell({"compare", reports().before(), reports().after(), "--most=2"}).out;
  for (const char* part :
       {"% fewer", "binding limit: ", "units: part of the time", "stalls: cycles of the warps",
        "lines: cycles of the warps", " points", "smaller ones (--most)"})
    EXPECT_THAT(out, HasSubstr(part));
}

TEST(Compare, ThresholdHasAnExitCode) {
  EXPECT_EQ(test::drywell({"compare", reports().before(), reports().after(), "--threshold=0"}).exit_code, 0)
      << "faster is no regression";
  const Finished worse = test::drywell({"compare", reports().after(), reports().before(), "--threshold=1"});
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_THAT(worse.out, HasSubstr("more than 1 % slower"));
  EXPECT_EQ(test::drywell({"compare", reports().after(), reports().before(), "--threshold=1000"}).exit_code,
            0);
  EXPECT_EQ(test::drywell({"compare", reports().after(), reports().before()}).exit_code, 0)
      << "without a threshold nothing is an error";
}

TEST(Compare, AFaultIsWorse) {
  Json faulted = report(reports().after());
  faulted["fault"] = {{"code", "F3001"}};
  write_file_atomically(reports().file("faulted.json"), std::string_view(faulted.dump()));
  const Finished f =
      test::drywell({"compare", reports().after(), reports().file("faulted.json"), "--threshold=50"});
  EXPECT_EQ(f.exit_code, 1);
  EXPECT_THAT(f.out, HasSubstr("a fault, a hazard or a failed verification is new"));
}

TEST(Compare, PageNeedsNothingButItself) {
  const std::string file = reports().file("compared.html");
  ASSERT_EQ(test::drywell({"compare", reports().before(), reports().after(), "--html=" + file}).exit_code, 0);
  const std::string page = read_text_file(file);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  for (const char* part :
       {"gemm-bf16: before and after", "prefers-color-scheme:dark", "% fewer", "mma.cpp:", "tensor"})
    EXPECT_THAT(page, HasSubstr(part));
  for (const char* outside : {"http", "src=", "<script", "url("}) EXPECT_THAT(page, Not(HasSubstr(outside)));
}

// The form of `drywell exec --report=FILE.json`: launches are partners in their order among those of one
// name.
TEST(Compare, LaunchesHavePartnersByNameAndOrder) {
  const auto write = [&](const char* name, const char* text) {
    write_file_atomically(reports().file(name), std::string_view(text));
  };
  write(
      "x.json",
      R"({"arch": "sm_100a", "driver": "timed", "launches": [{"kernel": "a", "cycles": 100}, {"kernel": "b", "cycles": 50}, {"kernel": "a", "cycles": 30}]})");
  write(
      "y.json",
      R"({"arch": "sm_100a", "driver": "timed", "launches": [{"kernel": "a", "cycles": 110}, {"kernel": "c", "cycles": 5}, {"kernel": "a", "cycles": 15}]})");
  const Finished f = test::drywell(
      {"compare", reports().file("x.json"), reports().file("y.json"), "--json=-", "--threshold=9"});
  EXPECT_EQ(f.exit_code, 1);
  const Json c = Json::parse(f.out);
  ASSERT_EQ(c["launches"].size(), 2u);
  EXPECT_EQ(c["launches"][0]["cycles"], Json({{"before", 100.0}, {"after", 110.0}}));
  EXPECT_EQ(c["launches"][1]["cycles"], Json({{"before", 30.0}, {"after", 15.0}}));
  EXPECT_THAT(c["notes"].dump(), HasSubstr("launch 1, c, is only in the run after"));
  EXPECT_THAT(c["notes"].dump(), HasSubstr("launch 1, b, is only in the run before"));
}

// What is no report, and where it is not: the file, the launch, the part; with a hint.
TEST(Compare, NamesThePartThatIsWrong) {
  const std::string deep(1'000'000, '[');
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {R"({"launches":[1,2,"x"]})", "launch 0: is no object"},
           {R"({"launches":[{"kernel":"a"},{}]})", "launch 1: it has neither 'entry' nor 'kernel'"},
           {R"({"launches":{}})", "'launches' is no array"},
           {R"({"kernel":"a","lines":[{"file":3}]})", "'file' is no text"},
           {R"({"kernel":"a","lines":[7]})", "a line is no object"},
           {R"({"kernel":"a","cycles":1e300})", "'cycles' is no number from 0 to 2^53"},
           {R"({"kernel":"a","cycles":-1})", "'cycles' is no number from 0 to 2^53"},
           {R"({"kernel":"a","cycles":"many"})", "'cycles' is no number from 0 to 2^53"},
           {R"({"kernel":"a","units":{"tensor":1}})", "a unit is no object"},
           {R"({"kernel":"a","utilisation":{"tensor":"x"}})", "a unit's utilisation is no number"},
           {R"({"kernel":"a","stalls":{"load":[1]}})", "a role of 'stalls' is no object"},
           {R"({"kernel":"a","limits":[1]})", "a limit is no object"},
           {R"({"kernel":"a","hazards":7})", "'hazards' is no array"},
           {R"({"kernel":"a","verify":[]})", "'verify' is no object"},
           {"[]", "it is no JSON object"},
           {deep, "it is no JSON object"},
           {"{}", "it has neither 'kernel' nor 'launches'"}}) {
    write_file_atomically(reports().file("wrong.json"), std::string_view(text));
    const Finished f = test::drywell({"compare", reports().file("wrong.json"), reports().after()});
    EXPECT_EQ(f.exit_code, 3) << f.err;
    EXPECT_THAT(f.err, HasSubstr("is no report of a run: " + message)) << text.substr(0, 80);
    EXPECT_THAT(f.err, HasSubstr("hint: drywell run"));
  }
}

// A line without a file or a number, and a role that never stalls, are of reports as they are written.
TEST(Compare, AnAbsentPartIsZero) {
  write_file_atomically(reports().file("sparse.json"), std::string_view(R"({"kernel":"a","cycles":null,"lines":[{}],"stalls":{"load":null}})"));
  EXPECT_EQ(test::drywell({"compare", reports().file("sparse.json"), reports().file("sparse.json")}).exit_code, 0);
}

// Partners of many launches are found without looking at each pair.
TEST(Compare, ReportsMayHaveManyLaunches) {
  std::string text = R"({"launches":[{"kernel":"a"})";
  for (int i = 0; i < 100'000; ++i) text += R"(,{"kernel":"a"})";
  write_file_atomically(reports().file("many.json"), std::string_view(text + "]}"));
  const Finished f = test::drywell({"compare", reports().file("many.json"), reports().file("many.json"), "--json=-"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(Json::parse(f.out)["launches"].size(), 100'001u);
}

class CompareMistake : public testing::TestWithParam<Mistake> {};
TEST_P(CompareMistake, GetsOneMessageAndItsExitCode) { test::expect_one_message(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Each, CompareMistake,
    testing::Values(
        Mistake{"NoFile", {"compare", "/nonexistent.json", "/nonexistent.json"}, 3, "/nonexistent.json"},
        Mistake{"NoReport", {"compare", test::source_path("README.md"), "/dev/null"}, 3, "is no report of a run"},
        Mistake{"OneReport", {"compare", "/dev/null"}, 2, "AFTER"},
        Mistake{"OverItsInput",
                {"compare", "/etc/hostname", "/dev/null", "--html=/etc/hostname"},
                2,
                "/etc/hostname"},
        Mistake{"ThresholdOfNothing", {"compare", "/dev/null", "/dev/null", "--threshold=nan"}, 2, "--threshold"},
        Mistake{"Threshold", {"compare", "/dev/null", "/dev/null", "--threshold=-1"}, 2, "--threshold"}),
    [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace drywell
