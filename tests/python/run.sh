#!/usr/bin/env bash
# usage: run.sh DRYWELL FOLDER "PACKAGES" TEST [OPTION…]: one test of Python programs; status 77 = skipped.
set -u
drywell=$1 folder=$2 packages=$3 test=$4
shift 4
python=${DRYWELL_TEST_PYTHON:-python3}
for package in $packages; do
  "$python" -c "import $package" 2>/dev/null || { echo "skipped: $python has no package $package (DRYWELL_TEST_PYTHON names another)"; exit 77; }
done
"$python" -c "" || { echo "skipped: no $python"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache
unset TRITON_CACHE_DIR TORCHINDUCTOR_CACHE_DIR TILELANG_CACHE_DIR CUPY_CACHE_DIR NUMBA_CACHE_DIR
cd "$folder" || exit 1
export PYTHONDONTWRITEBYTECODE=1
under() { "$drywell" python --python="$python" "$@"; }
fail() { echo "failed: $1"; exit 1; }
expect() { grep -q -- "$2" "$1" || { cat "$1"; fail "'$2' is not in it"; }; }

case $test in
  script) under "$@" ;;

  # The user's own sitecustomize and path stay; the arguments arrive; the status is the program's.
  start)
    mkdir "$scratch/own"
    echo 'print("own sitecustomize")' >"$scratch/own/sitecustomize.py"
    PYTHONPATH=$scratch/own under -c 'import sys; print(sys.argv, [p for p in sys.path if "python-boot" in p]); sys.exit(3)' a --driver >"$scratch/out" 2>"$scratch/err"
    [ $? = 3 ] || fail "the status is not the program's"
    expect "$scratch/out" "own sitecustomize"
    expect "$scratch/out" "\['-c', 'a', '--driver'\] \[\]"
    expect "$scratch/err" "kernels run in the simulator (sm_100a, driver eager)"
    # Object files that packages of CuTe DSL keep have no PTX.
    QUACK_CACHE_ENABLED=1 under -c "import os; print([os.environ[f'{p}_CACHE_ENABLED'] for p in ('QUACK', 'FLASH_ATTENTION_CUTE_DSL')])" >"$scratch/out" 2>"$scratch/err"
    expect "$scratch/out" "\['0', '0'\]"
    # What is compiled for the simulator must not come to lie in a framework's own cache.
    for cache in TRITON CUPY NUMBA; do
      under -c "import os; print(os.environ['${cache}_CACHE_DIR'])" >"$scratch/out" 2>"$scratch/err"
      expect "$scratch/out" "^$scratch/cache/drywell/"
    done
    # What a framework chose by times must not come from a run without a clock.
    for cache in TORCHINDUCTOR_CACHE_DIR TILELANG_CACHE_DIR; do
      for driver in timed eager; do under --driver=$driver -c "import os; print(os.environ['$cache'])" 2>"$scratch/err"; done | sort -u >"$scratch/out"
      [ "$(wc -l <"$scratch/out")" = 2 ] || fail "the timed driver shares $cache with the others"
    done
    ;;

  # The stand-in of ptxas: its version as Triton reads it, an envelope of the text, and what Drywell's validator refuses.
  ptxas)
    "$drywell" ptxas --version >"$scratch/out" || fail "no version"
    expect "$scratch/out" "release 13.0, V13.0"
    printf '.version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }\n' >"$scratch/k.ptx"
    "$drywell" ptxas -lineinfo -v --regAllocOptLevel=2 --gpu-name=sm_100a "$scratch/k.ptx" -o "$scratch/k.cubin" || fail "a right kernel is refused"
    [ "$(head -c 4 "$scratch/k.cubin" | tail -c 3)" = ELF ] || fail "no ELF file"
    expect "$scratch/k.cubin" ".visible .entry k() { ret; }"
    "$drywell" ptxas "$scratch/k.ptx" -o /dev/null || fail "-o /dev/null is refused"
    echo "nonsense" >>"$scratch/k.ptx"
    "$drywell" ptxas "$scratch/k.ptx" -o /dev/null 2>"$scratch/err" && fail "nonsense is accepted into /dev/null"
    "$drywell" ptxas "$scratch/k.ptx" -o "$scratch/none" 2>"$scratch/err" && fail "nonsense is accepted"
    [ -e "$scratch/none" ] && fail "nonsense has a cubin"
    expect "$scratch/err" "error E1"
    ;;

  dap) "$python" dap_session.py "$drywell" "$python" "$1" ;;

  # A wait that is forgotten: an error with both lines of the script, and the status.
  seeded)
    under --check triton_kernels.py forgotten_wait >"$scratch/out" 2>"$scratch/err" && fail "no error"
    expect "$scratch/err" "error H7002"
    expect "$scratch/err" "triton_kernels.py:$(grep -n 'blackwell.tcgen05_mma(a_tile' triton_kernels.py | cut -d: -f1)"
    expect "$scratch/err" "triton_kernels.py:$(grep -n 'hopper.tma.async_load(a,' triton_kernels.py | cut -d: -f1)"
    ;;

  # Accesses between the tensors of PyTorch's allocator, with their lines.
  between)
    for right in right views graph; do under --check between_tensors.py $right 2>"$scratch/err" || { cat "$scratch/err"; fail "$right has an error"; }; done
    for wrong in load store freed; do under --check between_tensors.py $wrong 2>"$scratch/err" && fail "$wrong has no error"; expect "$scratch/err" "error H7508"; done
    # With an allocation for each tensor it is a fault; PyTorch's next operation says that a kernel has failed.
    PYTORCH_NO_CUDA_MEMORY_CACHING=1 under between_tensors.py load 2>"$scratch/err" && fail "no fault"
    expect "$scratch/err" "fault F3001"
    expect "$scratch/err" "RuntimeError: a kernel has failed (its message is above)"
    under --check between_tensors.py load 2>"$scratch/err"
    expect "$scratch/err" "its last\|behind a tensor's 4000 bytes"
    expect "$scratch/err" "between_tensors.py:$(grep -n '# no mask$' between_tensors.py | cut -d: -f1)"
    under --check between_tensors.py store 2>"$scratch/err"
    expect "$scratch/err" "between_tensors.py:$(grep -n '# no mask either' between_tensors.py | cut -d: -f1)"
    ;;

  *) fail "no test '$test'" ;;
esac
