// Memory of 0xFF bytes that takes no host memory until it is written.
#pragma once

#include <cstdint>
#include <utility>

namespace drywell {

/// Pages that are private views of one small file of 0xFF bytes: the host copies a page when it is written first. Not for use by
/// several threads at the same time.
class PoisonPages {
 public:
  static constexpr uint64_t kView = 16 << 20;  // bytes of the file

  PoisonPages() = default;
  ~PoisonPages();
  PoisonPages(const PoisonPages&) = delete;
  PoisonPages& operator=(const PoisonPages&) = delete;

  /// Views take the place of the whole pages inside [from, to), which is mapped memory. Returns the part that has them now: less than
  /// that, perhaps nothing, on a host that refuses; the caller fills the rest.
  std::pair<uint8_t*, uint8_t*> show(uint8_t* from, uint8_t* to);
  /// Moves views with what was written into them; they were shown at an address that kView divides. `to` are addresses that the caller
  /// reserved; those at `from` are no mapping afterwards. False if the host refuses: then nothing has moved.
  static bool move(uint8_t* from, uint8_t* to, uint64_t bytes);

 private:
  bool has_file();
  int file_ = -1;  // made on first use
};

}  // namespace drywell
