// CTAs that run one after the other on an SM: the cost of a CTA's end and the next one's start.
#include <fmt/format.h>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

// One more wave is one more CTA on every SM, with `together` CTAs at a time. A CTA works for `steps` dependent additions.
Microbench waves(unsigned threads, unsigned together, unsigned steps, bool fitted) {
  KernelText k;
  k.threads = threads;
  k.setup = "mov.u32 %r10, %r4;\n";
  k.loop = repeat(steps, "fma.rn.f32 %f0, %f0, %f0, %f0;\n");
  k.keep = "%f0";
  Microbench b;
  b.name = fmt::format("launch.wave.threads-{}.together-{}.work-{}", threads, together, steps);
  b.family = "launch";
  b.fitted = fitted;
  b.work = 1;
  b.text = kernel_text(k);
  b.launch.block.x = threads;
  b.launch.grid.x = 0;
  b.launch.dynamic_smem = (220 / together - 4) << 10;
  b.waves = true;
  b.few = 2 * together;
  b.many = 4 * together;
  return b;
}

}  // namespace

void add_launch(std::vector<Microbench>& out) {
  out.push_back(waves(128, 1, 64, true));
  out.push_back(waves(128, 1, 512, false));
  out.push_back(waves(1024, 1, 64, false));
  out.push_back(waves(128, 4, 64, true));
  out.push_back(waves(256, 8, 512, false));
}

}  // namespace drywell::kernels::microbench
