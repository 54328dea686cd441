#include "conformance/programs/program_run.h"

#include <string>

namespace drywell::kernels::conformance {

ProgramRun run_program(const Program& p, Accelerator& device, const sim::RunOptions& options) {
  std::vector<GmemAddr> at;
  sim::Args args;
  for (const ProgramBuffer& b : p.buffers) {
    at.push_back(device.allocate(b.initial.size(), "buffer " + std::to_string(at.size())));
    device.write(at.back(), b.initial.data(), b.initial.size());
    args.add(at.back());
  }
  for (const ProgramMap& m : p.maps) {
    isa::TensorMapFields f = m.fields;
    f.address = at[m.buffer].value() + m.offset;
    args.add(device.encode(f));
  }
  device.load(p.module);
  ProgramRun out;
  out.result = device.launch(p.kernel().name, p.launch, args, options);
  if (!out.result.ok()) return out;
  for (size_t k = 0; k < at.size(); ++k) {
    out.buffers.emplace_back(p.buffers[k].initial.size());
    device.read(out.buffers.back().data(), at[k], out.buffers.back().size());
    device.release(at[k]);
  }
  return out;
}

}  // namespace drywell::kernels::conformance
