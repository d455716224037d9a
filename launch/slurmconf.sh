# slurmconf.sh - the settings of the jobs of slurm.sh: their names, their values, and the configuration file.
# Sourced by slurm.sh, which defines die_of_slurm(), need_slurm(), check_names() and add_settings(), and sets program.
# shellcheck shell=bash disable=SC2154 # set by slurm.sh

# A row is KEY;DEFAULT;PATTERN;EXPECTED VALUE; slurm.conf has the keys in this order. The option of a key has - for each _.
setting_rows=(
    "partition;;[A-Za-z0-9_.+-]{0,99};a name of letters, digits and _ . + -, or nothing (Slurm's default)"
    "account;;[A-Za-z0-9_.@+-]{0,99};a name of letters, digits and _ . @ + -, or nothing"
    "time;60;[1-9][0-9]{0,5}|[0-9]{1,4}:[0-5][0-9]:[0-5][0-9]|[0-9]{1,3}-[0-9]{1,2}(:[0-5][0-9]){0,2};minutes such as 30, or H:MM:SS, or DAYS-HH:MM:SS"
    "gpus_per_node;0;[0-9]{1,3};a number from 0 to 999"
    "tasks_per_node;1;[1-9][0-9]{0,3};a number from 1 to 9999"
    "cpus_per_task;;([1-9][0-9]{0,3})?;a number from 1 to 9999, or nothing (Slurm's default)"
    "constraint;;[]A-Za-z0-9_.,:&|*()@+[-]{0,200};features such as a100 or 'haswell&ssd', or nothing"
    "qos;;[A-Za-z0-9_.@+-]{0,99};a name of letters, digits and _ . @ + -, or nothing"
    "mpi;pmi2;pmi2|pmix;pmi2 or pmix"
    "modules;;([A-Za-z0-9._/+-]+( [A-Za-z0-9._/+-]+)*)?;names such as 'mpich/4.0 cuda', separated by single blanks, or nothing"
    "exclusive;yes;yes|no;yes or no"
)
keys=("${setting_rows[@]%%;*}")
declare -A conf=() # conf[KEY]: value; '' is Slurm's default

# set_setting NAME VALUE [PLACE]: sets conf. NAME is a key or its option. PLACE is the file and line of the setting, for
# the error message.
set_setting() {
    local row key expected pattern
    for row in "${setting_rows[@]}"; do
        IFS=';' read -r key _ pattern expected <<<"$row"
        [[ $1 != "--${key//_/-}" && $1 != "$key" ]] || break
    done
    [[ $2 =~ ^($pattern)$ && ($key != time || $2 == *[1-9]*) ]] || usage_error "${3:-}$1 '$2': expected $expected"
    conf[$key]=$2
}

# read_configuration FILE: sets conf. Does not execute the file.
read_configuration() {
    local line key n=0 text
    [ -e "$1" ] || usage_error "there is no configuration $1; make one: launch/slurm.sh configure"
    read_text "the configuration" "$1"
    while IFS= read -r line || [ -n "$line" ]; do
        n=$((n + 1))
        [[ $line != '#'* && -n $line ]] || continue
        key=${line%%=*}
        [[ $line == *=* && " ${keys[*]} " == *" $key "* && $key != *" "* ]] ||
            usage_error "$1, line $n: '$line': expected KEY=value, with one of these keys: ${keys[*]}"
        [ -z "${conf[$key]+given}" ] || usage_error "$1, line $n: $key is set twice"
        set_setting "$key" "${line#*=}" "$1, line $n: "
    done <<<"$text"
    set_fixed_defaults
}

# read_partition PARTITION: sets the array `of_partition`: name, number of nodes, and the smallest numbers of CPUs and of
# GPUs that a node has. '' is the default partition.
read_partition() {
    local facts only=()
    [ -z "$1" ] || only=(-p "$1")
    facts=$(timeout 60 sinfo -h "${only[@]}" -o '%P %D %c %G' 2>&1) || die_of_slurm "$facts"
    facts=$(awk -v all="$1" '
        all == "" && $1 !~ /[*]$/ { next }
        {
            sub(/[*]$/, "", $1)
            gpus = 0
            if (match($4, /gpu:([^:,(]*:)?[0-9]+/)) {
                gpus = substr($4, RSTART, RLENGTH)
                sub(/.*:/, "", gpus)
            }
            name = $1
            nodes += $2
            if (cpus == "" || $3 + 0 < cpus) cpus = $3 + 0
            if (fewest == "" || gpus + 0 < fewest) fewest = gpus + 0
        }
        END { if (nodes) print name, nodes, cpus, fewest }' <<<"$facts")
    [ -n "$facts" ] ||
        usage_error "partition '$1': Slurm has none of that name; it has: $(timeout 60 sinfo -h -o %R | sort -u | paste -sd ' ')"
    read -r -a of_partition <<<"$facts"
}

# take_environment [KEY...]: sets partition and account from SLURM_PARTITION and SLURM_ACCOUNT, which profiling_config.sh
# exports; leaves the settings KEY... as they are.
take_environment() {
    local key variable
    for variable in SLURM_PARTITION SLURM_ACCOUNT; do
        key=$(LC_ALL=C tr '[:upper:]' '[:lower:]' <<<"${variable#SLURM_}")
        [[ -z ${!variable:-} || " $* " == *" $key "* ]] || set_setting "$key" "${!variable}" "$variable: "
    done
}

# program_mpi: prints the srun plugin for the program's MPI, pmi2 or pmix, or nothing if its libraries do not show which MPI it is.
program_mpi() {
    local libraries
    libraries=$(ldd "$program" 2>/dev/null) || return 0
    if grep -qE 'libopen-(rte|pal)|libpmix' <<<"$libraries"; then
        echo pmix
    elif grep -q libmpi <<<"$libraries"; then
        echo pmi2
    fi
}

# set_default KEY VALUE: sets a setting to VALUE unless it was given.
set_default() { [ -n "${conf[$1]+given}" ] || conf[$1]=$2; }

set_fixed_defaults() {
    local row key default
    for row in "${setting_rows[@]}"; do
        IFS=';' read -r key default _ <<<"$row"
        set_default "$key" "$default"
    done
}

# set_defaults OFFERED: sets the defaults that depend on the partition, the program, and the output of srun --mpi=list
# (OFFERED).
set_defaults() {
    local share mpi
    set_default partition "${of_partition[0]}"
    set_default gpus_per_node "${of_partition[3]}"
    set_default tasks_per_node $((conf[gpus_per_node] > 0 ? conf[gpus_per_node] : 1))
    share=$((of_partition[2] / conf[tasks_per_node]))
    [ $share = 0 ] || [ "${conf[exclusive]:-yes}" = no ] || set_default cpus_per_task $share
    for mpi in "$(program_mpi)" pmi2 pmix; do
        [ -z "$mpi" ] || ! grep -qw "$mpi" <<<"$1" || set_default mpi "$mpi"
    done
    set_fixed_defaults
}

write_configuration() {
    local key
    echo "# Written by launch/slurm.sh; \`configure\` replaces this file. An empty value means Slurm's own default."
    for key in "${keys[@]}"; do
        echo "$key=${conf[$key]}"
    done
}

# write_environment: prints partition and account as commands for a shell.
write_environment() {
    local pair
    echo "# Written by launch/slurm.sh; \`source\` this file: srun, salloc and launch/slurm.sh submit then use these settings."
    for pair in "SLURM_PARTITION=${conf[partition]}" "SLURM_ACCOUNT=${conf[account]}"; do
        if [ -n "${pair#*=}" ]; then echo "export ${pair%%=*}='${pair#*=}'"; else echo "unset ${pair%%=*}"; fi
    done
}

# configure FILE: writes the settings given as options, and the defaults of the others, to FILE, and profiling_config.sh.
configure() {
    local error offered options=() usual environment
    environment=$(dirname "$1")/profiling_config.sh
    check_replaceable "$1" '# Written by launch/slurm.sh;'
    check_replaceable "$environment" '# Written by launch/slurm.sh;'
    need_slurm
    check_names
    take_environment "${!conf[@]}"
    read_partition "${conf[partition]:-}"
    offered=$(timeout 60 srun --mpi=list 2>&1) || die_of_slurm "$offered"
    set_defaults "$offered"
    [ "${conf[gpus_per_node]}" -le "${of_partition[3]}" ] ||
        usage_error "--gpus-per-node ${conf[gpus_per_node]}: a node of partition ${of_partition[0]} has ${of_partition[3]}"
    grep -qw "${conf[mpi]}" <<<"$offered" || usage_error "--mpi ${conf[mpi]}: srun --mpi=list does not list it"
    usual=$(program_mpi)
    [ "${usual:-${conf[mpi]}}" = "${conf[mpi]}" ] ||
        say "--mpi ${conf[mpi]}: the MPI of $program is usually started by $usual; check that a first job has all of its ranks"
    error=$(mkdir -p "$(dirname "$1")" 2>&1) || die "cannot make the directory $(dirname "$1"): ${error##*: }"
    error=$(write_file "$1" write_configuration 2>&1) || die "cannot write $1: ${error##*: }"
    error=$(write_file "$environment" write_environment 2>&1) || die "cannot write $environment: ${error##*: }"
    cat "$1"
    add_job_options 1 "${conf[gpus_per_node]}"
    error=$(timeout 60 sbatch --test-only "${options[@]}" --wrap true 2>&1) || say "Slurm would reject a job with these settings now: $error"
    say "configured: $1"
}
