#include "support/tensor_run.h"

#include <gtest/gtest.h>

#include "support/ptx_run.h"

namespace drywell::test {

using kernels::conformance::kTensorThreads;

sim::RunResult run_tensor(const TensorProgram& program, std::vector<TensorImage>& images,
                          sim::DriverKind driver, uint64_t seed) {
  const auto ctas = static_cast<uint32_t>(images.size());
  const size_t smem_bytes = (images[0].smem.size() + 15) / 16 * 16, tmem_bytes = 4 * images[0].tmem.size();
  const size_t in_bytes = size_t{4} * kTensorThreads * program.in,
               out_bytes = size_t{4} * kTensorThreads * program.out;
  sim::Device device({.arch = machine_for(std::string(isa::target_name(program.target)))});
  const auto allocate = [&](size_t bytes) { return device.allocate(std::max<size_t>(bytes * ctas, 16)); };
  const auto of = [](GmemAddr base, size_t bytes, uint32_t i) { return GmemAddr(base.value() + i * bytes); };
  const GmemAddr smem_in = allocate(smem_bytes), tmem_in = allocate(tmem_bytes),
                 tmem_out = allocate(tmem_bytes), in = allocate(in_bytes), out = allocate(out_bytes);
  for (uint32_t i = 0; i < ctas; ++i) {
    TensorImage& image = images[i];
    image.smem.resize(smem_bytes);
    image.registers_in.resize(size_t{kTensorThreads} * program.in);
    image.registers_out.resize(size_t{kTensorThreads} * program.out);
    if (smem_bytes != 0) device.write(of(smem_in, smem_bytes, i), image.smem.data(), smem_bytes);
    if (in_bytes != 0) device.write(of(in, in_bytes, i), image.registers_in.data(), in_bytes);
    device.write(of(tmem_in, tmem_bytes, i), image.tmem.data(), tmem_bytes);
  }
  const sim::LoadedModule m =
      device.load(kernels::conformance::tensor_kernel(program, static_cast<uint32_t>(smem_bytes)));
  const sim::LaunchConfig launch{.grid = {ctas},
                                 .block = {kTensorThreads},
                                 .cluster = {ctas},
                                 .dynamic_smem = static_cast<uint32_t>(smem_bytes)};
  const sim::RunResult r =
      device.launch(m, "tensor", launch, sim::Args().add(smem_in).add(tmem_in).add(tmem_out).add(in).add(out),
                    {.driver = driver, .seed = seed});
  for (uint32_t i = 0; i < ctas && r.ok(); ++i) {
    device.read(images[i].tmem.data(), of(tmem_out, tmem_bytes, i), tmem_bytes);
    if (out_bytes != 0) device.read(images[i].registers_out.data(), of(out, out_bytes, i), out_bytes);
  }
  return r;
}

namespace {

// Tells the first few differences; returns how many there are.
size_t differences(const TensorImage& before, const TensorImage& expected, const TensorImage& got,
                   const std::string& where) {
  size_t wrong = 0;
  for (unsigned column = 0; column < kernels::conformance::kTmemColumns; ++column) {
    for (unsigned lane = 0; lane < kernels::conformance::kTmemLanes; ++lane) {
      const uint32_t want = expected.cell(lane, column), have = got.cell(lane, column);
      if (want == have || ++wrong > 4) continue;
      ADD_FAILURE() << where << " lane " << lane << " column " << column << std::hex << ": " << have
                    << ", expected " << want << ", before " << before.cell(lane, column);
    }
  }
  for (size_t i = 0; i < expected.registers_out.size(); ++i) {
    const uint32_t want = expected.registers_out[i], have = got.registers_out[i];
    if (want == have || ++wrong > 4) continue;
    ADD_FAILURE() << where << " register " << i / kTensorThreads << " of thread " << i % kTensorThreads
                  << std::hex << ": " << have << ", expected " << want;
  }
  return wrong;
}

}  // namespace

void expect_tensor(const TensorProgram& program, const std::vector<TensorImage>& images,
                   const std::vector<TensorImage>& expected, std::span<const sim::DriverKind> drivers) {
  for (const sim::DriverKind driver : drivers) {
    std::vector<TensorImage> got = images;
    const sim::RunResult r = run_tensor(program, got, driver);
    ASSERT_TRUE(r.ok()) << sim::driver_name(driver) << ": " << r.fault->to_string();
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      wrong += differences(images[i], expected[i], got[i],
                           std::string(sim::driver_name(driver)) + ": CTA " + std::to_string(i));
    }
    ASSERT_EQ(wrong, 0u) << sim::driver_name(driver);
  }
}

void expect_tensor_fault(const TensorProgram& program, const std::vector<TensorImage>& images,
                         Code code) {
  std::vector<TensorImage> got = images;
  const sim::RunResult r = run_tensor(program, got, sim::DriverKind::eager);
  ASSERT_FALSE(r.ok()) << "no fault, " << code << " expected";
  EXPECT_EQ(r.fault->code, code) << r.fault->to_string();
}

}  // namespace drywell::test
