// Loads the library of its first argument, which has a CUDA runtime of its own, and runs its kernel. The second one: the version of its PTX.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main(int, char** words) {
  void* const library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 2;
  }
  return reinterpret_cast<int (*)(int)>(dlsym(library, "run_plugin"))(std::atoi(words[2]));
}
