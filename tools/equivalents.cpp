#include "tools/equivalents.h"

#include <string_view>

namespace drywell::tools {
namespace {

struct Class {
  std::string_view what, instruction, reason;  // prefixes
};

// Each class is about an instruction that orders other operations; if there is nothing left to order, its removal
// changes nothing.
constexpr Class kClasses[] = {
    {"groups -", "cp.async", "it waits for more groups than before, those it waited for among them"},
    {"groups -", "wgmma.wait_group", "it waits for more groups than before, those it waited for among them"},
    {".read", "cp.async.bulk.wait_group", "no thread of the launch uses the destination again (H7404 reports such uses), and the end of the launch completes the store"},
    {"without", "cp.async.bulk.wait_group", "what it waits for is known otherwise, or nobody needs it: sources that are written again or end with their CTA (H7003, H7006, H7007) and destinations that are used (H7404) are reported"},
    {"groups + 1", "cp.async.bulk.wait_group", "what it waits for is known otherwise, or nobody needs it: sources that are written again or end with their CTA (H7003, H7006, H7007) and destinations that are used (H7404) are reported"},
    {"scope .cta", "", "the threads that the instruction orders are of one CTA: every wider scope orders the same (H7403 reports data that crosses)"},
    {"without", "fence.mbarrier_init",
     "the barrier behind it orders the initialisation before every use in the CTA, and no other CTA uses the mbarriers before a cluster barrier"},
    {"without", "tcgen05.fence", "the tcgen05 operations on its far side are complete by a wait, or there are none: complete operations need no order"},
    {"without", "tcgen05.wait::ld", "the registers' own dependency delays the instructions that use them, and a later wait::ld of the warp covers the load before its columns are released"},
    {"without", "bar.warp.sync", "convergence only: no lane uses a value that another lane of its warp wrote, or data that it waited for, since their last synchronisation"},
};

}  // namespace

std::string equivalence(const Mutant& m, bool no_news) {
  if (no_news) return "whenever it is executed, its warp knows from an earlier wait that the phase is complete: the answer is no news, and false leads to the wait behind it";
  for (const Class& c : kClasses) {
    if (m.what.starts_with(c.what) && m.original.starts_with(c.instruction)) return std::string(c.reason);
  }
  return {};
}

}  // namespace drywell::tools
