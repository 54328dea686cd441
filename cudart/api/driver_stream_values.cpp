// Waits for values in memory, and writes of values, in a stream's order.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "cudart/api/node_list.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"
#include "drywell/core/error.h"

using namespace drywell::cudart;

namespace {

// CUstreamWaitValue_flags; bit 30 flushes remote writes.
enum class Compare : unsigned {
  at_least = 0,
  equal = 1,
  any_bit = 2,
  nor = 3
};
constexpr unsigned kFlush = 1u << 30;

uint64_t mask_of(bool wide) { return wide ? ~uint64_t{0} : 0xFFFFFFFF; }

/// The comparison of cyclic counters: the difference has no sign.
bool meets(uint64_t now, uint64_t value, Compare how, bool wide) {
  switch (how) {
    case Compare::at_least: return ((now - value) & mask_of(wide)) >> (wide ? 63 : 31) == 0;
    case Compare::equal: return ((now ^ value) & mask_of(wide)) == 0;
    case Compare::any_bit: return (now & value & mask_of(wide)) != 0;
    case Compare::nor: return (~(now | value) & mask_of(wide)) != 0;
  }
  return false;
}

uint8_t* word_at(Context& c, uint64_t address, bool wide) {
  require_value(address % (wide ? 8 : 4) == 0);
  return c.device().host_pointer(drywell::GmemAddr(address), wide ? 8 : 4);
}

bool is_wait(const BatchMemOp& p) { return p.op == MemOp::wait32 || p.op == MemOp::wait64; }
bool is_wide(const BatchMemOp& p) { return p.op == MemOp::wait64 || p.op == MemOp::write64; }

bool ready(Context& c, const BatchMemOp& p) {
  uint64_t now = 0;
  std::memcpy(&now, word_at(c, p.address, is_wide(p)), is_wide(p) ? 8 : 4);
  return meets(now, p.value, static_cast<Compare>(p.flags & ~kFlush), is_wide(p));
}

/// Operations that write; the others have nothing to do, because nothing is in flight.
void perform(Context& c, const BatchMemOp& p) {
  if (p.op == MemOp::write32 || p.op == MemOp::write64) c.device().write(drywell::GmemAddr(p.address), &p.value, is_wide(p) ? 8 : 4);
}

void check(Context& c, const BatchMemOp& p) {
  require_value(p.op >= MemOp::wait32 && p.op <= MemOp::barrier);
  if (!is_wait(p)) return;
  require_value((p.flags & ~kFlush) <= static_cast<unsigned>(Compare::nor));
  word_at(c, p.address, is_wide(p));
}

/// A graph runs its nodes one after the other: a wait in it must find its value.
void in_graph(Context& c, const std::vector<BatchMemOp>& all) {
  for (const BatchMemOp& p : all) {
    if (is_wait(p) && !ready(c, p)) throw drywell::Unsupported(fmt::format("a node of a graph that waits at {:#x} for a value that is not there yet", p.address));
    perform(c, p);
  }
}

/// CUDA_BATCH_MEM_OP_NODE_PARAMS
struct BatchNode {
  void* context;
  unsigned count;
  const BatchMemOp* list;
  unsigned flags;
};

Work batch_work(Context& c, const BatchNode* p) {
  require_value(p != nullptr && (p->count == 0 || p->list != nullptr));
  auto kept = std::make_shared<NodeParams>();
  kept->memory_operations.assign(p->list, p->list + p->count);
  for (const BatchMemOp& op : kept->memory_operations) check(c, op);
  return {[&c, kept] { in_graph(c, kept->memory_operations); }, kept};
}

CudaError submit(const char* name, void* stream, const std::vector<BatchMemOp>& all) {
  return serve(name, [&](Context& c) {
    for (const BatchMemOp& p : all) check(c, p);
    Stream& s = c.streams.get(stream);
    if (s.capture != nullptr) return c.streams.submit(s, GraphNodeType::batch_mem_op, [&c, all] { in_graph(c, all); });
    for (const BatchMemOp& p : all) {
      if (is_wait(p))
        c.streams.hold_until(s, [&c, p] { return ready(c, p); });
      else
        c.streams.submit(s, GraphNodeType::batch_mem_op, [&c, p] { perform(c, p); });
    }
  });
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuStreamWaitValue32_v2(void* stream, uint64_t at, uint32_t value, unsigned flags) {
  return submit("cuStreamWaitValue32", stream, {{MemOp::wait32, at, value, flags, 0, 0}});
}
CudaError cuStreamWaitValue64_v2(void* stream, uint64_t at, uint64_t value, unsigned flags) {
  return submit("cuStreamWaitValue64", stream, {{MemOp::wait64, at, value, flags, 0, 0}});
}
CudaError cuStreamWriteValue32_v2(void* stream, uint64_t at, uint32_t value, unsigned flags) {
  return submit("cuStreamWriteValue32", stream, {{MemOp::write32, at, value, flags, 0, 0}});
}
CudaError cuStreamWriteValue64_v2(void* stream, uint64_t at, uint64_t value, unsigned flags) {
  return submit("cuStreamWriteValue64", stream, {{MemOp::write64, at, value, flags, 0, 0}});
}
CudaError cuStreamBatchMemOp_v2(void* stream, unsigned count, const BatchMemOp* list, unsigned) {
  if (count != 0 && list == nullptr) return CudaError::invalid_value;
  return submit("cuStreamBatchMemOp", stream, {list, list + count});
}

CudaError cuGraphAddBatchMemOpNode(void** out, void* graph, void* const* after, size_t count, const BatchNode* p) {
  return add_node("cuGraphAddBatchMemOpNode", out, graph, after, count, GraphNodeType::batch_mem_op, [&](Context& c) { return batch_work(c, p); });
}
CudaError cuGraphBatchMemOpNodeGetParams(void* node, BatchNode* out) {
  return serve("cuGraphBatchMemOpNodeGetParams", [&](Context&) {
    require_value(out != nullptr);
    const std::vector<BatchMemOp>& all = params_of(node, GraphNodeType::batch_mem_op).memory_operations;
    *out = {nullptr, static_cast<unsigned>(all.size()), all.data(), 0};
  });
}
CudaError cuGraphBatchMemOpNodeSetParams(void* node, const BatchNode* p) {
  return serve("cuGraphBatchMemOpNodeSetParams", [&](Context& c) {
    params_of(node, GraphNodeType::batch_mem_op);  // refuses other nodes
    static_cast<GraphNode*>(node)->work = batch_work(c, p);
  });
}
CudaError cuGraphExecBatchMemOpNodeSetParams(void* executable, void* node, const BatchNode* p) {
  return set_step("cuGraphExecBatchMemOpNodeSetParams", executable, node, GraphNodeType::batch_mem_op, [&](Context& c) { return batch_work(c, p); });
}

#pragma GCC visibility pop
}
