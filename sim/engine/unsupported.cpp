// Payloads whose rows are marked unsupported never reach an engine.
#include "sim/engine/engine.h"

namespace drywell::sim {

EngineResult read(Cluster&, AsyncOp&, RemoteStore&) { return GuestError{"U5000", "unsupported: st.async"}; }
EngineResult write(Cluster&, AsyncOp&, RemoteStore&) { return std::nullopt; }
EngineResult read(Cluster&, AsyncOp&, TryCancel&) { return GuestError{"U5000", "unsupported: clusterlaunchcontrol"}; }
EngineResult write(Cluster&, AsyncOp&, TryCancel&) { return std::nullopt; }

}  // namespace drywell::sim
