#include "launch/cuda_driver/launch_clock.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

namespace drywell::kernels {
namespace {

constexpr unsigned kSweepCtas = 1056, kSweepThreads = 256,
                   kSweepSteps = 32;  // of 16 bytes each: 132 MiB, more than twice an H200's L2
constexpr uint64_t kSweepBytes = uint64_t{kSweepCtas} * kSweepThreads * kSweepSteps * 16;

// `sweep` loads memory once; `stamp` writes the SM, its clock and the time.
constexpr const char* kOwnPtx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry sweep(.param .u64 memory)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<2>;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 256, %r0;
  ld.param.u64 %d0, [memory]; mad.wide.u32 %d0, %r0, 16, %d0;
  mov.u32 %r2, 32; mov.u32 %r7, 0;
LOOP:
  ld.global.cg.v4.b32 {%r3, %r4, %r5, %r6}, [%d0];
  xor.b32 %r7, %r7, %r3; xor.b32 %r7, %r7, %r6;
  add.u64 %d0, %d0, 4325376;
  sub.u32 %r2, %r2, 1; setp.ne.u32 %p0, %r2, 0; @%p0 bra LOOP;
  setp.eq.u32 %p1, %r7, 0x12345678; @%p1 st.global.b32 [%d0+-4325376], %r7;
  ret;
}
.visible .entry stamp(.param .u64 out)
{
  .reg .b32 %r<2>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %smid; cvt.u64.u32 %d1, %r0;
  mov.u64 %d2, %clock64; mov.u64 %d3, %globaltimer;
  st.global.b64 [%d0], %d1; st.global.v2.b64 [%d0+16], {%d2, %d3};
  ret;
}
)";

constexpr unsigned kStampPairs = 12;
struct Stamp {
  uint64_t sm, unused, cycles, nanoseconds;
};

}  // namespace

struct LaunchClock::Impl {
  Impl(CudaDevice& device, std::vector<LaunchTimes>& times) : gpu(device), api(device.library()), out(times) {
    api.check(api->cuModuleLoadDataEx(&module, kOwnPtx, 0, nullptr, nullptr), "the clock's kernels");
    api.check(api->cuModuleGetFunction(&sweep, module, "sweep"), "the sweep");
    api.check(api->cuModuleGetFunction(&stamp, module, "stamp"), "the stamp");
    api.check(api->cuMemAlloc_v2(&memory, kSweepBytes), "memory to sweep");
    api.check(api->cuMemAlloc_v2(&stamps, 2 * kStampPairs * sizeof(Stamp)), "memory for stamps");
    api.check(api->cuStreamCreate(&stream, cuda::kNonBlocking), "a stream");
    for (cuda::Event& e : events) api.check(api->cuEventCreate(&e, 0), "an event");
  }
  ~Impl() {
    for (cuda::Event e : events) api->cuEventDestroy_v2(e);
    api->cuStreamDestroy_v2(stream);
    api->cuMemFree_v2(stamps);
    api->cuMemFree_v2(memory);
    api->cuModuleUnload(module);
  }
  void own(cuda::Function f, unsigned ctas, unsigned threads, cuda::DevicePtr argument) const {
    void* parameters[] = {&argument};
    const cuda::LaunchConfig c{{ctas, 1, 1}, {threads, 1, 1}, 0, stream, nullptr, 0};
    api.check(api->cuLaunchKernelEx(&c, f, parameters, nullptr), "a launch of the clock");
  }
  void sweep_once() const { own(sweep, kSweepCtas, kSweepThreads, memory); }

  using Body = std::function<void()>;
  double graph_ns(unsigned count, unsigned repeats, const Body& body);
  double slope(unsigned few, unsigned many, unsigned repeats, const Body& body) {
    return (graph_ns(many, repeats, body) - graph_ns(few, repeats, body)) / (many - few);
  }
  /// Nanoseconds between two stamps with the launch between them, after a sweep; without one: of the stamps
  /// alone.
  double between_stamps(const Body* body);
  void read_clock();

  CudaDevice& gpu;
  const cuda::Library& api;
  std::vector<LaunchTimes>& out;
  cuda::Module module = nullptr;
  cuda::Function sweep = nullptr, stamp = nullptr;
  cuda::DevicePtr memory = 0, stamps = 0;
  cuda::Stream stream = nullptr;
  std::array<cuda::Event, 2> events{};
  double gigahertz = 0;
};

// The fastest of `repeats` runs of a graph in which `body` is captured `count` times.
double LaunchClock::Impl::graph_ns(unsigned count, unsigned repeats, const Body& body) {
  cuda::Graph graph = nullptr;
  cuda::GraphExec run = nullptr;
  api.check(api->cuStreamBeginCapture_v2(stream, cuda::kCaptureThreadLocal), "to capture a graph");
  for (unsigned i = 0; i < count; ++i) body();
  api.check(api->cuStreamEndCapture(stream, &graph), "the graph");
  api.check(api->cuGraphInstantiateWithFlags(&run, graph, 0), "the graph");
  double best = std::numeric_limits<double>::infinity();
  for (unsigned i = 0; i < repeats; ++i) {
    own(stamp, 1, 1, stamps);
    api.check(api->cuEventRecord(events[0], stream), "an event");
    api.check(api->cuGraphLaunch(run, stream), "the graph");
    api.check(api->cuEventRecord(events[1], stream), "an event");
    own(stamp, 1, 1, stamps + sizeof(Stamp));
    api.check(api->cuStreamSynchronize(stream), "the graph's end");
    float ms = 0;
    api.check(api->cuEventElapsedTime(&ms, events[0], events[1]), "the time");
    if (ms * 1e6 < best) {
      best = ms * 1e6;
      read_clock();
    }
  }
  api->cuGraphExecDestroy(run);
  api->cuGraphDestroy(graph);
  return best;
}

// The lines that the launch before wrote are written back during the sweep, and do not count. Median of the
// pairs' fastest runs.
double LaunchClock::Impl::between_stamps(const Body* body) {
  cuda::Graph graph = nullptr;
  cuda::GraphExec run = nullptr;
  api.check(api->cuStreamBeginCapture_v2(stream, cuda::kCaptureThreadLocal), "to capture a graph");
  for (unsigned i = 0; i < kStampPairs; ++i) {
    sweep_once();
    own(stamp, 1, 1, stamps + 2 * i * sizeof(Stamp));
    if (body != nullptr) (*body)();
    own(stamp, 1, 1, stamps + (2 * i + 1) * sizeof(Stamp));
  }
  api.check(api->cuStreamEndCapture(stream, &graph), "the graph");
  api.check(api->cuGraphInstantiateWithFlags(&run, graph, 0), "the graph");
  std::array<double, kStampPairs> best;
  best.fill(std::numeric_limits<double>::infinity());
  for (unsigned repeat = 0; repeat < 9; ++repeat) {
    api.check(api->cuGraphLaunch(run, stream), "the graph");
    api.check(api->cuStreamSynchronize(stream), "the graph's end");
    std::array<Stamp, 2 * kStampPairs> s{};
    api.check(api->cuMemcpyDtoH_v2(s.data(), stamps, sizeof s), "the stamps");
    for (unsigned i = 0; i < kStampPairs; ++i)
      best[i] = std::min(best[i], static_cast<double>(s[2 * i + 1].nanoseconds - s[2 * i].nanoseconds));
  }
  api->cuGraphExecDestroy(run);
  api->cuGraphDestroy(graph);
  std::sort(best.begin(), best.end());
  return (best[kStampPairs / 2 - 1] + best[kStampPairs / 2]) / 2;
}

// Clocks of two SMs do not compare: then the last figure stays.
void LaunchClock::Impl::read_clock() {
  std::array<Stamp, 2> s{};
  api.check(api->cuMemcpyDtoH_v2(s.data(), stamps, sizeof s), "the stamps");
  if (s[0].sm != s[1].sm || s[1].nanoseconds <= s[0].nanoseconds + 10000) return;
  gigahertz = static_cast<double>(s[1].cycles - s[0].cycles) /
              static_cast<double>(s[1].nanoseconds - s[0].nanoseconds);
}

LaunchClock::LaunchClock(CudaDevice& gpu, std::vector<LaunchTimes>& out)
    : ForwardingAccelerator(gpu), impl_(std::make_unique<Impl>(gpu, out)) {}
LaunchClock::~LaunchClock() = default;

sim::RunResult LaunchClock::launch(std::string_view kernel, const sim::LaunchConfig& config,
                                   const sim::Args& args, const sim::RunOptions& options) {
  Impl& d = *impl_;
  sim::RunResult r = target().launch(kernel, config, args, options);
  if (!r.ok()) return r;
  const auto once = [&] { d.gpu.enqueue(kernel, config, args, d.stream); };
  constexpr double kGraphSeconds = 0.02;
  const auto many =
                 static_cast<unsigned>(std::clamp(kGraphSeconds / std::max(r.host_seconds, 1e-6), 4.0, 40.0)),
             few = std::max(1u, many / 4);
  const Impl::Body body = once;
  const double cold = d.between_stamps(&body) - d.between_stamps(nullptr);
  d.gigahertz = 0;
  const double warm = d.slope(few, many, 9, once);
  d.out.push_back({warm, cold, d.gigahertz});
  return r;
}

}  // namespace drywell::kernels
