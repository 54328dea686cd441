// The producer and consumer stages of a kernel as its mbarriers show them: who fills a stage, who waits for it, who frees it.
//
// A barrier's part is known by who arrives on it and who waits for it in a run of the launch. Barriers of the same part at regular
// distances are the stages of a ring; two rings of as many stages, each waited for by who fills the other, are a pipeline.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/debug/code_map.h"
#include "sim/debug/session.h"

namespace drywell::sim {

/// Barriers of one part, by stage.
struct Ring {
  std::vector<uint32_t> offsets;          // in shared memory
  std::vector<std::string> fillers, waiters;  // roles or warps, with how and where: "dma, TMA load at kernel.cpp:196"
  std::vector<std::string> filled_by, waited_by;  // the roles alone
};

struct Pipeline {
  Ring full;
  Ring empty;               // no offsets: nobody tells that a stage is free
  uint64_t free_first = 0;  // phases `empty` had completed when `full` completed its first: stages marked free beforehand
};

/// Runs the launch from its beginning to its end, or until it has seen `most` steps or is interrupted, and leaves the session where
/// it was.
std::vector<Pipeline> find_pipelines(Session& s, const CodeMap& code, uint64_t most, const std::function<bool()>& interrupted);

/// "full", "free", "being filled (1024 bytes missing)", … of one stage in a CTA.
std::string describe_stage_of(const Pipeline& p, size_t stage, Cta& cta);

}  // namespace drywell::sim
