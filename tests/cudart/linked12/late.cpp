// A program that is not linked with CUDA: it loads the runtime while it runs.
#include <dlfcn.h>

#include <cstdio>

int main() {
  void* library = ::dlopen("libcudart.so.12", RTLD_NOW);
  if (library == nullptr) return 2;
  const auto allocate = reinterpret_cast<int (*)(void**, unsigned long)>(::dlsym(library, "cudaMalloc"));
  void* p = nullptr;
  if (allocate == nullptr || allocate(&p, 64) != 0) return 1;
  std::puts("allocated");
  return 0;
}
