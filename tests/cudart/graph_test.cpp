// Graphs of host functions, made node by node: the nodes that run, their order, and calls as in programs of CUDA 12.
#include <gtest/gtest.h>

#include <vector>

#include "cudart/abi.h"
#include "cudart_program.h"

extern "C" {
using drywell::cudart::GraphEdgeData;
using drywell::cudart::GraphNodeParams;
CudaError cudaGraphCreate(void** out, unsigned flags);
CudaError cudaGraphAddNode(void** out, void* graph, void* const* after, const GraphEdgeData* edges, size_t count, GraphNodeParams* p);
CudaError cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, const GraphEdgeData* edges, size_t count);
CudaError cudaGraphClone(void** out, void* graph);
CudaError cudaGraphGetRootNodes(void* graph, void** nodes, size_t* count);
CudaError cudaGraphGetEdges(void* graph, void** from, void** to, GraphEdgeData* data, size_t* count);
}

namespace {

using drywell::cudart::GraphNodeType;

constexpr CudaError kOk = CudaError::success;

/// A host function that writes down its number.
struct Mark {
  int number;
  std::vector<int>* list;
  GraphNodeParams node() {
    GraphNodeParams p{};
    p.type = GraphNodeType::host;
    p.host = {[](void* mark) { static_cast<Mark*>(mark)->list->push_back(static_cast<Mark*>(mark)->number); }, this};
    return p;
  }
};

class GraphNodes : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaGraphCreate(&graph_, 0), kOk); }
  void TearDown() override {
    EXPECT_EQ(cudaGraphDestroy(graph_), kOk);
    EXPECT_EQ(cudaDeviceReset(), kOk);
  }
  std::vector<int> run(void* graph) {
    ran_.clear();
    void* executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), kOk);
    EXPECT_EQ(cudaGraphLaunch(executable, nullptr), kOk);
    EXPECT_EQ(cudaGraphExecDestroy(executable), kOk);
    return ran_;
  }
  void* graph_ = nullptr;
  std::vector<int> ran_;
  Mark first_{1, &ran_}, second_{2, &ran_};
};

TEST_F(GraphNodes, ListsAreFilledUpOrCounted) {
  void *a = nullptr, *b = nullptr;
  GraphNodeParams p = first_.node(), q = second_.node();
  ASSERT_EQ(cudaGraphAddNode(&a, graph_, nullptr, nullptr, 0, &p), kOk);
  ASSERT_EQ(cudaGraphAddNode(&b, graph_, &a, nullptr, 1, &q), kOk);
  EXPECT_EQ(run(graph_), (std::vector<int>{1, 2}));
  size_t count = 0;
  ASSERT_EQ(cudaGraphGetRootNodes(graph_, nullptr, &count), kOk);
  EXPECT_EQ(count, 1u);
  void *from[2] = {graph_, graph_}, *to[2] = {graph_, graph_};
  GraphEdgeData data[2] = {{1, 1, 1, {}}, {1, 1, 1, {}}};
  count = 2;
  ASSERT_EQ(cudaGraphGetEdges(graph_, from, to, data, &count), kOk);
  EXPECT_EQ(count, 1u);
  EXPECT_TRUE(from[0] == a && to[0] == b && from[1] == nullptr && to[1] == nullptr && data[0].type == 0);
  EXPECT_EQ(cudaGraphGetEdges(graph_, from, nullptr, nullptr, &count), CudaError::invalid_value);
}

TEST_F(GraphNodes, AClonesNodesWaitForEachOther) {
  void *a = nullptr, *b = nullptr, *clone = nullptr;
  GraphNodeParams p = first_.node(), q = second_.node();
  ASSERT_EQ(cudaGraphAddNode(&a, graph_, nullptr, nullptr, 0, &p), kOk);
  ASSERT_EQ(cudaGraphAddNode(&b, graph_, nullptr, nullptr, 0, &q), kOk);
  ASSERT_EQ(cudaGraphAddDependencies(graph_, &b, &a, nullptr, 1), kOk);
  ASSERT_EQ(cudaGraphClone(&clone, graph_), kOk);
  EXPECT_EQ(run(clone), (std::vector<int>{2, 1}));
  EXPECT_EQ(cudaGraphDestroy(clone), kOk);
}

TEST_F(GraphNodes, OtherKindsAreRefused) {
  GraphNodeParams p{};
  p.type = GraphNodeType::batch_mem_op;
  void* node = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &p), CudaError::not_supported);
  EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, nullptr), CudaError::invalid_value);
}

/// A function as another header declares it.
template <class As, class F>
As* declared_as(F* function) {
  return reinterpret_cast<As*>(reinterpret_cast<void (*)()>(function));
}

TEST_F(GraphNodes, Cuda12SaysNothingOfEdges) {
  auto* const add_node = declared_as<CudaError(void**, void*, void* const*, size_t, GraphNodeParams*)>(&cudaGraphAddNode);
  auto* const add_dependencies = declared_as<CudaError(void*, void* const*, void* const*, size_t)>(&cudaGraphAddDependencies);
  void *a = nullptr, *b = nullptr, *c = nullptr;
  GraphNodeParams p = first_.node(), q = second_.node();
  ASSERT_EQ(add_node(&a, graph_, nullptr, 0, &p), kOk);
  ASSERT_EQ(add_node(&b, graph_, nullptr, 0, &q), kOk);
  ASSERT_EQ(add_node(&c, graph_, &b, 1, &p), kOk);
  ASSERT_EQ(add_dependencies(graph_, &c, &a, 1), kOk);  // the first one last
  EXPECT_EQ(run(graph_), (std::vector<int>{2, 1, 1}));
  size_t count = 0;
  ASSERT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, nullptr, &count), kOk);
  EXPECT_EQ(count, 2u);
}

}  // namespace
