// Kernels of a shared object: every command that takes a kernel takes them (drywell/launch/kernel_library.h, docs/dsl.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "drywell/core/files.h"
#include "support/process.h"

namespace drywell {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

const std::string kLibrary = DSL_LIBRARY;

test::Finished small(Words words, const std::string& subject = kLibrary) {
  const auto at = std::find(words.begin(), words.end(), "GEMM");
  *at = subject;
  words.insert(words.end(), {"--m=128", "--k=128"});
  return test::drywell(words);
}

TEST(KernelLibrary, RunVerifiesAndChecks) {
  const test::Finished r = small({"run", "GEMM", "--verify", "--check"});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("16,384 values"));
  EXPECT_THAT(r.out, HasSubstr("128 x 128 x 128 bf16"));
  EXPECT_EQ(small({"run", "GEMM", "--driver=timed", "--verify"}, kLibrary + ":gemm").exit_code, 0);
}

TEST(KernelLibrary, ListPtxAndBuildTakeIt) {
  EXPECT_THAT(test::drywell({"list", kLibrary}).out, HasSubstr("--seed"));
  const test::Finished ptx = small({"ptx", "emit", "GEMM"});
  EXPECT_THAT(ptx.out, HasSubstr(".visible .entry gemm"));
  EXPECT_THAT(ptx.out, HasSubstr("gemm_kernel.h"));
}

TEST(KernelLibrary, StepShowsItsNamesAndLines) {
  const test::TemporaryDirectory d;
  write_file_atomically(d.file("script"), "step 20\ninfo registers\nlist\n");
  const test::Finished r = small({"step", "GEMM", "--script", d.file("script")});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("%k_tiles"));
  EXPECT_THAT(r.out, HasSubstr("gemm_kernel.h"));
}

TEST(KernelLibrary, ATraceIsRecordedAndRepeated) {
  const test::TemporaryDirectory d;
  const std::string library = d.file("libmine.so"), trace = d.file("a.trace");
  std::filesystem::copy_file(kLibrary, library);
  const test::Finished recorded = small({"trace", "record", "GEMM", "-o", trace}, library);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.out << recorded.err;
  EXPECT_THAT(read_text_file(trace), HasSubstr("libmine.so --m=128"));
  EXPECT_THAT(read_text_file(trace), testing::Not(HasSubstr(d.path()))) << "a golden trace has no absolute paths";
  const test::Finished checked = test::drywell({"trace", "check", trace});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

TEST(KernelLibrary, MutantsAreMade) {
  const test::Finished r = small({"mutate", "GEMM", "--list"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("tcgen05.commit"));
}

struct Refused {
  const char* name;
  std::string subject, message;
};
class KernelLibraryRefused : public testing::TestWithParam<Refused> {};
TEST_P(KernelLibraryRefused, SaysWhy) {
  const test::Finished r = test::drywell({"run", GetParam().subject});
  EXPECT_EQ(r.exit_code, 2) << r.out;
  EXPECT_THAT(r.err, HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(Each, KernelLibraryRefused,
                         testing::Values(Refused{"NotThere", "./nothing.so", "E4312"},
                                         Refused{"RegistersNothing", EMPTY_LIBRARY, "registers no kernels"},
                                         Refused{"OtherHeaders", OTHER_LIBRARY, "was built with the headers of another Drywell"},
                                         Refused{"NoSuchKernel", kLibrary + ":gem", "did you mean 'gemm'"}),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace drywell
