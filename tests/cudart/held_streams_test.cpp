// Streams that wait for a value which is not in memory yet: what is behind the wait runs when the value comes, and not before. Nodes of graphs that
// wait, write and copy.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cudart_program.h"

extern "C" {
CudaError cuStreamWaitValue32_v2(void* stream, uint64_t at, uint32_t value, unsigned flags);
CudaError cuStreamWriteValue32_v2(void* stream, uint64_t at, uint32_t value, unsigned flags);
CudaError cuStreamBatchMemOp_v2(void* stream, unsigned count, const void* list, unsigned flags);
CudaError cuGraphAddBatchMemOpNode(void** out, void* graph, void* const* after, size_t count, const void* p);
CudaError cuGraphBatchMemOpNodeGetParams(void* node, void* out);
CudaError cuGraphBatchMemOpNodeSetParams(void* node, const void* p);
CudaError cuGraphExecBatchMemOpNodeSetParams(void* executable, void* node, const void* p);
CudaError cudaGraphAddMemcpyNodeToSymbol(void** out, void* graph, void* const* after, size_t count, const void* symbol, const void* from, size_t bytes,
                                         size_t offset, CopyKind kind);
CudaError cudaGraphAddMemcpyNodeFromSymbol(void** out, void* graph, void* const* after, size_t count, void* to, const void* symbol, size_t bytes,
                                           size_t offset, CopyKind kind);
CudaError cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol, const void* from, size_t bytes, size_t offset, CopyKind kind);
CudaError cudaGraphCreate(void** out, unsigned flags);
}

namespace {

constexpr CudaError kOk = CudaError::success;
constexpr unsigned kEqual = 1, kBlocking = 0, kNonBlocking = 1;

/// Pinned words: the host reads and writes them without a call. Word 0 is waited for, the others are results.
class HeldStreams : public testing::Test {
 protected:
  void SetUp() override {
    cudaGetLastError();
    void* p = nullptr;
    ASSERT_EQ(cudaHostAlloc(&p, 64, 0), kOk);
    words_ = static_cast<volatile uint32_t*>(p);
    for (int i = 0; i < 16; ++i) words_[i] = 0;
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  static void* stream(unsigned flags) {
    void* s = nullptr;
    EXPECT_EQ(cudaStreamCreateWithPriority(&s, flags, 0), kOk);
    return s;
  }
  uint64_t at(int word) const { return reinterpret_cast<uint64_t>(words_ + word); }
  void wait(void* s, uint32_t value) { EXPECT_EQ(cuStreamWaitValue32_v2(s, at(0), value, kEqual), kOk); }
  void write(void* s, int word, uint32_t value) { EXPECT_EQ(cuStreamWriteValue32_v2(s, at(word), value, 0), kOk); }
  volatile uint32_t* words_ = nullptr;
};

TEST_F(HeldStreams, WorkBehindAWaitRunsWhenAnotherStreamWritesTheValue) {
  void *a = stream(kNonBlocking), *b = stream(kNonBlocking);
  wait(a, 5);
  write(a, 1, 11);
  EXPECT_EQ(words_[1], 0u);
  EXPECT_EQ(cudaStreamQuery(a), CudaError::not_ready);
  EXPECT_EQ(cudaStreamQuery(b), kOk);
  write(b, 0, 5);
  EXPECT_EQ(words_[1], 11u);
  EXPECT_EQ(cudaStreamQuery(a), kOk);
  EXPECT_EQ(cudaGetLastError(), kOk);
}

TEST_F(HeldStreams, KernelsAreHeldWithTheirArguments) {
  void *a = stream(kNonBlocking), *b = stream(kNonBlocking), *p = const_cast<uint32_t*>(words_ + 2);
  void* arguments[] = {&p};
  wait(a, 5);
  ASSERT_EQ(cudaLaunchKernel(program::kStore, {1, 1, 1}, {1, 1, 1}, arguments, 0, a), kOk);
  p = nullptr;  // arguments were copied at the call
  EXPECT_EQ(words_[2], 0u);
  write(b, 0, 5);
  EXPECT_EQ(words_[2], 1u);
}

TEST_F(HeldStreams, EventsCarryTheWaitToOtherStreams) {
  void *a = stream(kNonBlocking), *b = stream(kNonBlocking), *c = stream(kNonBlocking), *event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, 0), kOk);
  wait(a, 5);
  ASSERT_EQ(cudaEventRecord(event, a), kOk);
  EXPECT_EQ(cudaEventQuery(event), CudaError::not_ready);
  ASSERT_EQ(cudaStreamWaitEvent(b, event, 0), kOk);
  write(b, 1, 11);
  EXPECT_EQ(words_[1], 0u);
  write(c, 0, 5);
  EXPECT_EQ(cudaEventQuery(event), kOk);
  EXPECT_EQ(words_[1], 11u);
}

TEST_F(HeldStreams, TheDefaultStreamAndBlockingStreamsWaitForEachOther) {
  void *a = stream(kBlocking), *b = stream(kNonBlocking), *c = stream(kBlocking);
  wait(a, 5);
  write(nullptr, 1, 11);  // behind a
  write(c, 2, 12);        // behind the default stream
  write(b, 3, 13);
  EXPECT_EQ(words_[1], 0u);
  EXPECT_EQ(words_[2], 0u);
  EXPECT_EQ(words_[3], 13u);
  write(b, 0, 5);
  EXPECT_EQ(words_[1], 11u);
  EXPECT_EQ(words_[2], 12u);
}

TEST_F(HeldStreams, SynchronizationWaitsForAValueOfTheHost) {
  void* a = stream(kNonBlocking);
  wait(a, 5);
  write(a, 1, 11);
  std::atomic<uint32_t> before{1};
  std::thread other([&] {
    ::usleep(20000);
    before = words_[1];
    words_[0] = 5;
  });
  EXPECT_EQ(cudaStreamSynchronize(a), kOk);
  EXPECT_EQ(words_[1], 11u);
  other.join();
  EXPECT_EQ(before, 0u);
}

TEST_F(HeldStreams, ABatchIsInOrderAndADestroyedStreamRunsToItsEnd) {
  void *a = stream(kNonBlocking), *b = stream(kNonBlocking);
  const uint64_t batch[3][6] = {{2, at(1), 11, 0, 0, 0}, {1, at(0), 5, kEqual, 0, 0}, {2, at(2), 12, 0, 0, 0}};  // write, wait, write
  ASSERT_EQ(cuStreamBatchMemOp_v2(a, 3, batch, 0), kOk);
  EXPECT_EQ(cudaStreamDestroy(a), kOk);
  EXPECT_EQ(words_[1], 11u);
  EXPECT_EQ(words_[2], 0u);
  write(b, 0, 5);
  EXPECT_EQ(words_[2], 12u);
  EXPECT_EQ(cudaDeviceSynchronize(), kOk);
}

struct BatchNode {
  void* context;
  unsigned count;
  const uint64_t (*list)[6];
  unsigned flags;
};

TEST_F(HeldStreams, NodesOfGraphsWriteAndWaitForValuesThatAreThere) {
  void *graph = nullptr, *node = nullptr, *executable = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), kOk);
  const uint64_t first[2][6] = {{2, at(0), 5, 0, 0, 0}, {1, at(0), 5, kEqual, 0, 0}}, second[1][6] = {{2, at(1), 11, 0, 0, 0}};
  const BatchNode two{nullptr, 2, first, 0}, one{nullptr, 1, second, 0};
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &two), kOk);
  BatchNode kept{};
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(node, &kept), kOk);
  ASSERT_EQ(kept.count, 2u);
  EXPECT_EQ(kept.list[1][1], at(0));
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), kOk);
  ASSERT_EQ(cudaGraphLaunch(executable, nullptr), kOk);
  EXPECT_EQ(words_[0], 5u);
  ASSERT_EQ(cuGraphExecBatchMemOpNodeSetParams(executable, node, &one), kOk);
  ASSERT_EQ(cudaGraphLaunch(executable, nullptr), kOk);
  EXPECT_EQ(words_[1], 11u);
  const BatchNode wrong{nullptr, 1, nullptr, 0};
  EXPECT_EQ(cuGraphBatchMemOpNodeSetParams(node, &wrong), CudaError::invalid_value);
}

TEST_F(HeldStreams, NodesOfGraphsCopyVariables) {
  void *graph = nullptr, *to = nullptr, *from = nullptr, *executable = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), kOk);
  words_[1] = 77;
  ASSERT_EQ(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, program::kTable, const_cast<uint32_t*>(words_ + 1), 4, 4, CopyKind::host_to_device), kOk);
  ASSERT_EQ(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, const_cast<uint32_t*>(words_ + 2), program::kTable, 4, 4, CopyKind::device_to_host), kOk);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), kOk);
  ASSERT_EQ(cudaGraphLaunch(executable, nullptr), kOk);
  EXPECT_EQ(words_[2], 77u);
  size_t bytes = 0;
  ASSERT_EQ(cudaGetSymbolSize(&bytes, program::kTable), kOk);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParamsToSymbol(to, program::kTable, const_cast<uint32_t*>(words_), 4, bytes, CopyKind::host_to_device), CudaError::invalid_value);
}

}  // namespace
