// Whole files, read and written with one clear message when that fails.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drywell {

/// Throws InputError E4001 if `path` is not a regular file or cannot be read.
std::vector<std::byte> read_file(const std::string& path);
std::string read_text_file(const std::string& path);

/// Writes beside `path` and renames, so that `path` is either the whole new file or what it was before.
/// Throws InputError E4008 (cannot be written).
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace drywell
