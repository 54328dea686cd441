// y = 2 * x, a row of 256 floats for each CTA: a bulk copy brings the row to shared memory and an mbarrier says when it is complete.
#include <cstdio>
#include <vector>

#include "drywell/isa/builder.h"
#include "drywell/isa/print.h"
#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

using namespace drywell;
using namespace drywell::isa;

namespace {

constexpr uint32_t kRows = 16, kColumns = 256, kRowBytes = 4 * kColumns;

Module build_scale_rows() {
  KernelBuilder k("scale_rows");
  const Symbol row = k.shared("row", kRowBytes, 128), full = k.shared("full", 8, 8);
  const Reg x = k.load_param(k.param(Mod::u64, "x"), Mod::u64), y = k.load_param(k.param(Mod::u64, "y"), Mod::u64);
  const Reg thread = k.def("mov.u32", SpecialReg::tid_x), cta = k.def("mov.u32", SpecialReg::ctaid_x);
  const Reg from = k.def("mad.wide.u32", cta, kRowBytes, x), to = k.def("mad.wide.u32", cta, kRowBytes, y);
  const Reg buffer = k.def("mov.u32", row), barrier = k.def("mov.u32", full);

  const Reg first = k.reg(Mod::pred);
  k("setp.eq.u32", first, thread, 0);
  k.if_(first, [&] {
    k("mbarrier.init.shared::cta.b64", mem(barrier), 1);
    k("fence.mbarrier_init.release.cluster");
    k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(barrier), kRowBytes);
    k("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", mem(buffer), mem(from), kRowBytes, mem(barrier));
  });
  k("bar.sync", 0);  // the barrier is initialised for all
  k.while_([&] {
    const Reg waits = k.reg(Mod::pred), complete = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", complete, mem(barrier), 0);
    k("not.pred", waits, complete);
    return waits; }, [] {});

  const Reg at = k.def("add.u32", buffer, k.def("shl.b32", thread, 2));
  const Reg value = k.def("ld.shared.f32", mem(at));
  const Reg twice = k.def("add.rn.f32", value, value);
  k("st.global.f32", mem(k.def("mad.wide.u32", thread, 4, to)), twice);
  k("ret");
  return k.finish();
}

}  // namespace

int main() {
  sim::Device device;
  std::vector<float> x(kRows * kColumns), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 4;
  const uint64_t bytes = 4 * x.size();
  const GmemAddr dx = device.allocate(bytes, "x"), dy = device.allocate(bytes, "y");
  device.write(dx, x.data(), bytes);

  const Module module = build_scale_rows();
  std::printf("%s\n", print_module(module).c_str());  // PTX that ptxas assembles
  const sim::LoadedModule loaded = device.load(module);
  sim::HazardChecker checker;
  sim::RunOptions options{.driver = sim::DriverKind::timed};
  options.listeners.push_back(checker.listener());
  const sim::RunResult r = device.launch(loaded, "scale_rows", {.grid = {kRows}, .block = {kColumns}}, sim::Args().add(dx).add(dy), options);
  if (!r.ok()) {
    std::printf("%s\n", r.fault->to_string().c_str());
    return 1;
  }
  device.read(y.data(), dy, bytes);
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) wrong += y[i] != 2 * x[i];
  for (const sim::Finding& f : checker.findings()) std::printf("%s\n", f.to_string().c_str());
  std::printf("%zu values, %zu wrong, %zu hazards, %llu cycles\n", y.size(), wrong, checker.findings().size(), static_cast<unsigned long long>(r.cycles));
  return wrong == 0 && checker.findings().empty() ? 0 : 1;
}
