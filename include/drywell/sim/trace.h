// Traces of a run as line text: written by a listener, read and compared per owner. The functions have no state: any threads may
// call them at once. The format is in
// traces/README.md.
//
// throws now if it cannot be written
//   TraceWriter trace(file, {.run = "my kernel"});
//   options.listeners.push_back(trace.listener());
//   RunResult r = device.launch(…, options);
//   trace.finish(r);
//   file.commit();
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace drywell::sim {

class Listener;
struct RunResult;

/// Kind of records.
enum class TraceProfile : uint8_t {
  arch,   // no cycles: the records of every owner in its own order, independent of the interleaving
  cycle,  // with the cycle of every record (timed driver)
};
/// "arch" or "cycle".
std::string_view trace_profile_name(TraceProfile p);

/// Content of a trace, and its header.
struct TraceOptions {
  TraceProfile profile = TraceProfile::arch;  // cycle: for runs of the timed driver
  bool values = false;                        // also the register results of each instruction, as values or digests
  std::string run;                            // how to reproduce the run, for the header: "tma-copy --rows=64 --driver=eager"
  std::string arch;                           // name for the header
  uint64_t seed = 0;                          // of the shuffled driver, for the header
};

/// Destination of trace text.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Receives the next piece of the text; throws what the destination throws.
  virtual void write(std::string_view text) = 0;
};

/// A trace in memory.
class TraceText : public TraceSink {
 public:
  /// Appends.
  void write(std::string_view t) override { text += t; }
  std::string text;  // all of it
};

/// A file, compressed with zstd if its name ends in ".zst". It is not visible under its path until commit() (drywell/core/files.h).
class TraceFile : public TraceSink {
 public:
  /// Throws InputError E4008 if `path` cannot be written.
  explicit TraceFile(const std::string& path);
  ~TraceFile() override;
  /// Compresses and writes. Throws InputError E4008.
  void write(std::string_view text) override;
  /// Makes the file visible. Throws InputError E4008.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The listener. One writer serves several launches one after the other, not at the same time; call finish after each.
class TraceWriter {
 public:
  /// `sink` outlives the writer.
  TraceWriter(TraceSink& sink, TraceOptions options);
  ~TraceWriter();
  /// For RunOptions::listeners; belongs to the writer.
  Listener* listener();
  /// Ends a launch: records its fault, if any, and writes everything to the sink.
  void finish(const RunResult& result);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The text of a trace file, decompressed. Throws InputError E4001 (cannot be read), E4201 (not zstd, or cut
/// short, within a line if it is plain), E4202 (not a trace).
std::string read_trace(const std::string& path);

/// The head of a trace.
struct TraceHeader {
  TraceProfile profile = TraceProfile::arch;  // of its records
  std::string run, arch;                      // as in TraceOptions
  bool values = false;                        // it has register results
};
/// Throws InputError E4202, naming `name`, if `text` is not a trace.
TraceHeader parse_trace_header(std::string_view text, const std::string& name);

/// How two traces are compared.
struct TraceDiffOptions {
  std::string name_a = "a", name_b = "b";  // of the traces, in messages
  uint64_t cycle_tolerance = 0;            // cycle profile: greatest difference between two records' cycles
};

/// The result of a comparison.
struct TraceDiff {
  uint64_t owners = 0, differing_owners = 0, records = 0;  // compared; owners of either trace

  /// The first divergence in the order of `a`: owner, both records, source position, preceding records;
  /// empty if the traces agree.
  std::string message;
  /// True if the traces agree.
  bool equal() const { return differing_owners == 0; }
};

/// Compares two traces owner by owner (a warp, an mbarrier, an asynchronous operation), never the order of
/// records of different owners. Program counters are not compared, so that a moved line is no difference; the arch
/// profile also ignores the order of events on one mbarrier within a phase. Throws InputError E4202
/// for text that is no trace, or for traces of different profiles.
TraceDiff diff_traces(std::string_view a, std::string_view b, const TraceDiffOptions& options = {});

}  // namespace drywell::sim
