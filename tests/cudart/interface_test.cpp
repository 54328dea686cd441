// The interface through NVIDIA's own headers, family by family: each program of tests/cudart/programs compares the effect of
// the calls with CUDA's documentation.
#include "compiled_program.h"

namespace drywell::test {
namespace {

class Interface : public CompiledProgram, public testing::WithParamInterface<const char*> {};

TEST_P(Interface, DoesWhatCudaDocuments) {
  for (const char* driver : {"eager", "timed"}) {
    const Finished f = exec({std::string("--driver=") + driver}, program(GetParam(), {"-L/usr/local/cuda/lib64/stubs", "-lcuda"}));
    EXPECT_EQ(f.exit_code, 0) << driver << "\n"
                              << f.out << f.err;
    EXPECT_NE(f.out.find("Passed"), std::string::npos) << driver << "\n"
                                                       << f.out << f.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Interface, testing::Values("copies", "driver", "errors", "launches"));

}  // namespace
}  // namespace drywell::test
