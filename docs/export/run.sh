#!/bin/sh
# Tunes three kernels, exports them, and builds and runs the programs of this folder:
#
#     docs/export/run.sh DEVICE EVALUATIONS [small|large] [FOLDER]
#     LOGS=DIR docs/export/run.sh [small|large] [FOLDER]
#
# DEVICE is that of ndtune's --device, EVALUATIONS the budget of each search. FOLDER, "tuned" by default, gets the logs,
# the exported files, the programs, and run.sh, which runs the programs, also on another machine. With LOGS, nothing is
# tuned or run; DIR has matmul.jsonl, diffusion.jsonl and sort.jsonl, or some of them, which may have .gz after the name.
# LANGUAGES is "c" by default; it can have c and python. Set NDTUNE, CC, LIBS and PYTHON for another ndtune, C compiler,
# OpenCL library and Python.
set -e
usage()
{
    sed -n '2,12s/^# \{0,1\}//p' "$0"
    exit 2
}
if [ -z "$LOGS" ]; then
    [ $# -ge 2 ] || usage
    device=$1 evaluations=$2
    shift 2
fi
sizes=${1:-small} folder=${2:-tuned} languages=${LANGUAGES:-c}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
ndtune=${NDTUNE:-ndtune}
case $sizes in
small) matmul=256 field=1024 keys=65536 ;;
large) matmul=4096 field=8192 keys=16777216 ;;
*) echo "sizes are small or large, not $sizes" >&2; exit 2 ;;
esac
for language in $languages; do
    case $language in
    c | python) ;;
    *) echo "LANGUAGES has c and python, not $language" >&2; exit 2 ;;
    esac
done

mkdir -p "$folder"
cat >"$folder/run.sh" <<'END'
#!/bin/sh
# Runs the programs, each after a line with its command. PYTHON names the Python.
cd "$(dirname "$0")" || exit
status=0
run()
{
    echo "\$ $*"
    "$@" || status=1
}
END

# build NAME SIZES builds a program in each language, and adds it to the script that runs the programs.
build()
{
    name=$1
    shift
    for language in $languages; do
        case $language in
        c)
            ${CC:-gcc} -std=c99 -O2 -Wall -Wextra -I"$folder/exported" "$here/$name.c" ${LIBS:--lOpenCL} -lm -o "$folder/$name-c"
            echo "run ./$name-c $*" ;;
        python)
            cp "$here/$name.py" "$here/program.py" "$folder"
            echo "run \${PYTHON:-python3} $name.py $*" ;;
        esac >>"$folder/run.sh"
    done
}

# example NAME SPEC CONSTANTS, whose values are the arguments of the program
example()
{
    name=$1 spec=$2 log=$folder/$1.jsonl
    shift 2
    values=
    for constant in "$@"; do
        values="$values ${constant#*=}"
        set -- "$@" --set "$constant"
        shift
    done
    if [ -z "$LOGS" ]; then
        rm -f "$log"
        NDTUNE_NO_PEAK=1 "$ndtune" tune "$spec" "$@" --device "$device" --max-evals "$evaluations" -q --log "$log" >/dev/null
    else
        log=$LOGS/$name.jsonl
        [ -e "$log" ] || log=$log.gz
        [ -e "$log" ] || { echo "$LOGS has no $name.jsonl: $name is left out" >&2; return; }
    fi
    "$ndtune" export "$spec" "$log" --key "$name" --lang "$(echo $languages | tr ' ' ,)" -o "$folder/exported" >/dev/null
    build "$name" $values
}

example matmul "$root/kernels/matmul/matmul_fast.yaml" m=$matmul n=$matmul k=$matmul
example diffusion "$root/kernels/diffusion/diffuse_stencil.yaml" nx=$field ny=$field
example sort "$here/sort.yaml" n=$keys
grep -q '^run ' "$folder/run.sh" || exit 1
echo 'exit $status' >>"$folder/run.sh"
if [ -z "$LOGS" ]; then
    sh "$folder/run.sh"
else
    echo "sh $folder/run.sh runs the programs"
fi
