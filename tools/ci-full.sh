#!/usr/bin/env bash
# What is run whole before an issue is closed, and takes hours: ci-full.sh [PART…], all parts without words. Each part can run alone, has a build
# folder of its own beside $DRYWELL_BUILD_DIR (build), and says its minutes. A part that finds something does not keep the others from running.
#   clang    another compiler builds everything; quick tests
#   quick    address and undefined sanitizers: the quick tests
#   thread   thread sanitizer: kernels under functional and timed drivers with 4 threads
#   corpus   address and undefined sanitizers: every PTX file, launch file and conformance program ($DRYWELL_CORPUS: a regular expression of commands)
#   tidy     clang-tidy over the sources ($DRYWELL_TIDY: a regular expression of paths)
#   fuzz     each fuzzer for $DRYWELL_FUZZ_SECONDS (60)
#   aarch64  cross build; golden traces and every third conformance program under user-mode emulation
#   coverage lines that the quick tests run
#   install  `pip install .` in an empty environment: everything is built from nothing
# DRYWELL_SAMPLE=N takes one of N commands of the corpus and sources of clang-tidy, the same ones each time.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
base=${DRYWELL_BUILD_DIR:-build}
tools/install-deps.sh full || exit 1
compiler=clang++-16
command -v "$compiler" >/dev/null || compiler=clang++
version=$("$compiler" -dumpversion) || exit 1
[ "${version%%.*}" -ge 16 ] || { echo "ci-full.sh: $compiler is $version; clang 16 or newer is needed" >&2; exit 1; }

# configure FOLDER OPTIONS…
configure() {
  local folder=$1
  shift
  mkdir -p "$folder"
  cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DDRYWELL_UNITY=ON "$@" >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; return 1; }
}

# sampled: those lines of its input that are in the sample.
sampled() {
  local line sum
  while IFS= read -r line; do
    sum=$(cksum <<<"$line")
    [ $((${sum%% *} % ${DRYWELL_SAMPLE:-1})) -ne 0 ] || printf '%s\n' "$line"
  done
}

clang() {
  configure "$base-clang" -DCMAKE_CXX_COMPILER=$compiler "-DCMAKE_CXX_FLAGS_RELEASE=-O1" &&
    cmake --build "$base-clang" --parallel "$(nproc)" --target drywell_programs drywell_quick_tests &&
    tools/ci/headers.sh "$compiler" && ctest --test-dir "$base-clang" --output-on-failure --parallel "$(nproc)" -L quick
}

quick() { tools/ci/sanitized.sh; }

thread() {
  tools/ci/sanitized.sh thread drywell -- -N -L none >/dev/null || return 1
  local kernel driver bad=0
  for kernel in "fused-rht --m=512 --n=512" "gemm-bf16 --m=512 --n=512 --k=256" "gemm-blockscaled --m=512 --n=512 --k=256 --cta-group=2" "quantize-nvfp4 --rows=512 --columns=512" "tma-copy"; do
    for driver in eager lazy shuffled:3 timed; do
      # shellcheck disable=SC2086 # the words of a kernel are several
      TSAN_OPTIONS=halt_on_error=1 "$base-thread/tools/drywell" run $kernel --driver=$driver --threads=4 --check --verify >"$base-thread/out" 2>&1 ||
        { echo "$kernel --driver=$driver"; tail -n 60 "$base-thread/out"; bad=1; }
    done
  done
  return $bad
}

# ends_well COMMAND WORDS: any end of the command but a sanitizer's and a bug of Drywell's (70) is one. Those that the time limit ends are listed.
ends_well() {
  local output rc
  # shellcheck disable=SC2086 # the words are several
  output=$("$1" $2 </dev/null 2>&1)
  rc=$?
  ! grep -q F3605 <<<"$output" || echo "$2" >>"$1.limited"
  [ $rc -lt 70 ] && ! grep -qE 'runtime error:|Sanitizer' <<<"$output" && return 0
  printf 'drywell %s: %s\n%s\n' "$2" "$rc" "$(tail -n 40 <<<"$output")"
  return 1
}

# A minute each with the sanitizers: whole, the family of tensor instructions took eleven on one core while the others had nothing left to do.
parts_of_conformance=24

# The words of every command of the corpus, a line each; the long ones first.
corpus_commands() {
  local driver
  for driver in eager lazy shuffled:5 timed; do seq "$parts_of_conformance" | sed "s#.*#conformance --driver=$driver --part=&/$parts_of_conformance#"; done
  "$1" list --names | sed 's/.*/run & --verify --check/'
  git ls-files '*.toml' | grep -E '^(examples|tests/corpus)/' | sed 's/.*/run & --driver=eager --check=full --timeout=20s\nrun & --driver=timed --check=full --timeout=20s/'
  git ls-files '*.ptx' | sed 's/^/ptx check /'
}

corpus() {
  local folder=$base-corpus
  DRYWELL_BUILD_DIR=$folder DRYWELL_SANITIZED_FLAGS="-O1 -g1" tools/ci/sanitized.sh address,undefined drywell drywell_lab drywell_debug -- -N -L none >/dev/null || return 1
  local d=$folder-address-undefined/tools/drywell commands=$folder-address-undefined/corpus
  corpus_commands "$d" | grep -E "${DRYWELL_CORPUS:-.}" | sampled >"$commands"
  export -f ends_well
  export UBSAN_OPTIONS=print_stacktrace=1
  rm -f "$d.limited"
  local rc=0
  xargs -a "$commands" -P "$(nproc)" -d '\n' -n 1 bash -c 'ends_well "$0" "$1"' "$d" || rc=1
  echo "corpus: $(wc -l <"$commands") commands, of which $(cat "$d.limited" 2>/dev/null | wc -l) reached their time limit"
  return $rc
}

tidy() {
  configure "$base-tidy" -DCMAKE_CXX_COMPILER=$compiler -DDRYWELL_UNITY=OFF -DDRYWELL_PRECOMPILE=OFF || return 1
  # shellcheck disable=SC2046 # names of files that the build makes, without blanks
  ninja -C "$base-tidy" $(ninja -C "$base-tidy" -t targets all | sed -n 's/^\(generated[^:]*\): .*/\1/p') >/dev/null || return 1
  local program=clang-tidy-16 log=$base-tidy/tidy.log
  command -v "$program" >/dev/null || program="clang-tidy"
  # A clang-tidy that crashes would end xargs and pass for one that found nothing: `sh` answers for it.
  git ls-files '*.cpp' | grep -E "${DRYWELL_TIDY:-^(core|isa|sim|launch|kernels|tools)/}" | sampled |
    xargs -n 1 -P "$(nproc)" sh -c '"$0" -p "$1" --quiet "$2" 2>/dev/null || echo "$2: error: $0 ended with $?"' "$program" "$base-tidy" >"$log"
  sed -n 's/.*\[\([a-z.-]*\)\]$/\1/p' "$log" | sort | uniq -c | sort -rn
  echo "clang-tidy: $(grep -c 'warning:' "$log") warnings in $log"
  ! grep 'error:' "$log"
}

# fuzzed PROGRAM: one fuzzer for its time, from its own inputs; a line that says how it ended.
fuzzed() {
  local log=$base-fuzz/$1.log rc=0 name=${1#drywell_} length=4096 options=()
  name=${name%_fuzz}
  case $name in
    parse | execute) options=(-dict=tests/fuzz/ptx.dict) ;;
    elf | fatbin | runtime_archive | packed_trace) length=65536 ;;
    dap) length=16384 ;;
  esac
  mkdir -p "$base-fuzz/$1.inputs"
  # Otherwise undefined behaviour is a line in the log, and the fuzzer goes on.
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$base-fuzz/tests/fuzz/$1" -max_total_time="${DRYWELL_FUZZ_SECONDS:-60}" -max_len=$length "${options[@]}" -artifact_prefix="$base-fuzz/$1-" \
    "$base-fuzz/$1.inputs" "$base-fuzz/inputs/$name" >"$log" 2>&1 || rc=1
  [ $rc -eq 0 ] || tail -n 40 "$log"
  echo "$1: $(sed -n 's/^Done \(.*\)/\1/p' "$log")"
  return $rc
}

fuzz() {
  configure "$base-fuzz" -DCMAKE_CXX_COMPILER=$compiler -DDRYWELL_FUZZ=ON -DDRYWELL_SANITIZE=fuzzer-no-link,address,undefined "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -g1" -DDRYWELL_PRECOMPILE=OFF \
    -DDRYWELL_BUILD_TESTS=OFF || return 1
  local targets
  mapfile -t targets < <(sed -n 's/^drywell_fuzzer(\([a-z_]*\).*/drywell_\1_fuzz/p' tests/fuzz/CMakeLists.txt)
  cmake --build "$base-fuzz" --parallel "$(nproc)" --target "${targets[@]}" drywell_fuzz_seeds || return 1
  rm -rf "$base-fuzz/inputs"
  "$base-fuzz/tests/fuzz/drywell_fuzz_seeds" "$base-fuzz/inputs" || return 1
  export -f fuzzed
  export base
  printf '%s\n' "${targets[@]}" | xargs -n 1 -P "$(nproc)" bash -c 'fuzzed "$0"'
}

aarch64() { tools/ci/aarch64.sh; }

coverage() {
  configure "$base-coverage" -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 --coverage -fprofile-update=atomic" -DDRYWELL_PRECOMPILE=OFF || return 1
  cmake --build "$base-coverage" --parallel "$(nproc)" --target drywell_quick_tests || return 1
  local rc=0
  ctest --test-dir "$base-coverage" --output-on-failure --parallel "$(nproc)" -L quick || rc=1
  gcovr -j "$(nproc)" --root . --object-directory "$base-coverage" --exclude tests --txt "$base-coverage/coverage.txt" --print-summary "$base-coverage" && return $rc
}

install() {
  local python=$base-python
  tools/ci/python.sh "$python" && DRYWELL_TEST_PIP=1 "$python/bin/python" -m pytest -q python/tests/test_install.py
}

known=(clang quick thread corpus tidy fuzz aarch64 coverage install)
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${known[@]}")
failed=()
for part in "${parts[@]}"; do
  [[ " ${known[*]} " == *" $part "* ]] || { echo "ci-full.sh [${known[*]}]" >&2; exit 2; }
  begin=$SECONDS
  echo "=== $part"
  "$part" || failed+=("$part")
  echo "=== $part: $(((SECONDS - begin + 30) / 60)) minutes"
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
