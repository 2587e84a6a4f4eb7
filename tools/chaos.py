"""What do faults do to finished runs? Drivers of one folder of runs, and processes, files, disk and clock against them.

``python tools/chaos.py`` makes fifty rounds, about 15 minutes on two cores. In a round one to three drivers
make six runs and their page, with true workers and half a second of work in the place of a kernel, in every
tenth round with real notebooks, and one to three faults befall them. Each kind of fault comes once before any is
drawn. Then one driver works undisturbed, and the judge, who shares no code with the grid, reads the folders:

- lost: a run or page that is not there, finished and whole
- doubled: two finished folders of a run, or a manifest that changed by no fault of ours
- corrupt: a finished folder that is not as its digests say, or has other content than an undisturbed one
- hung: a driver that did not end
- failed: a run that a driver gave up though nobody had killed its process or filled the disk
- repeated: work done more often than once; it is shown, and no mistake

``--seed N`` repeats a choice of faults, not their moment. ``--break NAME`` breaks lkecore on purpose, and then the
judge has to find something: files (digests are not compared), others (the attempts of others are deleted), early
(a run takes its place before it is whole). The exit code is 0 if the judge found nothing, or with a break, something.
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

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import projects  # noqa: E402

from lkecore import runs, storage  # noqa: E402
from lkecore.runs import grid, leases, record, warm, worker  # noqa: E402
from lkecore.runs.devices import Settings  # noqa: E402

NAMES = [f"n{i}" for i in range(6)]
OF_PROCESSES = ["kill driver", "term driver", "stop driver", "kill worker", "stop worker"]
OF_FILES = ["cut file", "flip a bit", "delete file", "cut manifest", "delete manifest"]
# Of a whole round: locks that everybody gets, and leases too; no room; a clock that went back; workers that leave.
OF_ROUNDS = ["no lock", "no lock, no lease", "full disk", "clock back", "leave"]
BREAKS = {"files": OF_FILES[:3], "others": ["no lock, no lease"], "early": []}
BAD = ["lost", "doubled", "corrupt", "hung", "failed"]
CODE = """import json, os, pathlib, time
time.sleep(0.3)
said = json.dumps([names, page])
pathlib.Path(os.environ["LKE_RUN"], "said.txt").write_text(said * 2000)
with open(os.environ["CHAOS_LOG"], "a") as file: file.write(said + "\\n")"""
fork = multiprocessing.get_context("fork")


def execute(job: runs.Job, attempt: Path) -> tuple[None, int]:
    """In the place of a kernel: what the notebook does, in two steps of some length."""
    said = json.dumps([job.effective["names"], job.effective["page"]])
    drawn = random.Random(f"{os.getpid()} {time.monotonic_ns()}")
    (attempt / "log.txt").write_text("it began")
    time.sleep(drawn.uniform(0.05, 0.4))
    (attempt / "said.txt").write_text(said * 2000)
    time.sleep(drawn.uniform(0, 0.2))
    (attempt / "notebook.ipynb").write_text("{}")
    with open(os.environ["CHAOS_LOG"], "a") as file:
        file.write(said + "\n")
    return None, 0


def early(job: runs.Job, attempt: Path) -> tuple[None, int]:
    """A fault of lkecore's own: it counts as finished before it is."""
    final = attempt.with_name(attempt.name[1:].partition(".")[0])
    shutil.copytree(attempt, final, dirs_exist_ok=True)
    about = {"files": {}, "part": job.part, "runs": {run.name: "" for run in job.reads}}
    about |= {"models": {}, "chunks": 0, "started": "", "seconds": 0, "tokens_forwarded": 0}
    (final / "manifest.json").write_text(json.dumps(about))
    return execute(job, attempt)


def forked(order: Path, output: Path, env: dict[str, str]) -> warm.Forked:
    """A true worker, with the work above in the place of a kernel."""

    def work() -> None:
        os.setsid()
        words = os.open(output, os.O_WRONLY | os.O_APPEND)
        os.dup2(words, 1), os.dup2(words, 2)
        os.environ.update(env)
        warm._end_with_the_parent()
        code = worker.FAILED
        try:
            code = worker.carry_out(order)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(code)

    output.touch()
    return warm.Forked(fork.Process(target=work))


def driver(plan, target: Path, settings: Settings, how: set[str], real: bool, said: Path) -> None:
    """A process that is `lke run`, on the machine that ``how`` says; what failed goes to ``said``."""
    os.setsid()
    words = os.open(said.with_suffix(".out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(words, 1), os.dup2(words, 2)
    if not real:
        worker._execute, grid._process = (early if "early" in how else execute), forked
    if "no lock" in " ".join(how):
        fcntl.flock = lambda *_: None
    if "no lock, no lease" in how:
        leases.leased, leases.is_held = (lambda _: contextlib.nullcontext(True)), (lambda _: False)
    if "clock back" in how:
        now = time.time
        time.time = lambda: now() - 18_000
    if "files" in how:
        runs.manifest = record.manifest = loose
    if "others" in how:
        storage.is_at_work = lambda _: False
    try:
        outcome = grid.execute(plan, target, settings)
    except KeyboardInterrupt:
        os._exit(130)
    except OSError as error:  # no room at all: the command says so and ends
        print(error, flush=True)
        os._exit(2)
    said.write_text(json.dumps(outcome.failed))
    os._exit(1 if outcome.failed else 0)


def loose(folder: Path) -> dict | None:
    """A fault of lkecore's own: a manifest counts whatever its files are."""
    try:
        return json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError):
        return None


# --- the judge ------------------------------------------------------------------------------------


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def judged(target: Path) -> dict[str, list[str]]:
    """What a stranger sees who knows the format of a manifest, and what the runs should say."""
    whole, corrupt, pages = collections.defaultdict(list), [], {}
    for path in sorted(target.glob("[!.]*/manifest.json")):
        try:
            about = json.loads(path.read_text())
            same = all(digest(path.parent / name) == d for name, d in about["files"].items())
            said = [about["part"].get("names", NAMES), bool(about["runs"])]
            same &= (path.parent / "said.txt").read_text() == json.dumps(said) * 2000
            same &= {"notebook.ipynb", "said.txt"} <= set(about["files"])
        except (OSError, ValueError, KeyError):
            same, about = False, {"runs": {}}
        if "-page-" in path.parent.name:
            pages[path.parent.name] = same, about["runs"]
        elif same:
            whole[about["part"]["names"][0]].append(path.parent.name)
        else:
            corrupt.append(path.parent.name)
    now = {run: digest(target / run / "manifest.json") for found in whole.values() for run in found}
    # A page over runs that were made anew since is nobody's page any more.
    current = [name for name, (_, behind) in pages.items() if behind == now]
    whole["page"] = [name for name in current if pages[name][0]]
    return {
        "lost": [each for each in [*NAMES, "page"] if not whole[each]],
        "doubled": [each for each, found in whole.items() if len(found) > 1],
        "corrupt": corrupt + [name for name in current if not pages[name][0]],
    }


# --- rounds ---------------------------------------------------------------------------------------


class Round:
    """One folder of runs, its drivers, what was done to them, and what was seen."""

    def __init__(self, top: Path, plan, rng: random.Random, how: set[str], real: bool) -> None:
        self.target, self.rng, self.how, self.real = top / "runs", rng, how, real
        self.seen, self.touched, self.changed, self.stopped = {}, set(), [], []
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir()
        if "full disk" in how:
            size = f"size={rng.choice([128, 192, 256])}k"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "lke", self.target], check=True)
        (top / "log").write_text("")
        n = 3 if "leave" in how else rng.randint(1, 3)
        n = max(n, 2) if " ".join(how).count("no lock") else n
        self.said = [top / f"said{i}" for i in range(n + 1)]
        for path in self.said:
            path.unlink(missing_ok=True)
        self.start = lambda i, settings, how: fork.Process(
            target=driver, args=(plan, self.target, settings, how, real, self.said[i])
        )
        self.drivers = []
        for i in range(n):
            settings = Settings(
                jobs=rng.randint(1, 2), threads=1, leave="leave" in how, worker=(i + 1, n)
            )
            self.drivers.append(self.start(i, settings, how))
            self.drivers[-1].start()

    def watch(self, seconds: float, until=lambda: False) -> bool:
        """Look on: manifests that change, and processes whose stop is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            for path in self.target.glob("[!.]*/manifest.json"):
                with contextlib.suppress(OSError):
                    found = digest(path)
                    before = self.seen.setdefault(path.parent.name, found)
                    if before != found and path.parent.name not in self.touched:
                        self.changed.append(path.parent.name)
                    self.seen[path.parent.name] = found
            for due, pid in [each for each in self.stopped if each[0] < time.monotonic()]:
                self.stopped.remove((due, pid))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            time.sleep(0.02)
        return until()

    def fault(self, kind: str) -> bool:
        """Do it; False if there was nothing to do it to."""
        what, _, whom = kind.partition(" ")
        if kind in OF_PROCESSES:
            number = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}[what]
            alive = [d.pid for d in self.drivers if d.is_alive()]
            if whom == "worker":  # and kernels: whatever leads a session of its own below a driver
                below = [c.pid for pid in alive for c in psutil.Process(pid).children(True)]
                alive = [pid for pid in below if os.getsid(pid) == pid]
            if not alive:
                return False
            pid = self.rng.choice(alive)
            os.kill(pid, number)
            if what == "stop":
                self.stopped.append((time.monotonic() + 2, pid))
            return True
        folders = sorted(path.parent for path in self.target.glob("[!.]*/manifest.json"))
        if not folders:
            return False
        folder = self.rng.choice(folders)
        self.touched.add(folder.name)
        path = folder / ("manifest.json" if whom == "manifest" else "said.txt")
        if what == "delete":
            path.unlink()
        elif what == "cut":
            os.truncate(path, path.stat().st_size // 2)
        else:
            content = bytearray(path.read_bytes())
            content[self.rng.randrange(len(content))] ^= 1
            path.write_bytes(content)
        return True

    def end(self) -> dict[str, list[str]]:
        """Wait for the drivers, let one work undisturbed, and have it all judged."""
        hung, limit = [], 300 if self.real else 30
        self.watch(limit, lambda: not (self.stopped or any(d.is_alive() for d in self.drivers)))
        if "full disk" in self.how:
            subprocess.run(["mount", "-o", "remount,size=64m", self.target], check=True)
        last = self.start(-1, Settings(jobs=2, threads=1), self.how & set(BREAKS))
        last.start()
        self.drivers.append(last)
        self.watch(2 * limit, lambda: not last.is_alive())
        for each in self.drivers:
            if each.is_alive():
                hung.append(str(each.pid))
                each.kill()
            each.join()
        told = [json.loads(path.read_text()) for path in self.said if path.exists()]
        ours = (
            "killed",
            "kernel died",
            "not made, since",
            *(["OSError"] if "full disk" in self.how else []),
        )
        failed = [w for some in told for w in some.values() if not any(o in w for o in ours)]
        found = judged(self.target)
        if "full disk" in self.how:
            subprocess.run(["umount", "-l", self.target], check=True)
        return found | {"doubled": found["doubled"] + self.changed, "hung": hung, "failed": failed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--break", dest="broken", choices=BREAKS)
    given = parser.parse_args()
    rng, broken = random.Random(given.seed), given.broken
    print(f"seed {given.seed}, {given.rounds} rounds, break: {broken or 'none'}", flush=True)
    every = BREAKS[broken] if broken else [*OF_ROUNDS, *OF_PROCESSES, *OF_FILES]
    if not broken and os.geteuid():
        every.remove("full disk")
        print("not tried, since only root may mount a small disk: full disk")
    due, total, begun = list(every), collections.Counter(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lke-chaos-", ignore_cleanup_errors=True) as folder:
        top = Path(folder)
        os.environ |= {"LKECORE_CACHE": str(top / "cache"), "CHAOS_LOG": str(top / "log")}
        row = {"each": ["names"], "parameters": {"names": NAMES}}
        plan = projects.plan(projects.make(top, {"a": projects.code(CODE)}, a=row))
        for number in range(given.rounds):
            real = number % 10 == 9 and not broken
            rest = [f for f in every if f not in OF_ROUNDS]
            how = {f for f in every if f in OF_ROUNDS and (f in due[:1] or rng.random() < 0.2)}
            how -= {"full disk"} if real else set()
            kinds = [f for f in due if f in rest][:1] if due[:1] and due[0] in rest else []
            kinds += rng.choices(rest, k=rng.randint(1, 3) - len(kinds)) if rest else []
            one = Round(top, plan, rng, how | ({broken} if broken else set()), real)
            done = set(how)
            for kind in kinds:
                one.watch(rng.uniform(0.05, 0.9) * (10 if real else 1))
                tried = time.monotonic() + 5  # a forced one waits for something to befall
                ok = False
                while (
                    not ok and any(d.is_alive() for d in one.drivers) and time.monotonic() < tried
                ):
                    with contextlib.suppress(OSError, psutil.Error):
                        ok = one.fault(kind)
                    one.watch(0.05)
                done |= {kind} if ok else set()
                total["faults"] += ok
            due = [f for f in due if f not in done]
            found = one.end()
            total.update({name: len(each) for name, each in found.items()})
            made = len((top / "log").read_text().splitlines())
            total.update(jobs=len(NAMES) + 1, repeated=max(0, made - len(NAMES) - 1))
            if any(found[name] for name in BAD):
                print(f"round {number}: {sorted(how)} {kinds} real={real}: {found}", flush=True)
    seconds = time.monotonic() - begun
    counts = ", ".join(f"{name} {total[name]}" for name in ["jobs", "faults", "repeated", *BAD])
    print(
        f"{given.rounds} rounds, {seconds:.0f} s: {counts}"
        + (f"; never tried: {due}" if due else "")
    )
    bad = sum(total[name] for name in BAD)
    return int(not bad) if broken else int(bad > 0 or bool(due))


if __name__ == "__main__":
    sys.exit(main())
