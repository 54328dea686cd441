// Memory of a device after each probe, as text: one line per probe, one digest for each 256 bytes of each buffer.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/silicon/probes.h"
#include "drywell/launch/accelerator.h"

namespace drywell::kernels::silicon {

/// A probe's line. `buffers` has one word per buffer: "=" if it is unchanged, else the digests of its 256-byte pieces.
struct RecordLine {
  uint64_t program = 0;  // the probe's digest: a different program is a different probe
  std::string fault;     // empty: it ran
  std::vector<std::string> buffers;
  bool operator==(const RecordLine&) const = default;
};

struct Record {
  std::vector<std::string> provenance;  // "# device: …"
  std::vector<std::pair<std::string, RecordLine>> lines;
};

/// Runs the probe and describes the resulting memory. Frees the probe's memory. Throws as Probe::make does.
RecordLine observe(const Probe& probe, Accelerator& device, const sim::RunOptions& options);

std::string print_record(const Record& r);
/// Throws InputError E4506 if the text is not a record.
Record parse_record(std::string_view text, const std::string& name);

/// Returns "" if the lines agree, else the first difference: "buffer 1, bytes 512 to 767".
std::string difference(const RecordLine& device, const RecordLine& simulator);

}  // namespace drywell::kernels::silicon
