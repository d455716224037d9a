#!/bin/sh
# mpirun - MPICH's, with its own libraries alone on the path that ranks inherit; it starts its proxy from beside itself.
root=$(cd "${0%/*}/.." && pwd)
export LD_LIBRARY_PATH="$root/lib/hydra${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/programs/hydra/mpirun" "$@"
