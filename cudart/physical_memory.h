// One piece of physical memory of a program (cuMemCreate): poison that takes host memory by the page, where it is touched.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cudart/memory.h"

namespace drywell::cudart {

/// While at most one mapping shows the piece, and all of it, its pages are private ones over poison: they move between that mapping and a
/// place of their own, where they keep their content while nothing maps them. Two mappings at once, or one of a part, need a file that
/// holds every byte.
class PhysicalMemory {
 public:
  /// Counts the bytes among those that the host promises, and in `of_all`. Throws CallFailed if the host cannot back them.
  PhysicalMemory(uint64_t bytes, Memory& memory, std::shared_ptr<uint64_t> of_all);
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  uint64_t bytes() const { return taken_.bytes; }
  /// Maps [offset, offset + bytes) at addresses that the program reserved. Throws CallFailed if the host refuses.
  void show(uint64_t at, uint64_t bytes, uint64_t offset);
  /// Ends a mapping: its addresses are reserved as before.
  void hide(uint64_t at, uint64_t bytes);

 private:
  /// Bytes that are counted as long as it lives.
  struct Taken {
    Taken(Memory& m, uint64_t n, std::shared_ptr<uint64_t> count) : memory(m), bytes(n), of_all(std::move(count)) {
      memory.take(n);
      *of_all += n;
    }
    ~Taken() {
      *of_all -= bytes;
      memory.give_back(bytes);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    Memory& memory;
    uint64_t bytes;
    std::shared_ptr<uint64_t> of_all;
  };
  bool has_file() const { return file_ >= 0; }
  uint8_t* pages() const { return shown_ != nullptr ? shown_ : home_; }
  /// Makes the file, with the content that the pages have.
  void share();

  Taken taken_;
  uint8_t* home_ = nullptr;   // where the pages are while nothing maps them
  uint8_t* shown_ = nullptr;  // where they are otherwise
  int file_ = -1;
};

}  // namespace drywell::cudart
