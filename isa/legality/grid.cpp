#include "isa/legality/legality.h"

namespace drywell::isa::legality {

void try_cancel(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::multicast_cluster_all) && !has_feature(i.module.target, Feature::narrow))
    out.error(Code::E1210, ".multicast::cluster::all needs the sm_100 family");
}

}  // namespace drywell::isa::legality
