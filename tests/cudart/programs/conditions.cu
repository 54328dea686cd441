// Conditional nodes of graphs: loops, choices and nested ones, whose conditions kernels set (cudaGraphSetConditional, linked apart), and a
// barrier of the grid that is linked apart, too.
#include <cooperative_groups.h>

#include "check.cuh"

using Condition = cudaGraphConditionalHandle;

__global__ void count_down(Condition again, int* left, int* steps) {
  ++*steps;
  cudaGraphSetConditional(again, --*left > 0);
}
__global__ void choose(Condition which, Condition any, int* value) {
  cudaGraphSetConditional(which, *value);
  cudaGraphSetConditional(any, *value);
}
__global__ void add(int* to, int value) { *to += value; }
__global__ void sum_of_all(int* all, int* out) {
  const auto grid = cooperative_groups::this_grid();
  all[grid.thread_rank()] = 1;
  grid.sync();
  if (grid.thread_rank() == 0) {
    for (unsigned i = 0; i < grid.size(); ++i) *out += all[i];
  }
}

namespace {

template <class... A>
cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void* function, A... arguments) {
  void* pointers[] = {&arguments...};
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = function;
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = pointers;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, after == nullptr ? nullptr : &after, nullptr, after == nullptr ? 0 : 1, &p));
  return node;
}

/// Adds the node and returns its bodies.
cudaGraph_t* condition(cudaGraph_t graph, cudaGraphNode_t after, Condition handle, cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, after == nullptr ? nullptr : &after, nullptr, after == nullptr ? 0 : 1, &p));
  return p.conditional.phGraph_out;
}

void launch(cudaGraph_t graph, int times) {
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(executable, nullptr));
  CHECK(cudaDeviceSynchronize());
}

}  // namespace

int main() {
  int* v = to_device(std::vector<int>(8, 0));
  int *left = v, *steps = v + 1, *value = v + 2, *sum = v + 3, *ones = v + 4;

  // Seven steps: the condition is true at the start of each launch, and the second launch finds nothing left (one step).
  cudaGraph_t loop;
  Condition again, which, any;
  CHECK(cudaGraphCreate(&loop, 0));
  CHECK(cudaGraphConditionalHandleCreate(&again, loop, 1, cudaGraphCondAssignDefault));
  kernel(*condition(loop, nullptr, again, cudaGraphCondTypeWhile, 1), nullptr, (void*)count_down, again, left, steps);
  add<<<1, 1>>>(left, 7);
  launch(loop, 2);
  std::vector<int> got = to_host(v, 4);
  size_t wrong = got[1] != 8;  // 7 and 1

  // Each launch adds a power of ten by the value, 0 to 3, of a switch with three bodies (none for 3), and by its truth one of two.
  cudaGraph_t choice;
  CHECK(cudaGraphCreate(&choice, 0));
  for (Condition* c : {&which, &any}) CHECK(cudaGraphConditionalHandleCreate(c, choice, 0, 0));
  const auto chosen = kernel(choice, nullptr, (void*)choose, which, any, value);
  cudaGraph_t* bodies = condition(choice, chosen, which, cudaGraphCondTypeSwitch, 3);
  for (int i = 0, power = 1; i < 3; ++i, power *= 10) kernel(bodies[i], nullptr, (void*)add, sum, power);
  cudaGraph_t* both = condition(choice, chosen, any, cudaGraphCondTypeIf, 2);
  kernel(both[0], nullptr, (void*)add, sum, 1000);
  kernel(both[1], nullptr, (void*)add, sum, 10000);
  kernel(choice, chosen, (void*)add, value, 1);
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, choice, 0));
  for (int i = 0; i < 4; ++i) CHECK(cudaGraphLaunch(executable, nullptr));
  CHECK(cudaDeviceSynchronize());
  got = to_host(v, 4);
  wrong += got[3] != 111 + 3 * 1000 + 10000;

  // The body of a choice, captured; the program needs no second handle of the graph.
  cudaGraph_t recorded;
  Condition truth;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaGraphCreate(&recorded, 0));
  CHECK(cudaGraphConditionalHandleCreate(&truth, recorded, 1, cudaGraphCondAssignDefault));
  CHECK(cudaStreamBeginCaptureToGraph(stream, *condition(recorded, nullptr, truth, cudaGraphCondTypeIf, 1), nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  add<<<1, 1, 0, stream>>>(steps, 100);
  CHECK(cudaStreamEndCapture(stream, nullptr));
  launch(recorded, 1);
  got = to_host(v, 4);
  wrong += got[1] != 108;

  cudaGraph_t copy;
  wrong += cudaGraphClone(&copy, loop) != cudaErrorNotSupported;
  cudaGetLastError();

  void* arguments[] = {&ones, &sum};
  CHECK(cudaLaunchCooperativeKernel(sum_of_all, 2, 2, arguments));
  got = to_host(v, 4);
  wrong += got[3] != 13111 + 4;
  return verdict(wrong, 4);
}
