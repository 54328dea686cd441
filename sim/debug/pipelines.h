// The producer and consumer stages of a kernel as its mbarriers show them: the warps that fill, await and free a stage.
//
// A run of the launch shows which roles arrive on a barrier and which wait for it. Barriers with the same roles at regular
// distances are the stages of a ring. Two rings with equal numbers of stages are a pipeline if a role that fills one ring waits
// for the other, in both directions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/debug/code_map.h"
#include "sim/debug/session.h"

namespace drywell::sim {

/// Barriers with the same roles, by stage.
struct Ring {
  std::vector<uint32_t> offsets;                  // in shared memory
  std::vector<std::string> fillers, waiters;      // roles or warps with instruction and line: "dma, TMA load at kernel.cpp:196"
  std::vector<std::string> filled_by, waited_by;  // roles or warps only
};

struct Pipeline {
  Ring full;
  Ring empty;               // no offsets: no barrier signals that a stage is free
  uint64_t free_first = 0;  // phases `empty` had completed when `full` completed its first: stages marked free at the start
};

/// Runs the launch from its beginning to its end, at most `most` steps, or until `interrupted` returns true. The session keeps
/// its position.
std::vector<Pipeline> find_pipelines(Session& s, const CodeMap& code, uint64_t most, const std::function<bool()>& interrupted);

/// "full", "free", "being filled (1024 bytes missing)", … of one stage in a CTA.
std::string describe_stage_of(const Pipeline& p, size_t stage, Cta& cta);

}  // namespace drywell::sim
