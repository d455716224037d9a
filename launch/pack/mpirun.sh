#!/bin/sh
# mpirun - runs MPICH's launcher, Hydra. Adds only Hydra's libraries to LD_LIBRARY_PATH, because ranks inherit that variable.
root=$(cd "${0%/*}/.." && pwd)
export LD_LIBRARY_PATH="$root/lib/hydra${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/programs/hydra/mpirun" "$@"
