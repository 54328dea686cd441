// Text that fits the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace drywell::tools {

/// Columns of the terminal that standard output is, or of the environment's COLUMNS where it is none; 0: no limit.
size_t terminal_columns();

/// Returns `text` with lines of at most `columns` columns (0: unchanged), broken between words. What continues a line stands
/// below its second column of words, if it has one ("  name     words words"), else two columns further in than its begin.
/// Colours take no room; a word that is wider than the terminal stays whole.
std::string fitted(std::string_view text, size_t columns);

}  // namespace drywell::tools
