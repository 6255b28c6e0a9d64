#!/bin/sh
# Tunes three kernels, exports them, and builds and runs the programs of this folder:
#
#     docs/export/run.sh DEVICE EVALUATIONS [small|large] [FOLDER]
#
# DEVICE is that of ndtune's --device, EVALUATIONS the budget of each search. FOLDER, "tuned" by default, gets the logs,
# the headers and the programs. Set NDTUNE, CC and LIBS for another ndtune, compiler or OpenCL library.
set -e
if [ $# -lt 2 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
fi
device=$1 evaluations=$2 sizes=${3:-small} folder=${4:-tuned}
here=$(dirname "$0")
kernels=$here/../../kernels
case $sizes in
small) matmul=256 field=1024 keys=65536 ;;
large) matmul=4096 field=8192 keys=16777216 ;;
*) echo "sizes are small or large, not $sizes" >&2; exit 2 ;;
esac
mkdir -p "$folder"

# example NAME SPEC CONSTANTS, whose values are the arguments of the program
example()
{
    name=$1 spec=$2
    shift 2
    values=
    for constant in "$@"; do
        values="$values ${constant#*=}"
        set -- "$@" --set "$constant"
        shift
    done
    rm -f "$folder/$name.jsonl"
    "${NDTUNE:-ndtune}" tune "$spec" "$@" --device "$device" --max-evals "$evaluations" --no-peak -q --log "$folder/$name.jsonl" >/dev/null
    "${NDTUNE:-ndtune}" export "$spec" "$folder/$name.jsonl" --key "$name" --lang c -o "$folder" >/dev/null
    ${CC:-gcc} -std=c99 -O2 -Wall -Wextra -I"$folder" "$here/$name.c" ${LIBS:--lOpenCL} -lm -o "$folder/$name"
    "$folder/$name" $values
}

example matmul "$kernels/matmul/matmul_fast.yaml" m=$matmul n=$matmul k=$matmul
example diffusion "$kernels/diffusion/diffuse_stencil.yaml" nx=$field ny=$field
example sort "$here/sort.yaml" n=$keys
