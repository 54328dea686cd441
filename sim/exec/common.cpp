#include <fmt/format.h>

#include "sim/exec/exec.h"
#include "sim/state/payload/unsupported.h"

namespace drywell::sim {

Effect fault(Warp& w, Code code, std::string message) {
  w.fault_code = code;
  w.fault_message = std::move(message);
  return Effect::fault;
}

Effect block(Warp& w, BlockReason reason, uint32_t address, uint32_t parity, uint64_t detail) {
  w.block = {reason, address, parity, detail, w.cta->wake_epoch};
  return Effect::blocked;
}

Effect exec_unsupported(Warp& w, const DecodedOp& op, LaneMask) {
  return fault(w, Code::U5000, "unsupported instruction: " + w.cta->cluster->launch->program->unsupported[op.as<payload::Unsupported>().reason]);
}

}  // namespace drywell::sim
