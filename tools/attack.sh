#!/usr/bin/env bash
# Attacks a build for hours: attack.sh [--hours N] [--seed S] [--build FOLDER]. Prints the counts of each part; inputs that break something are
# kept in FOLDER/findings-SEED. Runs on one core, behind other work.
set -euo pipefail
cd "$(dirname "$0")/.."
hours=2 seed=$(date +%s) build=build
while [ $# -gt 1 ]; do
  case $1 in
    --hours) hours=$2 ;;
    --seed) seed=$2 ;;
    --build) build=$2 ;;
    *) echo "attack.sh [--hours N] [--seed S] [--build FOLDER]" >&2; exit 2 ;;
  esac
  shift 2
done
seconds=$(awk "BEGIN { printf \"%.0f\", $hours * 3600 }")
echo "seed $seed, $seconds s, $(git rev-parse --short HEAD 2>/dev/null || echo 'no revision')"
exec nice -n 10 taskset -c 0 "$build/tests/attack/drywell_attack" --seconds "$seconds" --seed "$seed" --findings "$build/findings-$seed"
