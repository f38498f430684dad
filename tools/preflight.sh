#!/bin/sh
# Checks what `make` cannot install by itself, and says what to do about it.
# Usage: tools/preflight.sh PYTHON
set -eu

python=$1
problems=0

problem() {
  problems=1
  printf 'flexicase: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '    %s\n' "$line" >&2; done
}

check_python() {
  if ! command -v "$python" >/dev/null 2>&1; then
    problem "there is no '$python' on this machine; Python 3.10 or later is needed." \
      "Debian, Ubuntu: apt-get install python3 python3-venv python3-dev" \
      "elsewhere:      make PYTHON=/where/it/is/python3"
    return
  fi
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    problem "'$python' is $("$python" -V 2>&1); Python 3.10 or later is needed." \
      "If a later one is installed: make PYTHON=python3.12"
    return
  fi
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    problem "'$python' cannot make virtual environments (no venv or ensurepip)." \
      "Debian, Ubuntu: apt-get install python3-venv"
  fi
  if ! "$python" -c '
import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'; then
    problem "'$python' has no header files (Python.h)." \
      "Debian, Ubuntu: apt-get install python3-dev" \
      "Fedora:         dnf install python3-devel"
  fi
}

check_compiler() {
  compiler=${CXX:-}
  for candidate in c++ g++ clang++; do
    if [ -z "$compiler" ] && command -v "$candidate" >/dev/null 2>&1; then compiler=$candidate; fi
  done
  install_one='Debian, Ubuntu: apt-get install g++        (11 or later; clang++ 14 or later will do)'
  if [ -z "$compiler" ]; then
    problem "there is no C++ compiler on this machine." "$install_one" \
      "Fedora:         dnf install gcc-c++" "macOS:          xcode-select --install"
    return
  fi
  flags=-std=c++20
  if [ "$(uname -m)" = x86_64 ]; then flags="$flags -march=x86-64-v4"; fi
  # CXX may carry options, so it is split into words.
  # shellcheck disable=SC2086
  if ! $compiler $flags -x c++ -o "$scratch/program" - 2>"$scratch/messages" <<'PROGRAM'; then
#include <bit>
#include <memory>
#include <thread>
int main() {
  auto memory = std::make_unique_for_overwrite<unsigned[]>(4);
  memory[0] = 7;
  return std::popcount(memory[0]) - 3;
}
PROGRAM
    problem "the C++ compiler '$compiler' cannot build a C++20 program ($flags):" \
      "$(head -n 3 "$scratch/messages")" "$install_one" "To use another one: make CXX=clang++"
  fi
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check_python
check_compiler
exit "$problems"
