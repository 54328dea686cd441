// Throughput and memory of the PTX reader and printer on texts up to 25 MB, the size real debug builds have.
// The text is a kernel of the test corpus as nvcc made it, repeated under new names.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"

namespace {

using namespace drywell;

std::string corpus_file(const std::string& name) {
  std::ifstream in(DRYWELL_SOURCE_DIR "/tests/corpus/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string text_of(size_t bytes) {
  const std::string file = corpus_file("tma.ptx");
  const size_t header = file.find(".visible .entry"), name_end = file.find('(', header),
               end = file.find("\t.file");
  const std::string_view name(file.data() + header, name_end - header),
      body(file.data() + name_end, end - name_end);
  std::string text = file.substr(0, header);
  text.reserve(bytes + body.size());
  for (size_t copy = 0; text.size() < bytes; ++copy)
    text.append(name).append("_" + std::to_string(copy)).append(body);
  return text + file.substr(end);
}

size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void parse(benchmark::State& state) {
  const std::string text = text_of(static_cast<size_t>(state.range(0)));
  const size_t before = heap_in_use();
  size_t module_bytes = 0;
  for (auto _ : state) {
    isa::ParseResult r = isa::parse_ptx(text, "bench.ptx");
    if (r.diagnostics.has_errors()) state.SkipWithError(r.diagnostics.list()[0].to_string().c_str());
    module_bytes = heap_in_use() - before;
    benchmark::DoNotOptimize(r);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["module_bytes_per_text_byte"] =
      static_cast<double>(module_bytes) / static_cast<double>(text.size());
}
BENCHMARK(parse)->Arg(100'000)->Arg(25'000'000)->Unit(benchmark::kMillisecond);

void print(benchmark::State& state) {
  const isa::ParseResult r = isa::parse_ptx(text_of(static_cast<size_t>(state.range(0))), "bench.ptx");
  size_t bytes = 0;
  for (auto _ : state) bytes += isa::print_module(r.module).size();
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(print)->Arg(100'000)->Arg(25'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
