#!/usr/bin/env bash
# Measures on a GPU that is lent for minutes: the rules that matter most, `why`, and the layers of twelve models.
#
#   gpu_session.sh prepare CARRIED [PYTHON_VERSION]   here: download what the machine lacks
#   gpu_session.sh rules CARRIED RESULTS              there: the GPU column of 13 rules, and why on three examples
#   gpu_session.sh layers CARRIED RESULTS             there: the leading layer of the models of tests/why/heavy_models.py
#   gpu_session.sh rehearse CARRIED RESULTS           here: the same steps on the CPU, with JAX, one rule, small examples
#
# Each takes at most LIMIT seconds (default 570).
#
# The machine has a Python with JAX or PyTorch for CUDA, and no network. The examples import TensorFlow for their data;
# tensorflow-cpu is carried along in pieces of at most PIECE MiB (default 55), CARRIED/piece-*, in any number of transfers.
# PYTHON names the Python there (default python3). The same command again goes on where it was interrupted: RESULTS
# keeps each finished row and page.
set -euo pipefail

RULES=(KC301 KC208 KC411 KC407 KC310 KC213 KC303 KC402 KC401 KC109 KC110 KC103 KC112)
EXPLAINED=(device/missing_mixed_precision/gpu pipeline/serial_map layers/non_cudnn_rnn/gpu)
PACKAGES=(tensorflow-cpu keras libcst click packaging pathspec nvidia-ml-py hatchling)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage() { sed -n '4,7p' "${BASH_SOURCE[0]}" | cut -c 3- >&2; exit 2; }

prepare() {
    local carried=$1 version=${2:-3.12} wheels
    wheels=$(mktemp -d)
    python3 -m pip download --quiet --only-binary=:all: --python-version "$version" \
        --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \
        --platform manylinux2014_x86_64 --platform manylinux1_x86_64 \
        --dest "$wheels" "${PACKAGES[@]}"
    mkdir -p "$carried"
    rm -f "$carried"/piece-*
    tar -C "$wheels" -cf - . | split -b "${PIECE:-55}m" -d - "$carried/piece-"
    rm -rf "$wheels"
    du -m "$carried"/piece-*
}

install() {
    local carried=$1 python=${PYTHON:-python3} wheels
    [ -x "$carried/venv/bin/kerascheck" ] && return
    wheels=$(mktemp -d)
    cat "$carried"/piece-* | tar -C "$wheels" -xf -
    # JAX and PyTorch of the machine stay visible.
    "$python" -m venv --system-site-packages "$carried/venv"
    "$carried/venv/bin/python" -m pip install --quiet --no-index --find-links "$wheels" "${PACKAGES[@]}"
    "$carried/venv/bin/python" -m pip install --quiet --no-index --no-build-isolation --no-deps "$root"
    rm -rf "$wheels"
}

# Runs a command for at most the given seconds of what is left, and sets status; a failure ends only this step.
step() {
    local most=$1 left=$((LIMIT - SECONDS))
    shift
    [ "$left" -lt "$most" ] && most=$left
    status=124
    if [ "$most" -le 0 ]; then
        echo "+ no time left for: $*"
        return
    fi
    echo "+ at second $SECONDS: $*"
    status=0
    timeout --signal=INT --kill-after=15 "$most" "$@" || status=$?
    [ "$status" -eq 0 ] || echo "  ended with $status"
}

# Runs why on a script, and keeps its answer unless the run failed: the next time that is run again.
explain() {
    local script=$1 kind=$2 kept=$3
    [ -s "$kept" ] && return
    step 60 "${kerascheck[@]}" why "$script" --python "$python" --output-format "$kind" --output-file "$kept.part"
    if [ "$status" -eq 0 ]; then mv "$kept.part" "$kept"; fi
}

measure_layers() {
    local results=$1 script
    mkdir -p "$results/models"
    PYTHONPATH="$root/tests" "$python" - "$results/models" <<'EOF'
import pathlib
import sys

from why.heavy_models import HEAVY

for name, heavy in HEAVY.items():
    pathlib.Path(sys.argv[1], f"{name.replace(' ', '_')}.py").write_text(heavy.script())
EOF
    for script in "$results"/models/*.py; do
        explain "$script" json "${script%.py}.json"
    done
    PYTHONPATH="$root/tests" "$python" - "$results/models" <<'EOF'
import json
import pathlib
import sys

from why.heavy_models import HEAVY

for name, heavy in HEAVY.items():
    answer = pathlib.Path(sys.argv[1], f"{name.replace(' ', '_')}.json")
    rows = (json.loads(answer.read_text())["layers"] or {}).get("rows") if answer.exists() else None
    leads = f"{rows[0]['kind']} {rows[0]['share']:.0%}" if rows else "nothing"
    print(f"{name}: {leads}, expected {heavy.kind}")
EOF
}

measure_rules() {
    local results=$1 kind=$2 example
    step 60 "${kerascheck[@]}" doctor
    if [ "$kind" = rehearse ]; then
        RULES=(KC208)
        EXPLAINED=("${EXPLAINED[@]%/gpu}")
        step 120 "${kerascheck[@]}" evidence --budget 10 --update "$results/table.json" "${RULES[@]}"
    else
        step 400 "${kerascheck[@]}" evidence --gpu --budget 20 --update "$results/table.json" "${RULES[@]}"
    fi
    for example in "${EXPLAINED[@]}"; do
        explain "$root/rules/$example/slow.py" html "$results/$(basename "${example%/gpu}").html"
    done
}

measure() {
    local kind=$1 carried=$2 results=$3
    python=$carried/venv/bin/python
    kerascheck=("$python" -m kerascheck)
    export KERAS_BACKEND=${KERAS_BACKEND:-jax}
    mkdir -p "$results"
    install "$carried"
    if [ "$kind" != layers ]; then measure_rules "$results" "$kind"; fi
    if [ "$kind" != rules ]; then measure_layers "$results"; fi
}

LIMIT=${LIMIT:-570}
[ $# -ge 2 ] || usage
case $1 in
    prepare) prepare "$2" "${3:-}" ;;
    rules | layers | rehearse) [ $# -eq 3 ] || usage; measure "$1" "$(realpath "$2")" "$(realpath -m "$3")" ;;
    *) usage ;;
esac
