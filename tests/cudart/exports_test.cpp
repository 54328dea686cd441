// The stand-in has every name that the real libraries export: any program that links with them starts under the stand-in.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "support/process.h"

namespace drywell::test {
namespace {

/// Names of functions a library defines, by `nm`.
std::vector<std::string> exported(const std::string& library) {
  const Finished f = run_process("/usr/bin/nm", {"-D", "--defined-only", library});
  std::vector<std::string> names;
  std::istringstream in(f.out);
  for (std::string address, type, name; in >> address >> type >> name;) {
    if (type == "T" || type == "W") names.push_back(name.substr(0, name.find('@')));
  }
  return names;
}

class Exports : public testing::TestWithParam<const char*> {};

TEST_P(Exports, EveryNameIsThere) {
  const std::string library = GetParam();
  if (!std::filesystem::exists(library) || !std::filesystem::exists("/usr/bin/nm")) GTEST_SKIP() << "no " << library;
  size_t seen = 0;
  for (const std::string& name : exported(library)) {
    if (!name.starts_with("cu") && !name.starts_with("__cuda")) continue;
    ++seen;
    EXPECT_NE(::dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << name;
  }
  EXPECT_GT(seen, 300u);
}

INSTANTIATE_TEST_SUITE_P(Libraries, Exports, testing::Values("/usr/local/cuda/lib64/libcudart.so.13", "/usr/local/cuda/lib64/stubs/libcuda.so"));

}  // namespace
}  // namespace drywell::test
