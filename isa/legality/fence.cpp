#include "isa/legality/legality.h"

namespace drywell::isa::legality {

// A release covers the executing CTA's shared memory, an acquire the cluster's (PTX ISA 9.7.13.4).
void sync_restrict(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::acquire) != i.has(Mod::sync_restrict_shared_cluster))
    out.error(Code::E1344, ".acquire goes with ::shared::cluster, .release with ::shared::cta");
}

}  // namespace drywell::isa::legality
