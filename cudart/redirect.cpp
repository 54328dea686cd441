#include "cudart/redirect.h"

#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace drywell::cudart {
namespace {

/// jmp [rip], and the address behind it.
std::array<uint8_t, kJumpBytes> jump_to(const void* target) {
  std::array<uint8_t, kJumpBytes> code = {0xFF, 0x25};
  std::memcpy(code.data() + 6, &target, sizeof target);
  return code;
}

// The function that the loader calls for debuggers is empty: `ret`, perhaps behind `endbr64`, and then
// nothing but fill to a multiple of 16 bytes. The bytes of fill are those of gcc's and clang's long `nop`.
bool is_empty_function(const uint8_t* code) {
  constexpr std::array<uint8_t, 4> kEndbr = {0xF3, 0x0F, 0x1E, 0xFA};
  const bool marked = std::equal(kEndbr.begin(), kEndbr.end(), code);
  const uint8_t* const ret = code + (marked ? kEndbr.size() : 0);
  const auto is_fill = [](uint8_t b) {
    return b == 0x90 || b == 0xCC || b == 0x66 || b == 0x2E || b == 0x0F || b == 0x1F || b == 0x84 ||
           b == 0x80 || b == 0x44 || b == 0x40 || b == 0x00;
  };
  return *ret == 0xC3 && reinterpret_cast<uintptr_t>(code) % 16 == 0 &&
         std::all_of(ret + 1, code + 16, is_fill);
}

}  // namespace

std::string runtime_stays(std::string_view file, bool can_redirect) {
  const char* const why = can_redirect ? "no symbol table that would let Drywell's take its place"
                                       : "Drywell's cannot take its place on this kind of host, which is not x86-64";
  return fmt::format("{} has a CUDA runtime linked into it, and {}", file, why);
}

bool redirect(uintptr_t from, const void* to) {
  if (!kCanRedirect) return false;
  const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)), begin = from / page * page,
                  end = (from + kJumpBytes + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(begin);
  if (::mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  const auto code = jump_to(to);
  std::memcpy(reinterpret_cast<void*>(from), code.data(), code.size());
  ::mprotect(pages, end - begin, PROT_READ | PROT_EXEC);
  return true;
}

bool libraries_are_settled() { return _r_debug.r_state == r_debug::RT_CONSISTENT; }

bool watch_libraries(void (*notified)()) {
  const uintptr_t notification = _r_debug.r_brk;
  return kCanRedirect && notification != 0 && is_empty_function(reinterpret_cast<const uint8_t*>(notification)) &&
         redirect(notification, reinterpret_cast<const void*>(notified));
}

}  // namespace drywell::cudart
