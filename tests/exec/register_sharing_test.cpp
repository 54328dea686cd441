// Registers that share storage in a launch without listeners (sim/exec/register_sharing.h).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "drywell/isa/parse.h"
#include "drywell/sim/device.h"
#include "sim/events/hub.h"
#include "sim/exec/register_sharing.h"

namespace drywell::sim {
namespace {

std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %a, %b, %c, %d, %i;\n.reg .b64 %x, %y;\n.reg .pred %q;\n" + body + "ret;\n}\n";
}

class Layout {
 public:
  explicit Layout(const std::string& body) : module_(isa::parse_ptx_or_throw(kernel(body), "test.ptx")) {
    code_.function = &module_.functions[0];
    share_registers(code_);
  }
  uint32_t bytes() const { return code_.frame_bytes; }
  bool share(const std::string& a, const std::string& b) const { return at(a) == at(b); }

 private:
  uint32_t at(const std::string& name) const {
    const auto& regs = code_.function->regs;
    for (size_t r = 0; r < regs.size(); ++r) {
      if (regs[r].name == name) return code_.reg_offset[r];
    }
    ADD_FAILURE() << name;
    return ~0u;
  }
  isa::Module module_;
  FunctionCode code_;
};

TEST(RegisterSharing, OneAfterTheOther) {
  const Layout l("mov.u32 %a, %tid.x;\nadd.u32 %b, %a, 1;\nadd.u32 %c, %b, 1;\nadd.u32 %d, %c, 1;\nst.shared.u32 [%d], %d;\n");
  EXPECT_FALSE(l.share("%a", "%b"));  // an instruction's result never shares the place of its operand
  EXPECT_TRUE(l.share("%a", "%c"));
  EXPECT_TRUE(l.share("%b", "%d"));
  EXPECT_EQ(l.bytes(), 2 * register_bytes(32));
}

TEST(RegisterSharing, NotAcrossALoop) {
  // %a is read in every iteration, %c only in the iteration that writes it.
  const Layout l(
      "mov.u32 %a, %tid.x;\nmov.u32 %i, 0;\nL:\nadd.u32 %b, %a, %i;\nst.shared.u32 [%b], %b;\nmov.u32 %c, 3;\nst.shared.u32 [0], %c;\n"
      "add.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 4;\n@%q bra L;\nmov.u32 %d, 1;\nst.shared.u32 [0], %d;\n");
  EXPECT_FALSE(l.share("%a", "%b"));
  EXPECT_FALSE(l.share("%a", "%c"));
  EXPECT_FALSE(l.share("%i", "%c"));
  EXPECT_TRUE(l.share("%b", "%c"));
}

TEST(RegisterSharing, NotWithWhatAGuardedWriteLeaves) {
  const Layout l("mov.u32 %a, %tid.x;\nsetp.lt.u32 %q, %a, 4;\nmov.u32 %b, 1;\n@%q mov.u32 %b, 2;\nmov.u32 %c, 5;\nst.shared.u32 [%c], %b;\n");
  EXPECT_FALSE(l.share("%b", "%c"));
}

TEST(RegisterSharing, NotOfDifferentSizes) {
  const Layout l("mov.u32 %a, %tid.x;\nst.shared.u32 [0], %a;\ncvt.u64.u32 %x, 7;\nst.shared.u64 [0], %x;\n");
  EXPECT_FALSE(l.share("%a", "%x"));
}

TEST(RegisterSharing, NotIfReadBeforeWritten) {
  const Layout l("st.shared.u32 [0], %a;\nmov.u32 %b, 1;\nst.shared.u32 [0], %b;\n");
  EXPECT_FALSE(l.share("%a", "%b"));
}

TEST(RegisterSharing, NotIfWrittenLater) {
  // The load writes %a when it completes, although %a is not read.
  const Layout l(
      "mov.u32 %c, 0;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%a}, [%c];\nmov.u32 %b, 1;\nst.shared.u32 [0], %b;\ntcgen05.wait::ld.sync.aligned;\n"
      "mov.u32 %d, 2;\nst.shared.u32 [0], %d;\n");
  EXPECT_FALSE(l.share("%a", "%b"));
  EXPECT_TRUE(l.share("%b", "%d") || l.share("%a", "%d"));
}

TEST(RegisterSharing, NotIfWrittenInTheNextIteration) {
  // The wait for the load of %a, which is not read, is above it.
  const Layout l(
      "mov.u32 %i, 0;\nL:\nmov.u32 %b, 1;\ntcgen05.wait::ld.sync.aligned;\nst.shared.u32 [0], %b;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%a}, [0];\n"
      "add.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 4;\n@%q bra L;\n");
  EXPECT_FALSE(l.share("%a", "%b"));
}

struct Ignores : Listener {};

// Lanes execute a loop a different number of times and join again; with a listener every register has its own place.
TEST(RegisterSharing, SameResultsWatched) {
  const std::string text = kernel(
      "ld.param.u64 %x, [p];\nmov.u32 %a, %tid.x;\nmul.wide.u32 %y, %a, 4;\nadd.u64 %x, %x, %y;\nmov.u32 %b, 0;\nmov.u32 %i, 0;\n"
      "L:\nmul.lo.u32 %c, %i, %i;\nadd.u32 %b, %b, %c;\nadd.u32 %i, %i, 1;\nsetp.le.u32 %q, %i, %a;\n@%q bra L;\n"
      "and.b32 %d, %a, 1;\nsetp.eq.u32 %q, %d, 0;\n@%q bra E;\nadd.u32 %c, %b, 1000;\nmov.u32 %b, %c;\nE:\nst.global.u32 [%x], %b;\n");
  std::map<bool, std::vector<uint32_t>> got;
  for (const bool watched : {false, true}) {
    Device d;
    const GmemAddr out = d.allocate(32 * sizeof(uint32_t));
    Ignores listener;
    RunOptions options;
    if (watched) options.listeners.push_back(&listener);
    ASSERT_TRUE(d.launch(d.load_ptx(text), "k", {.grid = {1}, .block = {32}}, Args().add(out), options).ok());
    got[watched].resize(32);
    d.read(got[watched].data(), out, 32 * sizeof(uint32_t));
  }
  EXPECT_EQ(got[false], got[true]);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got[false][lane], lane * (lane + 1) * (2 * lane + 1) / 6 + (lane % 2 != 0 ? 1000 : 0)) << lane;
}

}  // namespace
}  // namespace drywell::sim
