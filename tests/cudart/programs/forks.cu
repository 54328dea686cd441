// A child of a process that used the device has no device; the parent keeps its own.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "check.cuh"

__global__ void count(int* p) { atomicAdd(p, 1); }

int main() {
  int* p = to_device(std::vector<int>(1));
  // Another thread is busy with the device while this one forks.
  std::thread busy([&] {
    for (int i = 0; i < 200; ++i) count<<<1, 32>>>(p);
  });
  int status[4] = {};
  for (int& s : status) {
    const pid_t child = ::fork();
    if (child == 0) {
      void* q = nullptr;
      const bool refused = cudaMalloc(&q, 4) == cudaErrorInitializationError;
      count<<<1, 1>>>(p);
      ::_exit(refused && cudaGetLastError() == cudaErrorInitializationError ? 7 : 1);
    }
    ::waitpid(child, &s, 0);
  }
  busy.join();
  size_t wrong = to_host(p, 1)[0] != 200 * 32;
  for (int s : status) wrong += !WIFEXITED(s) || WEXITSTATUS(s) != 7;
  return verdict(wrong, 5);
}
