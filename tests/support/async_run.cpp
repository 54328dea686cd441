#include "support/async_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "support/ptx_run.h"
#include "support/ptxas.h"

namespace drywell::test {
namespace {

constexpr std::string_view kRegisters =
    R"(
  .reg .b32 %r<32>;
  .reg .b64 %rd<32>;
  .reg .b16 %h<32>;
  .reg .pred %p<32>;
  .reg .b128 %q<8>;
  .reg .f32 %f<32>;
)";

std::string header(std::string_view target) {
  return fmt::format(R"(
.version 9.0
.target {}
.address_size 64
)",
                     target);
}

std::string one_instruction(std::string_view instruction, std::string_view target) {
  return header(target) + fmt::format(R"(
.visible .entry test(.param .align 128 .b8 map[128]) {{
{}  {};
  ret;
}}
)",
                                      kRegisters, instruction);
}

Diagnostics problems_of(const std::string& text) {
  isa::ParseResult r = isa::parse_ptx(text, "test.ptx");
  return r.diagnostics.has_errors() ? std::move(r.diagnostics) : isa::validate(r.module);
}

}  // namespace

std::string AsyncCase::text() const {
  std::string s =
      header(target) + ".extern .shared .align 1024 .b8 smem[];\n" + declarations + ".visible .entry test(";
  for (size_t i = 0; i < buffers.size(); ++i) s += fmt::format("{}.param .u64 b{}", i == 0 ? "" : ", ", i);
  for (size_t i = 0; i < maps.size(); ++i)
    s += fmt::format("{}.param .align 128 .b8 m{}[128]", buffers.empty() && i == 0 ? "" : ", ", i);
  s += fmt::format(R"(
) {} {{
{}  .shared .align 8 .b64 bar[8];
  .reg .b32 tid, rank, cta;
  .reg .pred first, leader;
)",
                   directives, kRegisters);
  for (size_t i = 0; i < buffers.size(); ++i)
    s += fmt::format(R"(
  .reg .b64 buf{0};
  ld.param.u64 buf{0}, [b{0}];
)",
                     i);
  for (size_t i = 0; i < maps.size(); ++i)
    s += fmt::format(R"(
  .reg .b64 map{0};
  mov.b64 map{0}, m{0};
  cvta.param.u64 map{0}, map{0};
)",
                     i);
  s += R"(
  mov.u32 tid, %tid.x;
  mov.u32 rank, %cluster_ctarank;
  mov.u32 cta, %ctaid.x;
  setp.eq.u32 first, tid, 0;
  or.b32 %r0, tid, rank;
  setp.eq.u32 leader, %r0, 0;
)";
  return s + body + R"(
  ret;
}
)";
}

AsyncRun run_async(const AsyncCase& c, sim::DriverKind driver, uint64_t seed) {
  return run_async(c, {.driver = driver, .seed = seed, .threads = 2, .max_instructions = 4'000'000});
}

AsyncRun run_async(const AsyncCase& c, const sim::RunOptions& options) {
  sim::Device device({.arch = machine_for(c.target)});
  const sim::LoadedModule module = device.load(parse_or_throw(c.text()));
  sim::Args args;
  std::vector<GmemAddr> at;
  for (const Bytes& b : c.buffers) {
    at.push_back(device.allocate(b.size()));
    device.write(at.back(), b.data(), b.size());
    args.add(at.back());
  }
  for (const AsyncCase::Map& m : c.maps) {
    isa::TensorMapFields f = m.fields;
    f.address += at.at(m.buffer).value();
    args.add(isa::encode(f));
  }
  AsyncRun run;
  run.result =
      device.launch(module, "test",
                    {.grid = {c.ctas, 1, 1},
                     .block = {c.threads, 1, 1},
                     .cluster = {c.cluster, 1, 1},
                     .dynamic_smem = c.dynamic_smem},
                    args, options);
  for (size_t i = 0; i < at.size(); ++i) {
    run.buffers.emplace_back(c.buffers[i].size());
    device.read(run.buffers.back().data(), at[i], run.buffers.back().size());
  }
  return run;
}

namespace {
struct Policy {
  sim::DriverKind driver;
  uint64_t seed;
};
constexpr Policy kPolicies[] = {{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::shuffled, 2}, {sim::DriverKind::shuffled, 3}, {sim::DriverKind::timed, 0}};
}  // namespace

std::vector<Bytes> run_everywhere(const AsyncCase& c) {
  std::vector<Bytes> memory;
  for (const auto& [driver, seed] : kPolicies) {
    AsyncRun run = run_async(c, driver, seed);
    EXPECT_TRUE(run.result.ok()) << sim::driver_name(driver) << " " << seed << ": "
                                 << run.result.fault->to_string();
    if (!run.result.ok()) return run.buffers;
    if (memory.empty()) memory = run.buffers;
    EXPECT_EQ(run.buffers, memory) << "memory differs under " << sim::driver_name(driver) << " " << seed;
  }
  return memory;
}

void expect_fault(const AsyncCase& c, Code code) {
  for (const auto& [driver, seed] : kPolicies) {
    const AsyncRun run = run_async(c, driver, seed);
    if (run.result.ok()) {
      ADD_FAILURE() << "no fault under " << sim::driver_name(driver) << ", " << code << " expected";
    } else {
      EXPECT_EQ(run.result.fault->code, code)
          << sim::driver_name(driver) << ": " << run.result.fault->to_string();
    }
  }
}

std::string wait_for(std::string_view address, uint32_t parity) {
  return fmt::format(R"(
  {{ .reg .pred done;
  AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, {}, {};
  @!done bra AGAIN; }}
)",
                     address, parity);
}
std::string cluster_sync() {
  return R"(
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";
}

void expect_illegal(std::string_view instruction, Code code, std::string_view target) {
  const std::string text = one_instruction(instruction, target);
  const Diagnostics found = problems_of(text);
  ASSERT_TRUE(found.has_errors()) << instruction << " is taken";
  EXPECT_EQ(found.list()[0].code, code) << instruction << ": " << found.to_string();
  if (const auto judged = run_ptxas(text, std::string(target)); judged.has_value()) {
    EXPECT_FALSE(judged->accepted) << "ptxas takes " << instruction;
  }
}

void expect_legal(std::string_view instruction, std::string_view target) {
  const std::string text = one_instruction(instruction, target);
  const Diagnostics found = problems_of(text);
  EXPECT_FALSE(found.has_errors()) << instruction << ": " << found.to_string();
  if (const auto judged = run_ptxas(text, std::string(target)); judged.has_value()) {
    EXPECT_TRUE(judged->accepted) << instruction << ": " << judged->output;
  }
}

}  // namespace drywell::test
