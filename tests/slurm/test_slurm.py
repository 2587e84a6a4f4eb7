"""On a real SLURM, of one node: an array of the same worker, and what becomes of it.

`make test-slurm` unpacks Debian's SLURM, without installing it, and says where it is; skipped without that.
Nothing listens but on this machine's own address. The node claims more cores than it has.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import projects
import psutil
import pytest
import yaml

from lkecore import runs

if not os.environ.get("LKE_SLURM"):
    pytest.skip("no SLURM here: make test-slurm", allow_module_level=True)
SLURM = Path(os.environ["LKE_SLURM"]).resolve()
LIBRARIES = next(SLURM.glob("usr/lib/*/slurm-wlm"))
TOP = Path(__file__).resolve().parents[2]
NODE = os.uname().nodename.partition(".")[0]
N_RUNS = 12
CONFIG = f"""
ClusterName=trial
SlurmctldHost={NODE}(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=%USER
SlurmdUser=%USER
SlurmctldPort=%PORT1
SlurmdPort=%PORT2
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=%TOP/state
SlurmdSpoolDir=%TOP/spool
SlurmctldPidFile=%TOP/slurmctld.pid
SlurmdPidFile=%TOP/slurmd.pid
SlurmctldLogFile=%TOP/slurmctld.log
SlurmdLogFile=%TOP/slurmd.log
PluginDir={LIBRARIES}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=5,batch_sched_delay=0
KillWait=10
MinJobAge=3000
SlurmdParameters=config_overrides
NodeName={NODE} NodeAddr=127.0.0.1 CPUs=32 Sockets=1 CoresPerSocket=32 RealMemory=400000
PartitionName=p Nodes={NODE} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A function that calls one of SLURM's programs, and returns what it prints."""
    top = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (top / name).mkdir()
    text = CONFIG.replace("%TOP", str(top)).replace("%USER", psutil.Process().username())
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    for i, each in enumerate(listening, 1):
        text = text.replace(f"%PORT{i}", str(each.getsockname()[1]))
        each.close()
    (top / "slurm.conf").write_text(text)
    libraries = {"LD_LIBRARY_PATH": f"{LIBRARIES}:{LIBRARIES.parent}"}
    env = os.environ | libraries | {"SLURM_CONF": str(top / "slurm.conf")}
    sbin = SLURM / "usr" / "sbin"
    commands = [
        [sbin / "slurmctld-wlm", "-D"],
        [sbin / "slurmd-wlm", "-D", "-N", NODE, "-d", sbin / "slurmstepd-wlm"],
    ]
    daemons = []

    def call(program, *arguments, cwd=None):
        command = [SLURM / "usr" / "bin" / program, *map(str, arguments)]
        done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    try:
        for command in commands:
            with open(top / f"{command[0].name}.out", "w") as out:
                daemons.append(subprocess.Popen(command, env=env, stdout=out, stderr=out))
        projects.wait_for(lambda: "idle" in call("sinfo", "-h", "-o", "%T"))
        yield call
    finally:
        for each in reversed(daemons):
            each.terminate()
            each.wait()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Twelve runs of a page of the book on the random model, and the page; with a `.venv` and the script."""
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    name = "11_iclke_shots"
    smoke = yaml.safe_load((TOP / "params" / "smoke.yaml").read_text())
    [row] = [row for row in smoke["runs"] if row["notebook"] == name]
    row["parameters"]["draws"] = list(range(N_RUNS))
    text = (TOP / "notebooks" / f"{name}.py").read_text()
    made = projects.make(tmp_path, {name: text}, **{name: row})
    (made / ".venv").symlink_to(sys.prefix)
    # As somebody without a GPU edits it.
    script = (TOP / "params" / "slurm.sh").read_text().replace("#SBATCH --gpus=1\n", "")
    (made / "params" / "slurm.sh").write_text(script)
    return made


def submit(slurm, project, *options):
    given = ["--parsable", "--export=ALL,LD_LIBRARY_PATH=", *options, "params/slurm.sh"]
    return slurm("sbatch", *given, "params/p.yaml", cwd=project)


def drivers(job, task):
    """The processes of `lke run` of a task of an array."""
    found = []
    for each in psutil.process_iter():
        try:
            env = each.environ()
        except psutil.Error:
            continue
        ours = (env.get("SLURM_ARRAY_JOB_ID"), env.get("SLURM_ARRAY_TASK_ID")) == (job, str(task))
        if ours and each.cmdline()[2:3] == ["run"]:
            found.append(each)
    return found


def words(project, job):
    return [path.read_text() for path in sorted(project.glob(f"slurm-{job}-*.txt"))]


def made_here(project, job):
    """How many each task says it has made."""
    return [int(n) for said in words(project, job) for n in re.findall(r"(\d+) made here", said)]


def finished(project):
    return list((project / "runs").glob("[!.]*/manifest.json"))


def wait_until_over(slurm, job, seconds=900):
    projects.wait_for(lambda: slurm("squeue", "-h", "-j", job) == "", seconds)


def check_whole(project):
    """All is there once, with the content that it says, and nothing else."""
    parts = [json.loads(path.read_text())["part"] for path in finished(project)]
    assert sorted(p["draws"][0] for p in parts if p) == list(range(N_RUNS)) and {} in parts
    assert len(parts) == N_RUNS + 1
    assert all(runs.manifest(path.parent) is not None for path in finished(project))
    hidden = {path.name for path in (project / "runs").iterdir() if path.name.startswith(".")}
    assert hidden == {".locks"}
    assert list((project / "runs" / ".locks").glob("*.lease*")) == []


def test_an_array_makes_each_run_once_and_its_page_and_then_there_is_nothing_to_do(slurm, project):
    job = submit(slurm, project, "--array=1-4")
    wait_until_over(slurm, job)
    check_whole(project)
    made = made_here(project, job)
    print("made by each:", made, [said.splitlines()[-2:] for said in words(project, job)])
    assert sum(made) == N_RUNS + 1 and len(made) == 4
    assert "ExitCode=0:0" in slurm("scontrol", "show", "job", f"{job}_1")
    again = submit(slurm, project, "--array=1-2")
    wait_until_over(slurm, again)
    assert made_here(project, again) == [0, 0]


def test_what_is_killed_cancelled_and_requeued_at_once_is_made_by_the_fourth(slurm, project):
    job = submit(slurm, project, "--array=1-4")
    projects.wait_for(lambda: len(finished(project)) >= 2, 300)
    [driver] = drivers(job, 1)
    driver.send_signal(signal.SIGKILL)
    slurm("scancel", f"{job}_2")
    slurm("scontrol", "requeue", f"{job}_3")
    wait_until_over(slurm, job)
    third = (project / f"slurm-{job}-3.txt").read_text()
    print("made by each:", made_here(project, job), "finished:", len(finished(project)))
    assert "stopped; what is finished is kept" in third and "finished before" in third
    check_whole(project)


def test_after_its_time_limit_the_same_command_goes_on(slurm, project):
    """SLURM counts minutes, and the signal comes one of them before the end."""
    job = submit(slurm, project, "--array=1-1", "--time=2")
    wait_until_over(slurm, job)
    [said] = words(project, job)
    assert "stopped; what is finished is kept, the same command goes on" in said
    before = len(finished(project))
    assert before < N_RUNS + 1
    again = submit(slurm, project, "--array=1-2")
    wait_until_over(slurm, again)
    print("finished before and after:", before, made_here(project, again))
    assert sum(made_here(project, again)) == N_RUNS + 1 - before
    check_whole(project)
