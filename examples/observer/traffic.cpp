// What a kernel moves, counted by an observer of one's own: bytes that warps load and store, and bytes of bulk copies.
//
//   cmake -S examples/observer -B build/observer -DCMAKE_PREFIX_PATH=<where Drywell is installed> && cmake --build build/observer
//   build/observer/traffic
#include <bit>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <drywell/isa/builder.h>
#include <drywell/sim/device.h>
#include <drywell/sim/observer.h>

using namespace drywell;
using namespace drywell::sim;

namespace {

constexpr uint32_t kThreads = 64, kBytes = 8 * kThreads;  // a row of 64 words

/// Each CTA copies its row to shared memory, doubles it and stores it.
isa::Module doubled() {
  using namespace isa;
  KernelBuilder k("doubled");
  const Symbol x = k.param(Mod::u64, "x"), y = k.param(Mod::u64, "y");
  const Symbol row = k.shared("row", kBytes, 16), bar = k.shared("bar", 8, 8);
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), cta = k.def("mov.u32", SpecialReg::ctaid_x), first = k.reg(Mod::pred);
  const Reg skipped = k.def("mul.wide.u32", cta, kBytes), own = k.def("mul.wide.u32", tid, 8);
  const Reg from = k.def("add.u64", k.load_param(x, Mod::u64), skipped), to = k.def("add.u64", k.load_param(y, Mod::u64), skipped);
  k("setp.eq.u32", first, tid, 0);
  k.if_(first, [&] {
    k("mbarrier.init.shared::cta.b64", mem(bar), 1);
    k("fence.mbarrier_init.release.cluster");
  });
  k("bar.sync", 0);
  k.if_(first, [&] {
    k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(bar), kBytes);
    k("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", mem(row), mem(from), kBytes, mem(bar));
  });
  k.do_while([&] {
    const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
    k("not.pred", again, done);
    return again;
  });
  const Reg base = k.def("mov.u32", row), place = k.def("add.u32", base, k.def("shl.b32", tid, 3));
  const Reg value = k.def("ld.shared.u64", mem(place));
  const Reg twice = k.def("add.u64", value, value);
  k("st.global.u64", mem(k.def("add.u64", to, own)), twice);
  return k.finish();
}

class Traffic : public Observer {
 public:
  ObserverWants wants() const override { return {.instructions = false, .waits = false}; }
  void memory(const MemoryEvent& e) override {
    if (e.space == Space::global || e.space == Space::shared_cta) by_line_[e.at.text] += e.bytes * static_cast<uint64_t>(std::popcount(e.lanes));
  }
  void async(const AsyncEvent& e) override {
    for (const Span& s : e.writes) by_line_[e.at.text] += s.bytes;
  }
  void print() const {
    for (const auto& [line, bytes] : by_line_) std::printf("%6llu B  %s\n", static_cast<unsigned long long>(bytes), line.c_str());
  }

 private:
  std::map<std::string, uint64_t> by_line_;
};

}  // namespace

int main() {
  constexpr uint32_t kRows = 3;
  std::vector<uint64_t> host(kRows * kThreads);
  std::iota(host.begin(), host.end(), uint64_t{0});
  Device device;
  const GmemAddr x = device.allocate(kRows * kBytes, "x"), y = device.allocate(kRows * kBytes, "y");
  device.write(x, host.data(), kRows * kBytes);
  Traffic traffic;
  RunOptions options;
  options.observers = {&traffic};
  const RunResult r = device.launch(device.load(doubled()), "doubled", {.grid = {kRows}, .block = {kThreads}}, Args().add(x).add(y), options);
  if (!r.ok()) return std::fprintf(stderr, "%s\n", r.fault->to_string().c_str()), 1;
  traffic.print();
  return 0;
}
