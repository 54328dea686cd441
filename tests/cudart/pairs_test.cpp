// Wrong and right CUDA kernels (programs/pairs.cu): the wrong one is reported at its line, the right one is silent under every driver.
#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "compiled_program.h"
#include "drywell/core/files.h"

namespace drywell::test {
namespace {

/// The line, from 1, that ends with "here NAME".
size_t line_of(const std::string& name) {
  std::istringstream lines(read_text_file(source_path("tests/cudart/programs/pairs.cu")));
  size_t n = 0;
  for (std::string line; std::getline(lines, line);) {
    ++n;
    if (line.ends_with("here " + name)) return n;
  }
  return 0;
}

class CudaPairs : public CompiledProgram {
 protected:
  void expect_found(const std::string& path, const std::string& name, const std::string& code) {
    const Finished f = exec({"--check"}, path, {name, "wrong"});
    const std::string text = f.err + f.out;
    EXPECT_NE(text.find(code), std::string::npos) << name << text;
    EXPECT_NE(text.find(fmt::format("pairs.cu:{}", line_of(name))), std::string::npos) << name << text;
  }
  void expect_silence(const std::string& path, const std::string& name) {
    for (const char* driver : {"eager", "lazy", "shuffled:3", "timed"}) {
      const Finished f = exec({"--check", std::string("--driver=") + driver}, path, {name, "right"});
      EXPECT_EQ(f.exit_code, 0) << name << " " << driver << f.err;
      EXPECT_FALSE(std::regex_search(f.err, std::regex(" H7[0-9]{3}"))) << name << " " << driver << f.err;
    }
  }
};

TEST_F(CudaPairs, WrongOnesAreReportedAndTheirTwinsAreSilent) {
  const std::string path = program("pairs", {"-arch=sm_100a", "-lineinfo"});
  std::istringstream list(exec({}, path).out);
  int count = 0;
  for (std::string name, code; list >> name >> code; ++count) {
    expect_found(path, name, code);
    expect_silence(path, name);
  }
  EXPECT_EQ(count, 14);
}

}  // namespace
}  // namespace drywell::test
