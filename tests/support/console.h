// Terminal sessions in Markdown are run again and compared, so that the pages stay correct.
//
//   ```console
//   $ drywell layout 'coalesce((2,(1,6)):(1,(6,2)))'
//   12:1
//   $ drywell step k.ptx            lines that begin with a prompt are input: they go to the program's
//   (drywell) step                  standard input and appear in its output
//   …
//   $ drywell desc smem 0x0         a failure ends with its exit code
//   drywell: …
//   [exit 3]
//   ```
//
// Commands run under sh in one fresh directory per page, where `kernels`, `tests` and `traces` are those of the source tree;
// lines that begin with "> " continue the command above (here-documents). Standard output and error are compared together.
// A line of only `...` matches any number of lines, `…` inside a line any text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drywell::test {

struct ConsoleCommand {
  size_t line = 0;    // of its "$ " in the page, from 1
  std::string shell;  // command for sh
  std::string input;  // typed lines
  std::vector<std::string> expected;
};

/// The prompt whose lines are typed.
inline constexpr std::string_view kTypedPrompt = "(drywell) ";

std::vector<ConsoleCommand> parse_console(std::string_view markdown);

/// True if `actual` matches `expected` with its wildcards.
bool console_matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

/// Runs every command of the page and adds a test failure for each with another output. With the environment variable
/// DRYWELL_REWRITE_SESSIONS set, writes the output into the page instead.
void replay_console(const std::string& page);

}  // namespace drywell::test
