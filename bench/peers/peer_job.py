"""peer_job.py - ranks of a run and their machines: barriers and gathers on the host, CPU time of other processes."""

import os
import socket

import torch.distributed as dist

from peer_data import Refused

LAUNCHERS = [  # environment variables of torchrun, MPICH, Open MPI, Slurm: rank, ranks, rank on this host
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"),
]


class Job:
    """A run's ranks. Barriers and gathers use gloo, whatever backend reduces gradients, while nothing is in flight."""

    def __init__(self):
        self.rank, self.size, self.local_rank = 0, 1, 0
        for rank, size, local in LAUNCHERS:
            if rank in os.environ and size in os.environ:
                self.rank, self.size = int(os.environ[rank]), int(os.environ[size])
                self.local_rank = int(os.environ.get(local, 0))
                break

    def begin(self, backend):
        """Connects the ranks: by the variables MASTER_ADDR and MASTER_PORT, or else at port 29500 of this host."""
        if self.size == 1 and "MASTER_ADDR" not in os.environ:
            dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
        else:
            os.environ.setdefault("MASTER_ADDR", "localhost")
            os.environ.setdefault("MASTER_PORT", "29500")
            dist.init_process_group(backend, rank=self.rank, world_size=self.size)
        self.control = dist.new_group(backend="gloo")
        self.places = self.gather((socket.gethostname(), machine(), sorted(os.sched_getaffinity(0))))
        self.hosts = len({host for host, _, _ in self.places})

    def end(self):
        if dist.is_initialized():
            dist.destroy_process_group()

    def barrier(self):
        dist.barrier(self.control)

    def gather(self, mine):
        """Returns, on every rank, the values of `mine` of all ranks, in order of ranks."""
        everyone = [None] * self.size
        dist.all_gather_object(everyone, mine, group=self.control)
        return everyone

    def agree(self, make):
        """Returns make(). If a rank raises Refused, all do, with the message of the first such rank. All must call."""
        made, words = None, ""
        try:
            made = make()
        except Refused as refused:
            words = str(refused)
        for failure in self.gather(words):
            if failure:
                raise Refused(failure)
        return made

    def cores_per_rank(self):
        """Returns how many logical CPUs this rank may use, each CPU divided by the number of ranks that may use it."""
        _, mine, cpus = self.places[self.rank]
        sharing = [sum(c in set(s) for _, m, s in self.places if m == mine) for c in cpus]
        return sum(sharing.count(n) / n for n in set(sharing))


def machine():
    """Returns a name of the running kernel, which is the same in all containers of a machine."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def machine_cpu_seconds():
    """Returns the CPU seconds of all that ran on the machine since boot, without idle time and waits for disks."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, soft, steal = (int(x) for x in file.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def cores_of_others(job, reports):
    """Returns how many cores other processes used around a block, on the machine where they used most; NaN if the block
    is too short for the clocks. A report holds process_cpu, machine_cpu and around (elapsed time), in s."""
    worst, machines = 0.0, [m for _, m, _ in job.places]
    for r, name in zip(reports, machines, strict=True):
        ranks = sum(other["process_cpu"] for other, m in zip(reports, machines, strict=True) if m == name)
        worst = max(worst, (r["machine_cpu"] - ranks) / r["around"])
    return worst if max(r["around"] for r in reports) >= 0.2 else float("nan")


def cpu_list(cpus):
    """Returns a list of CPUs in short, such as 0-2,8 for [0, 1, 2, 8]."""
    parts = []
    for c in cpus:
        if parts and parts[-1][1] == c - 1:
            parts[-1][1] = c
        else:
            parts.append([c, c])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def host_facts():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return {"cpu": names[0] if names else "", "kernel": f"{os.uname().sysname} {os.uname().release}"}
