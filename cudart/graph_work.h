// The work of a graph's nodes from the parameters that the program passes, and graphs as text.
#pragma once

#include <span>
#include <string>

#include "cudart/context.h"

namespace drywell::cudart {

Work kernel_work(Context& c, const KernelNodeParams* p, std::vector<LaunchAttribute> attributes = {});
Work set_work(Context& c, const MemsetParams* p);
Work host_work(const HostNodeParams* p);
Work child_work(Context& c, void* graph);
Work record_work(Context& c, void* event);
Work wait_work(Context& c, void* event);
/// Allocates at once: the address of a graph's memory is fixed, and may be `again`, one that an earlier node frees. Each launch of the graph
/// finds it poisoned.
Work alloc_work(Context& c, MemAllocNodeParams* p, void* again = nullptr);
/// The address of as many bytes of `g` that is free once the nodes `after` have run; nullptr if there is none.
void* freed_before(const Graph& g, const std::vector<GraphNode*>& after, uint64_t bytes);
Work free_work(Context& c, void* address);
/// What the graph allocates must have been freed since its last launch, unless it frees it itself (cudaGraphInstantiateFlagAutoFreeOnLaunch).
void require_freed(Context& c, const GraphExec& e);
/// A word of device memory that kernels set by cudaGraphSetConditional; its address is the handle. With `assign` each launch of the graph
/// begins with `value`.
uint64_t make_condition(Context& c, Graph& g, unsigned value, bool assign);
/// Makes the bodies, as graphs that the program fills, and returns them in `p`.
Work condition_work(Context& c, ConditionalNodeParams* p);
/// Throws CallFailed, and Unsupported for kinds that are not served. The address of a mem_alloc node is written to `p`; `again` as for alloc_work.
Work node_work(Context& c, GraphNodeParams* p, void* again = nullptr);
/// The parameters of a node in the form of the call that makes it. Throws CallFailed if it has none.
const NodeParams& params_of(const void* node, GraphNodeType type);

/// The graph in the language of Graphviz.
std::string dot_text(const Graph& g);

}  // namespace drywell::cudart
