#!/usr/bin/env bash
# Runs our benchmarks and the peers' on the same input, one after the other on one core, and prints the ratios.
#
#   bench/peers/run_all.sh [twist] [drape] [contact] [motion] [holds]       (all without an argument)
#
# PYTHON is the interpreter with the peers (default: python3), DATA a scratch folder (default: target/bench-data).
# CELLS, SIDES and TRIANGLES choose the sizes, ITERATIONS and WIND (seconds of winding) the twist, STEPS the length of the
# drape, REPEATS how often each time is taken. The drape of 50 × 50 takes the peer a minute or two each time.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cd "$here/../.."
python="${PYTHON:-python3}"
data="${DATA:-target/bench-data}"
repeats="${REPEATS:-3}"
what="${*:-twist drape contact motion holds}"
export OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 RAYON_NUM_THREADS=1
export PYTHONDONTWRITEBYTECODE=1
one() { taskset -c "${CORE:-0}" "$@"; }

cargo build --release --package littoral-bench --bins
mkdir -p "$data"
log="$data/results.log"
: > "$log"
for job in $what; do
    case "$job" in
        twist)
            for n in ${CELLS:-50}; do
                one target/release/solver "$n" --iterations "${ITERATIONS:-4,10}" --threads 1 --steps 30 \
                    --wind "${WIND:-5}" --repeats "$repeats" --write "$data" | tee -a "$log"
                for k in $(tr , ' ' <<< "${ITERATIONS:-4,10}"); do
                    one "$python" "$here/newton_twist.py" "$data" "$n" --iterations "$k" --repeats "$repeats" | tee -a "$log"
                done
            done ;;
        drape)
            for n in ${SIDES:-20 50}; do
                one target/release/drape "$n" --steps "${STEPS:-600}" --repeats "$repeats" --write "$data" | tee -a "$log"
                one "$python" "$here/mujoco_drape.py" "$data" "$n" --steps "${STEPS:-600}" \
                    --repeats "$repeats" | tee -a "$log"
            done ;;
        contact)
            for n in ${TRIANGLES:-10000 50000 200000}; do
                one target/release/contact "$n" --write "$data" | tee -a "$log"
                one "$python" "$here/ipctk_contact.py" "$data" "$n" --repeats "$repeats" | tee -a "$log"
            done ;;
        motion)
            one target/release/motion --write "$data" | tee -a "$log"
            one "$python" "$here/newton_motion.py" "$data" | tee -a "$log"
            one "$python" "$here/mujoco_motion.py" "$data" | tee -a "$log" ;;
        holds)
            one target/release/holds --write "$data" | tee -a "$log"
            one "$python" "$here/newton_holds.py" "$data" | tee -a "$log"
            one "$python" "$here/mujoco_holds.py" "$data" | tee -a "$log" ;;
        *) echo "run_all.sh: not twist, drape, contact, motion or holds: $job" >&2; exit 2 ;;
    esac
done
echo
"$python" "$here/table.py" < "$log"
