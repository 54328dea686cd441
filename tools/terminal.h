// Colours and the progress line.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "drywell/sim/device.h"

namespace drywell::tools {

enum class Colour : uint8_t { red, green, yellow, cyan, bold, dim };

/// `text` in a colour if `on`, else as it is.
std::string paint(std::string_view text, Colour colour, bool on);

/// True if the descriptor is a terminal and the user did not set NO_COLOR (no-color.org).
bool wants_colour(int fd);

/// Prints to stdout; a closed pipe ends the program quietly.
void print(std::string_view text);

/// "1,234,567"
std::string with_commas(uint64_t n);
/// "1.23 MB", decimal units
std::string with_unit(double value, std::string_view unit);

/// A line on stderr that tells what is going on and how far it is. Nothing unless stderr is a terminal;
/// appears after half a second.
class ProgressLine {
 public:
  /// Of one run, or of work that tells its phases alone.
  explicit ProgressLine(sim::RunProgress& progress);
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void phase(std::string_view what);
  /// Text on stdout, above the line.
  void print(std::string_view text);
  /// Erases the line for good.
  void end();

 private:
  void draw(double seconds);
  void wipe();
  sim::RunProgress none_;
  sim::RunProgress& progress_;
  bool active_ = false, drawn_ = false, stop_ = false;
  std::string phase_ = "starting";
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace drywell::tools
