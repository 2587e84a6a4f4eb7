"""Devices: the cores and devices of this machine that each concurrent process may use."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lkecore.errors import BadInput


@dataclass(frozen=True)
class Settings:
    """How a plan is run. No setting is part of a run's key."""

    jobs: int | None = None  # how many run at a time; None: one, or one for each group of devices
    threads: int | None = None  # of each job; None: cores divided by jobs
    devices: tuple[str, ...] | None = None  # CUDA ids; None: all that there are
    devices_per_job: int = 1
    retries: int = 1  # of a job that failed
    timeout: float | None = None  # seconds that a job may take
    shard: tuple[int, int] = (1, 1)  # the i-th of n parts of the plan, for job arrays
    offline: bool = False
    leave: bool = False  # end when all jobs that are left are being made by others
    worker: tuple[int, int] = (1, 1)  # (i, n): this one begins at the i-th of n places of the queue


def share_of(jobs: Sequence[Any], settings: Settings) -> list[Any]:
    """The jobs of a shard, beginning with the place at which a worker begins."""
    (i, n), (place, of) = settings.shard, settings.worker
    mine = list(jobs[i - 1 :: n])
    begin = len(mine) * (place - 1) // of
    return mine[begin:] + mine[:begin]


def _groups(settings: Settings) -> list[str | None]:
    """The devices of each concurrent job: "0", "1", ... or "0,1", "2,3", ...; "" hides all devices.

    None leaves the environment as it is, on a machine that has no devices.
    """
    devices = settings.devices if settings.devices is not None else cuda_devices()
    size = settings.devices_per_job
    if settings.devices_per_job > max(1, len(devices)):
        raise BadInput(f"{size} devices for each job asked for, and there are {len(devices)}")
    groups: list[str | None] = [
        ",".join(devices[i : i + size]) for i in range(0, len(devices) - size + 1, size)
    ] or [None if settings.devices is None else ""]
    # More jobs than groups share them in turn: small models leave a large device idle.
    return [groups[i % len(groups)] for i in range(settings.jobs or len(groups))]


def cores() -> int:
    """The number of processor cores that this process may use: on a cluster, fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cuda_devices() -> tuple[str, ...]:
    """Ids of the CUDA devices that this process may use, without loading PyTorch."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return tuple(d.strip() for d in given.split(",") if d.strip() not in ("", "-1"))
    return tuple(_nvidia("index"))


def device_names() -> list[str]:
    """The names of the devices of :func:`cuda_devices`, as "NVIDIA H200", each once; empty on a CPU."""
    ids = cuda_devices()
    named = dict(row.split(", ", 1) for row in _nvidia("index,name")) if ids else {}
    return sorted({named.get(each, "a GPU") for each in ids})


def _nvidia(columns: str) -> list[str]:
    """A line for each device of the machine; none where ``nvidia-smi`` gives no answer."""
    command = ["nvidia-smi", f"--query-gpu={columns}", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def environments_of(settings: Settings) -> list[dict[str, str]]:
    """The environment of each concurrent process, a trainer or a worker: its cores and devices."""
    groups = _groups(settings)
    threads = settings.threads or max(1, cores() // len(groups))
    return [_environment(settings, group, threads) for group in groups]


def _environment(settings: Settings, devices: str | None, threads: int) -> dict[str, str]:
    env = dict(os.environ)
    # The user's own OMP_NUM_THREADS is kept unless --threads is given.
    if settings.threads or "OMP_NUM_THREADS" not in env:
        env["OMP_NUM_THREADS"] = str(threads)
    if devices is not None:
        env["CUDA_VISIBLE_DEVICES"] = devices
        if "," in devices:
            env.setdefault("LKE_DEVICE", "auto")  # spread a model over all of its devices
    if settings.offline:
        env["HF_HUB_OFFLINE"] = "1"
    return env
