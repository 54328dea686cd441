// vprintf and __assertfail, the functions that CUDA's printf and assert call (CUDA C++ Programming Guide, formatted output,
// assertion).
#include <fmt/format.h>

#include <clocale>
#include <cstdio>

#include "sim/exec/call.h"
#include "sim/exec/memory.h"

namespace drywell::sim {
namespace {

constexpr size_t kMaxString = 1 << 16;

/// While an object lives, the calling thread formats numbers as in the "C" locale, whatever locale the program of this process has set.
/// With a GPU, the host prints in the locale of the program (docs/deviations.md).
class PlainNumbers {
 public:
  PlainNumbers() : plain_(::newlocale(LC_ALL_MASK, "C", nullptr)), before_(::uselocale(plain_)) {}
  ~PlainNumbers() {
    ::uselocale(before_);
    ::freelocale(plain_);
  }
  PlainNumbers(const PlainNumbers&) = delete;
  PlainNumbers& operator=(const PlainNumbers&) = delete;

 private:
  locale_t plain_, before_;
};

/// Reads the guest's memory through the generic addresses of one lane.
class GuestReader {
 public:
  GuestReader(Warp& w, uint32_t lane) : w_(w), lane_(lane) {}

  /// Copies `bytes`; if they cannot be read, returns false and keeps the address.
  bool read(uint64_t address, void* to, uint64_t bytes) {
    const uint8_t* p = resolve(w_, Space::generic, address, bytes, lane_, hint_);
    if (p == nullptr) {
      bad_ = address;
      return false;
    }
    std::memcpy(to, p, bytes);
    return true;
  }
  bool read_string(uint64_t address, std::string& out) {
    char c = 1;  // not 0, so that an unreadable first byte is not taken for the end
    for (; out.size() < kMaxString && read(address, &c, 1) && c != 0; ++address) out += c;
    return c == 0 || out.size() == kMaxString;
  }
  uint64_t bad() const { return bad_; }

 private:
  Warp& w_;
  uint32_t lane_;
  const Gmem::Allocation* hint_ = nullptr;
  uint64_t bad_ = 0;
};

/// The argument buffer: values at their natural alignment.
class Arguments {
 public:
  Arguments(GuestReader& reader, uint64_t address) : reader_(reader), at_(address) {}
  uint64_t next(uint32_t bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    uint64_t v = 0;
    ok_ = ok_ && reader_.read(at_, &v, bytes);
    at_ += bytes;
    ++count_;
    return v;
  }
  int count() const { return count_; }
  bool ok() const { return ok_; }

 private:
  GuestReader& reader_;
  uint64_t at_;
  int count_ = 0;
  bool ok_ = true;
};

template <class T>
std::string print(const std::string& spec, T value) {
  char small[128];
  const int n = std::snprintf(small, sizeof small, spec.c_str(), value);
  if (n < static_cast<int>(sizeof small)) return {small, static_cast<size_t>(std::max(n, 0))};
  std::string big(static_cast<size_t>(n) + 1, '\0');
  std::snprintf(big.data(), big.size(), spec.c_str(), value);
  big.pop_back();
  return big;
}

// Larger widths are treated as a mistake in the guest, so that the output has no gigabytes of blanks.
constexpr int kMaxWidth = 4096;

/// One conversion, from the position after its '%'.
class Conversion {
 public:
  Conversion(const std::string& format, size_t start, Arguments& args, GuestReader& reader) : format_(format), start_(start), at_(start), args_(args), reader_(reader) {}

  /// Returns its text.
  std::string text() {
    // The quote asks for groups of digits, of which the "C" locale has none.
    for (; is_one_of("-+ #0'"); ++at_) {
      if (format_[at_] != '\'') spec_ += format_[at_];
    }
    width();
    if (is_one_of(".")) {
      spec_ += format_[at_++];
      width();
    }
    for (; is_one_of("hlLzjt"); ++at_) size(format_[at_]);
    return at_ == format_.size() ? unchanged() : converted(format_[at_++]);
  }
  /// The position after it.
  size_t end() const { return at_; }

 private:
  bool is_one_of(std::string_view characters) const { return at_ < format_.size() && characters.find(format_[at_]) != std::string_view::npos; }
  std::string unchanged() const { return '%' + format_.substr(start_, at_ - start_); }

  /// Width or precision: digits, or '*' for an argument.
  void width() {
    if (is_one_of("*")) {
      spec_ += std::to_string(std::clamp(static_cast<int32_t>(args_.next(4)), -kMaxWidth, kMaxWidth));
      ++at_;
      return;
    }
    int v = 0;
    const size_t first = at_;
    while (is_one_of("0123456789")) v = std::min(kMaxWidth, v * 10 + (format_[at_++] - '0'));
    if (at_ != first) spec_ += std::to_string(v);
  }

  void size(char letter) {
    if (letter == 'h') {
      narrow_ /= 2;
    } else {
      wide_ = true;
    }
  }

  int64_t next_signed() {
    const auto v = static_cast<int64_t>(args_.next(wide_ ? 8 : 4));
    if (wide_) return v;
    return narrow_ == 1 ? static_cast<int8_t>(v) : narrow_ == 2 ? static_cast<int16_t>(v)
                                                                : static_cast<int32_t>(v);
  }
  uint64_t next_unsigned() {
    const uint64_t v = args_.next(wide_ ? 8 : 4);
    return wide_ ? v : v & (narrow_ == 1 ? 0xFFu : narrow_ == 2 ? 0xFFFFu
                                                                : 0xFFFFFFFFu);
  }
  std::string next_string() {
    std::string text;
    const uint64_t address = args_.next(8);
    if (address == 0) return "(null)";
    reader_.read_string(address, text);
    return text;
  }

  std::string converted(char c) {
    switch (c) {
      case '%': return "%";
      case 'd':
      case 'i': return print(spec_ + "lld", static_cast<long long>(next_signed()));
      case 'u':
      case 'x':
      case 'X':
      case 'o': return print(spec_ + "ll" + c, static_cast<unsigned long long>(next_unsigned()));
      case 'c': return print(spec_ + c, static_cast<int>(static_cast<uint8_t>(args_.next(4))));
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': return print(spec_ + c, std::bit_cast<double>(args_.next(8)));
      case 'p': return fmt::format("{:#x}", args_.next(8));
      case 's': return print(spec_ + c, next_string().c_str());
      default: return unchanged();  // as on the device
    }
  }

  const std::string& format_;
  size_t start_, at_;
  Arguments& args_;
  GuestReader& reader_;
  std::string spec_ = "%";
  bool wide_ = false;
  uint32_t narrow_ = 4;  // bytes of an integer that is not wide
};

}  // namespace

Effect exec_vprintf(Warp& w, const CallSite& site, LaneMask mask) {
  const PlainNumbers plain;
  std::string all;
  std::optional<uint64_t> bad;
  for_lanes(mask, [&](uint32_t lane) {
    GuestReader reader(w, lane);
    Arguments args(reader, call_argument(w, site, 1, lane));
    std::string format;
    if (!reader.read_string(call_argument(w, site, 0, lane), format)) bad = reader.bad();
    for (size_t i = 0; i < format.size();) {
      if (format[i] == '%') {
        Conversion conversion(format, i + 1, args, reader);
        all += conversion.text();
        i = conversion.end();
      } else {
        all += format[i++];
      }
    }
    if (!args.ok()) bad = reader.bad();
    set_call_result(w, site, lane, static_cast<uint64_t>(args.count()));
  });
  if (bad.has_value())
    return fault(w, Code::F3007, fmt::format("vprintf reads address {:#x}, where there is no memory", *bad));
  const Cluster& c = *w.cta->cluster;
  if (c.launch->output != nullptr) c.launch->output->append(c.index, all);
  return Effect::next;
}

Effect exec_assert_fail(Warp& w, const CallSite& site, LaneMask mask) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  GuestReader reader(w, lane);
  const auto text = [&](size_t index) {
    std::string s;
    reader.read_string(call_argument(w, site, index, lane), s);
    return s;
  };
  const Dim3 thread = w.cta->cluster->launch->block.at(uint64_t{w.index} * kWarpSize + lane);
  return fault(w, Code::F3702,
               fmt::format("{}:{}: {}: assertion `{}` failed in thread ({},{},{})", text(1),
                           static_cast<uint32_t>(call_argument(w, site, 2, lane)), text(3), text(0), thread.x,
                           thread.y, thread.z));
}

}  // namespace drywell::sim
