#include "support/kernel_run.h"

#include <gtest/gtest.h>

#include <cctype>
#include <sstream>

#include "drywell/isa/print.h"
#include "support/ptxas.h"

namespace drywell::test {

KernelWords::KernelWords(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  in >> word;
  kernel = &kernels::find_kernel(word);
  std::vector<std::pair<std::string, std::string>> given;
  while (in >> word) {
    const size_t equals = word.find('=');
    given.emplace_back(word.substr(2, equals - 2), equals == std::string::npos ? "" : word.substr(equals + 1));
  }
  params = kernels::Params(kernel->name, kernel->parameters, given);
}

kernels::KernelReport run_kernel(const std::string& text, const KernelRunOptions& o) {
  const KernelWords w(text);
  kernels::RunContext c;
  c.params = w.params;
  c.arch = o.arch;
  c.options.driver = o.driver;
  c.options.seed = o.seed;
  c.options.listeners = o.listeners;
  c.verify = o.verify;
  c.keep_outputs = true;
  return w.kernel->run(c);
}

void expect_verified_under_every_driver(const std::string& text, const std::string& arch, bool timed) {
  const kernels::KernelReport eager = run_kernel(text, {.verify = true, .arch = arch});
  ASSERT_TRUE(eager.run.ok()) << eager.run.fault->to_string();
  EXPECT_TRUE(eager.verify.passed()) << eager.verify.mismatches << " mismatches, " << eager.verify.first_mismatch;
  std::vector<std::pair<sim::DriverKind, uint64_t>> others = {{sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::shuffled, 2}};
  if (timed) others.emplace_back(sim::DriverKind::timed, 0);
  for (const auto& [driver, seed] : others) {
    const kernels::KernelReport other = run_kernel(text, {.driver = driver, .seed = seed, .arch = arch});
    ASSERT_TRUE(other.run.ok()) << other.run.fault->to_string();
    ASSERT_EQ(other.outputs.size(), eager.outputs.size());
    for (size_t i = 0; i < eager.outputs.size(); ++i) {
      EXPECT_TRUE(other.outputs[i].second.data == eager.outputs[i].second.data)
          << eager.outputs[i].first << " under " << sim::driver_name(driver) << " " << seed;
    }
  }
}

void expect_assembles(const std::string& text, const std::string& arch) {
  const KernelWords w(text);
  const auto verdict = run_ptxas(isa::print_module(w.kernel->build(w.params, sim::load_arch(arch))), arch);
  if (!verdict) GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  EXPECT_TRUE(verdict->accepted) << verdict->output;
}

std::string words_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    if (c == ' ') name += '_';
  }
  return name;
}

}  // namespace drywell::test
