"""What do faults do to finished runs? Processes are killed, files damaged, locks lie, the disk fills up.

``python tools/chaos.py`` makes fifty rounds, about 15 minutes on two cores. In each, one to three drivers
make six runs and their page in one folder, with true workers and half a second of work in the place of a
kernel, in every tenth round with real notebooks; and faults befall them, each kind once before any is drawn.
Then one driver works undisturbed, and the judge, who shares no code with the grid, reads the folder:

- lost: a run or page that is not there, finished and whole
- doubled: two finished folders of a run, or a manifest that changed by no fault of ours
- corrupt: a finished folder that is not as its digests say, or has other content than an undisturbed one
- hung: a driver that neither ended nor finished anything for 30 seconds
- failed: a run, or a driver, that gave up though nobody had killed a worker or filled the disk
- repeated: work done more than once; it is shown, and no mistake

``--seed N`` repeats a choice of faults, not their moment. ``--break NAME`` breaks lkecore on purpose, and the
judge has to find it: files (digests are not compared), others (the attempts of others are deleted), early (a
run takes its place before it is whole). Exit code 0: nothing was found; with a break, something was.
"""

import argparse
import collections
import contextlib
import fcntl
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import projects  # noqa: E402

from lkecore import runs, storage  # noqa: E402
from lkecore.runs import forkserver, grid, leases, record  # noqa: E402
from lkecore.runs.devices import Settings  # noqa: E402

NAMES = [f"n{i}" for i in range(6)]
# Of a whole round: a lock that everybody gets, and a lease, too; a small disk; a clock that went back.
OF_ROUNDS = ["no lock", "no lock, no lease", "full disk", "clock back", "leave"]
OF_PROCESSES = ["kill driver", "term driver", "stop driver", "kill worker", "stop worker"]
OF_FILES = ["cut file", "flip file", "delete file", "cut manifest", "delete manifest"]
SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}
BREAKS = {"files": OF_FILES[:3], "others": ["no lock, no lease"], "early": []}
BAD = ["lost", "doubled", "corrupt", "hung", "failed"]
CODE = """import json, os, pathlib, time
time.sleep(0.3)
said = json.dumps([names, "LKE_PAGE" in os.environ])
pathlib.Path(os.environ["LKE_RUN"], "said.txt").write_text(said * 2000)
with open(os.environ["CHAOS_LOG"], "a") as file: file.write(said + "\\n")"""
fork = multiprocessing.get_context("fork")


# --- drivers --------------------------------------------------------------------------------------


def execute(job, attempt):
    """In the place of a kernel: what the notebook does, in two steps of some length."""
    said, drawn = json.dumps([job.effective["names"], bool(job.reads)]), random.Random()
    (attempt / "log.txt").write_text("it began")
    time.sleep(drawn.uniform(0.05, 0.4))
    (attempt / "said.txt").write_text(said * 2000)
    time.sleep(drawn.uniform(0, 0.2))
    (attempt / "notebook.ipynb").write_text("{}")
    with open(os.environ["CHAOS_LOG"], "a") as file:
        file.write(said + "\n")
    return None, 0


def early(job, attempt):
    """Broken: it counts as finished before it is."""
    final = attempt.with_name(attempt.name[1:].partition(".")[0])
    about = {"files": {}, "part": job.part, "runs": {run.name: "" for run in job.reads}}
    about |= {"models": {}, "chunks": 0, "started": "", "seconds": 0, "tokens_forwarded": 0}
    final.mkdir(exist_ok=True)
    (final / "manifest.json").write_text(json.dumps(about))
    return execute(job, attempt)


def loose(folder):
    """Broken: a manifest counts whatever its files are."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads((folder / "manifest.json").read_text())


def drive(plan, target, settings, how, real, said):
    """Be `lke run`, on such a machine as ``how`` says; what failed goes to the file ``said``."""
    os.setsid()
    words = os.open(said.with_suffix(".out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(words, stream)
    if not real:
        what, patch = early if "early" in how else execute, SimpleNamespace(setattr=setattr)
        projects.fork_workers(patch, what, before=forkserver._end_with_the_parent)
    if how & {"no lock", "no lock, no lease"}:
        fcntl.flock = lambda *_: None
    if "no lock, no lease" in how:
        leases.leased, leases.is_held = lambda _: contextlib.nullcontext(True), lambda _: False
    if "clock back" in how:
        now = time.time
        time.time = lambda: now() - 18_000
    if "files" in how:
        runs.manifest = record.manifest = loose
    if "others" in how:
        storage.is_at_work = lambda _: False
    failed = {}
    try:
        failed = grid.execute(plan, target, settings).failed
    except KeyboardInterrupt:
        pass
    except Exception as error:  # such as no room at all
        failed = {"driver": f"{type(error).__name__}: {error}"}
    said.write_text(json.dumps(failed))
    os._exit(0)


# --- the judge ------------------------------------------------------------------------------------


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def judged(target):
    """What a stranger sees who knows what a manifest is, and what the runs should say."""
    whole, corrupt, pages = {name: [] for name in NAMES}, [], {}
    for path in sorted(target.glob("[!.]*/manifest.json")):
        about, same = {"runs": {}}, False
        with contextlib.suppress(OSError, ValueError, KeyError):
            about = json.loads(path.read_text())
            same = all(digest(path.parent / name) == d for name, d in about["files"].items())
            said = json.dumps([about["part"].get("names", NAMES), bool(about["runs"])])
            same &= {"notebook.ipynb", "said.txt"} <= set(about["files"])
            same &= (path.parent / "said.txt").read_text() == said * 2000
        if "-page-" in path.parent.name:
            pages[path.parent.name] = same, about["runs"]
        elif same:
            whole[about["part"]["names"][0]].append(path.parent.name)
        else:
            corrupt.append(path.parent.name)
    now = {run: digest(target / run / "manifest.json") for found in whole.values() for run in found}
    # A page over runs that were made anew since is nobody's page any more.
    current = {name: same for name, (same, behind) in pages.items() if behind == now}
    whole["page"] = [name for name, same in current.items() if same]
    return {
        "lost": [each for each, found in whole.items() if not found],
        "doubled": [each for each, found in whole.items() if len(found) > 1],
        "corrupt": corrupt + [name for name, same in current.items() if not same],
    }


# --- a round --------------------------------------------------------------------------------------


def befall(one, kind, rng):
    """Do what a kind of fault is; False if there was nothing to do it to."""
    what, _, whom = kind.partition(" ")
    if kind in OF_PROCESSES:
        alive = [each.pid for each in one.drivers if each.is_alive()]
        if whom == "worker":  # and kernels: whatever leads a session of its own below a driver
            below = [c.pid for pid in alive for c in psutil.Process(pid).children(True)]
            alive = [pid for pid in below if os.getsid(pid) == pid]
        if alive:
            os.kill(pid := rng.choice(alive), SIGNALS[what])
            one.stopped += [(time.monotonic() + 2, pid)] if what == "stop" else []
        return bool(alive)
    folders = sorted(path.parent for path in one.target.glob("[!.]*/manifest.json"))
    if folders:
        folder = rng.choice(folders)
        one.touched.add(folder.name)
        path = folder / ("manifest.json" if whom == "manifest" else "said.txt")
        content = bytearray(path.read_bytes())
        content[rng.randrange(len(content))] ^= 1
        changes = {"delete": path.unlink, "cut": lambda: os.truncate(path, len(content) // 2)}
        changes.get(what, lambda: path.write_bytes(content))()
    return bool(folders)


def watch(one, seconds, until=lambda: False):
    """Look on until then, or for so long; note what changes, and let go on what was stopped for 2 seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        for path in one.target.glob("[!.]*/manifest.json"):
            with contextlib.suppress(OSError):
                found, name = digest(path), path.parent.name
                if one.seen.get(name) != found:
                    one.changed += [name] if name in one.seen and name not in one.touched else []
                    one.seen[name], end = found, max(end, time.monotonic() + one.patience)
        for due, pid in [each for each in one.stopped if each[0] < time.monotonic()]:
            one.stopped.remove((due, pid))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        time.sleep(0.02)


def play(top, plan, rng, how, kinds, real):
    """One round: what the judge found, and the faults that befell."""
    target, done = top / "runs", []
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    (top / "log").write_text("")
    if "full disk" in how:
        small = f"size={rng.choice([128, 192, 256])}k"
        subprocess.run(["mount", "-t", "tmpfs", "-o", small, "lke", target], check=True)
    n = rng.randint(2 if how & {"leave", "no lock", "no lock, no lease"} else 1, 3)
    said = [top / f"said{i}" for i in range(n + 1)]
    one = SimpleNamespace(target=target, drivers=[], seen={}, touched=set(), changed=[], stopped=[])
    one.patience = 0

    def start(settings, how):
        path = said[len(one.drivers)]
        path.unlink(missing_ok=True)
        given = plan, target, settings, how, real, path
        one.drivers.append(fork.Process(target=drive, args=given))
        one.drivers[-1].start()

    def over():
        return not one.stopped and not any(each.is_alive() for each in one.drivers)

    for i in range(n):
        jobs = rng.randint(1, 2)
        start(Settings(jobs, threads=1, leave="leave" in how, worker=(i + 1, n)), how)
    for kind in kinds:
        watch(one, rng.uniform(0.05, 0.9) * (10 if real else 1))
        while not over() and kind not in done:
            with contextlib.suppress(OSError, psutil.Error):
                done += [kind] if befall(one, kind, rng) else []
            watch(one, 0.05)
    one.patience = 120 if real else 30
    watch(one, one.patience, over)
    if "full disk" in how:
        subprocess.run(["mount", "-o", "remount,size=64m", target], check=True)
    start(Settings(jobs=2, threads=1), how & set(BREAKS))
    watch(one, one.patience, over)
    hung = [each.pid for each in one.drivers if each.is_alive()]
    for each in one.drivers:
        each.kill()
        each.join()
    heard = said[-1:] if "full disk" in how else said
    told = [w for path in heard if path.exists() for w in json.loads(path.read_text()).values()]
    ours = ["killed by", "kernel died", "not made"]
    # A page over a run that is damaged, and made anew while the page is.
    ours += ["was changed meanwhile"] if {*OF_FILES} & {*done} else []
    found = judged(target) | {
        "hung": hung,
        "failed": [w for w in told if not any(o in w for o in ours)],
    }
    found["doubled"] += one.changed
    if "full disk" in how:
        subprocess.run(["umount", "-l", target], check=True)
    return found, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--break", dest="broken", choices=BREAKS)
    given = parser.parse_args()
    rng, broken = random.Random(given.seed), {given.broken} - {None}
    print(
        f"seed {given.seed}, {given.rounds} rounds, broken: {given.broken or 'nothing'}", flush=True
    )
    every = BREAKS[given.broken] if broken else [*OF_ROUNDS, *OF_PROCESSES, *OF_FILES]
    if "full disk" in every and os.geteuid():
        every.remove("full disk")
        print("not tried, since root alone may mount a small disk: full disk")
    due, total, begun = list(every), collections.Counter(), time.monotonic()
    single = [kind for kind in every if kind not in OF_ROUNDS]
    with tempfile.TemporaryDirectory(prefix="lke-chaos-", ignore_cleanup_errors=True) as folder:
        top = Path(folder)
        os.environ |= {"LKECORE_CACHE": str(top / "cache"), "CHAOS_LOG": str(top / "log")}
        row = {"each": ["names"], "parameters": {"names": NAMES}}
        plan = projects.plan(projects.make(top, {"a": projects.code(CODE)}, a=row))
        for number in range(given.rounds):
            real = number % 10 == 9 and not broken
            how = {kind for kind in every if kind in OF_ROUNDS and rng.random() < 0.2}
            how = (how | {*due[:1]} & {*OF_ROUNDS}) - ({"full disk"} if real else set())
            kinds = [kind for kind in due if kind in single][:1]
            kinds += rng.choices(single, k=rng.randint(0 if kinds else 1, 2)) if single else []
            found, done = play(top, plan, rng, how | broken, kinds, real)
            due = [kind for kind in due if kind not in {*how, *done}]
            again = len((top / "log").read_text().splitlines()) - len(NAMES) - 1
            total.update({name: len(each) for name, each in found.items()})
            total.update(jobs=len(NAMES) + 1, faults=len(how) + len(done), repeated=max(0, again))
            if any(found[name] for name in BAD):
                print(f"round {number}, {sorted(how)}, {done}, real {real}: {found}", flush=True)
    counts = ", ".join(f"{name} {total[name]}" for name in ["jobs", "faults", "repeated", *BAD])
    missed = f"; never tried: {', '.join(due)}" if due else ""
    print(f"{given.rounds} rounds, {time.monotonic() - begun:.0f} s: {counts}{missed}")
    bad = any(total[name] for name in BAD)
    return int(not bad if broken else bad or bool(due))


if __name__ == "__main__":
    sys.exit(main())
