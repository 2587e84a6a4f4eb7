"""A model on a server of vLLM: its tokenizer and config are here, its answers come over HTTP.

Address and key come from the environment, ``LKE_SERVER`` and ``LKE_SERVER_KEY``, and are written nowhere.
Nobody can digest its weights. The model is identified by what its server says of it, and by the likeliest
tokens after fixed texts.
"""

import functools
import hashlib
import json
import math
import os
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lkecore import hub, progress
from lkecore.errors import BadInput, in_one_line, nearest
from lkecore.models import model as loaded  # its code is in all keys of scores, so that it stays
from lkecore.models import weights
from lkecore.models.convert import SIDE_FILES, quiet_transformers
from lkecore.models.files import contents_digest

# The texts are short, so that a server keeps no beginning of them: it keeps blocks of 16 tokens or more.
BEGIN = "In 1789,", "Zürich:", "def f(x):", "Она не"
TEXTS = [f"{a} {b}" for b in ("the", "a 12", "is not (", "\nOne") for a in BEGIN]
NEAR = 0.02  # nats, by which the numbers of one server may move
NODES = 50  # prefixes that are asked twice to measure by how much they do
MOST, AT_ONCE, WAIT = 128, 32, 600  # tokens that a question may name; questions under way; seconds
LESS = "the server says less than it is asked for"


@dataclass(frozen=True)
class Served(loaded.Model):
    """A model on a server.

    ``said`` is what the server says of it. With ``over_http`` the caller needs no weights.
    """

    said: dict[str, Any] = field(default_factory=dict, repr=False)
    over_http: bool = False

    @property
    def network(self) -> None:
        if not self.over_http:
            raise BadInput(f"{self.name} is behind a server, and its weights are needed here")


def open_model(
    name: str, *, dtype: str = "float32", device: str | None = None, prefix: str = "default"
) -> loaded.Model:
    """As :func:`lkecore.models.model.open_model`, also for models on a server, whose dtype is the server's.

    Raises :class:`BadInput` as that function and :func:`who` do, and for a served model that is not causal.
    """
    if not weights.is_served(name):
        return loaded.open_model(name, dtype=dtype, device=device, prefix=prefix)
    model, said = unasked(name, prefix), who(name)
    progress.record(model=name, served=said)
    # The last token of a string is read, and the server writes one token more.
    limits = [n - 2 for n in (model.context_length, said["window"]) if n]
    return replace(
        model, digest=said["digest"], said=said, context_length=min(limits, default=None)
    )


@functools.lru_cache(maxsize=8)
def unasked(name: str, prefix: str = "default") -> Served:
    """A served model with its tokenizer and config alone, for forecasts: its server is not asked."""
    if prefix not in loaded.PREFIXES:
        raise BadInput(f"unknown prefix {prefix!r}: must be one of {', '.join(loaded.PREFIXES)}")
    folder = weights.locate(name)
    quiet_transformers()
    from transformers import AutoConfig, AutoTokenizer

    with in_one_line(f"model {name}: no readable config.json and tokenizer in {folder}"):
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        front, kind = loaded.template(tokenizer)[0], loaded._kind(name, config)
    if kind != "causal":
        raise BadInput(f"model {name} is {kind}; behind a server only causal models can be asked")
    front, window = () if prefix == "none" else front, loaded._context_length(config, kind)
    return Served(name, folder, "", "as served", "server", front, window, tokenizer)


def who(name: str) -> dict[str, Any]:
    """The identity of a served model; its server is asked once a minute at most.

    - ``id``, ``root``, ``window``, ``version``: as the server says;
    - ``tokenizer``: the digest of its files here;
    - ``fingerprint``: the ids of the five likeliest tokens after each of ``TEXTS``, without those within
      ``NEAR`` of the sixth;
    - ``digest``: SHA-256 over all of these;
    - ``names_tokens``: whether the server knows :func:`given`, or else :func:`echoed`;
    - ``moved``: by how much its numbers move, in nats; ``date``: today.

    Raises :class:`BadInput` for a server that is not there, has no such model or another tokenizer, says less
    than is asked, or whose numbers move by more than ``NEAR``.
    """
    return _who(name, os.environ.get("LKE_SERVER"), time.monotonic() // 60)


@functools.lru_cache(maxsize=8)
@in_one_line(LESS)
def _who(name: str, *_: Any) -> dict[str, Any]:
    model, own = unasked(name), hub.plain(name.removeprefix("served:")).partition("@")[0]
    cards = {card["id"]: card for card in ask("/v1/models", tries=1)["data"]}
    # The model is found by its id, or by the last part of the id or of the server's folder, since the folder
    # here may be elsewhere.
    short = {Path(n).name: i for i, c in cards.items() for n in (c.get("root") or i, i)}
    if (key := own if own in cards else short.get(Path(own).name)) is None:
        raise BadInput(f"the server has no model {own!r}; {nearest(own, cards)}")
    _check_tokenizer(name, key, model.tokenizer)
    rows = [model.tokenizer(text)["input_ids"] for text in TEXTS]
    tops = [likeliest(key, row, 6) for row in rows]  # one by one: no other question moves them
    files = sorted(path for form in SIDE_FILES for path in model.path.glob(form))
    known = {
        "id": key,
        "root": cards[key].get("root"),
        "window": cards[key].get("max_model_len"),
        "version": ask("/version").get("version"),
        "tokenizer": contents_digest(files),
        "fingerprint": [sorted(i for i in t if t[i] > min(t.values()) + NEAR) for t in tops],
    }
    digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
    known |= {"names_tokens": _names_tokens(key, rows[0]), "moved": _moved(key, rows)}
    return known | {"digest": digest, "date": f"{datetime.now(UTC):%Y-%m-%d}"}


def ask(path: str, body: dict[str, Any] | None = None, *, tries: int = 8) -> dict[str, Any]:
    """The server's answer, or {} if it has no such page; a busy or missing server is asked again."""
    import requests
    from tenacity import retry, stop_after_attempt, wait_exponential

    address, key = os.environ.get("LKE_SERVER", ""), os.environ.get("LKE_SERVER_KEY", "")
    if not re.fullmatch(r"https?://[^\s/]\S*", address):
        raise BadInput("LKE_SERVER must be a server's address, such as http://127.0.0.1:8000")
    url = address.rstrip("/").removesuffix("/v1") + path
    how = {"json": body, "headers": {"Authorization": f"Bearer {key}"} if key else {}}

    @retry(stop=stop_after_attempt(tries), wait=wait_exponential(0.1, max=30), reraise=True)
    def sent() -> requests.Response:
        done = requests.request("POST" if body else "GET", url, timeout=WAIT, **how)
        if done.status_code in (429, 502, 503):
            done.raise_for_status()
        return done

    try:
        done = sent()
    except requests.RequestException as error:  # its own words have the address in them
        why = getattr(error.response, "status_code", type(error).__name__)
        raise BadInput(f"the server of LKE_SERVER does not answer ({why})") from None
    if done.status_code == 404:
        return {}
    if not done.ok:
        words = done.text.replace(key or "\n", " ").replace(address, "")[:300]
        raise BadInput(f"the server refuses: HTTP {done.status_code}, {words}")
    return done.json()


def _completion(model: str, prompt: str | Sequence[int], **more: Any) -> dict[str, Any]:
    """The log-probabilities of one new token, and of the tokens that ``more`` asks for."""
    body = {"model": model, "prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 1}
    if not (said := ask("/v1/completions", body | {"return_tokens_as_token_ids": True} | more)):
        raise BadInput("the server has no /v1/completions: it is for chat alone")
    return said["choices"][0]["logprobs"]


@in_one_line(LESS)
def likeliest(model: str, prefix: Sequence[int], k: int) -> dict[int, float]:
    """The ``k`` likeliest tokens after a prefix, the likeliest first: {id: log-probability in nats}."""
    said = _completion(model, prefix, logprobs=k)["top_logprobs"][0]
    found = sorted(((v, int(t.removeprefix("token_id:"))) for t, v in said.items()), reverse=True)
    if len(found) < k:
        raise ValueError(f"{len(found)} tokens of {k}")
    return {i: v for v, i in found[:k]}


@in_one_line(LESS)
def given(model: str, prefix: Sequence[int], ids: Sequence[int]) -> list[float]:
    """The log-probability of each of ``ids`` after a prefix, in nats; NaN if the server gives none."""
    said = _completion(model, prefix, logprob_token_ids=ids)["top_logprobs"][0]
    return [_nats(said.get(f"token_id:{i}")) for i in ids]


@in_one_line(LESS)
def echoed(model: str, prefix: Sequence[int], ids: Sequence[int]) -> list[float]:
    """The log-probability of each of ``ids``, which follow a prefix and each other, in nats; NaN if none."""
    said = _completion(model, [*prefix, *ids], echo=True, logprobs=0)["token_logprobs"]
    known = dict(enumerate(said, -len(prefix)))
    return [_nats(known.get(n)) for n in range(len(ids))]


def _nats(value: Any) -> float:
    # Rounding may lift a probability above 1; vLLM writes -9999 if there is none at all.
    fine = isinstance(value, float | int) and -9999 < value <= 1e-4
    return min(float(value), 0.0) if fine else math.nan


def _names_tokens(model: str, row: Sequence[int]) -> bool:
    for way in (given, echoed):
        with suppress(BadInput):
            if not math.isnan(way(model, row[:-1], row[-1:])[0]):
                return way is given
    raise BadInput(f"{LESS}: log-probabilities of named tokens, or of its prompt's own")


def _moved(model: str, rows: Sequence[Sequence[int]]) -> float:
    asked = [row[:n] for row in rows for n in range(1, len(row) + 1)][:NODES]

    def highest(prefix: Sequence[int]) -> float:
        return max(likeliest(model, prefix, 1).values())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        at_once = [*pool.map(highest, asked[::-1])][::-1]
    moved = max(abs(a - b) for a, b in zip(map(highest, asked), at_once, strict=True))
    if not moved <= NEAR:
        raise BadInput(f"the server's numbers move by {moved:.3g} nats, and {NEAR} is the most")
    return moved


def _check_tokenizer(name: str, model: str, tokenizer: Any) -> None:
    plain = {"add_special_tokens": False}
    for text in TEXTS[::3][:5]:
        theirs = ask("/tokenize", {"model": model, "prompt": text, **plain}).get("tokens")
        if theirs is None:
            said = _completion(model, text, echo=True, logprobs=0, **plain)["tokens"][:-1]
            theirs = [int(token.removeprefix("token_id:")) for token in said]
        if theirs != tokenizer(text, **plain)["input_ids"]:
            raise BadInput(f"model {name}: its server has another tokenizer, by {text!r}")
