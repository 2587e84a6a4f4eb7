"""A clock for one large GPU: python -m benchmarks.gpu --tokenizer FOLDER [--out FILE] [--limit SECONDS] ...

A Llama of the shape of a 7B model, its weights made at random on the card, since what takes time does
not depend on their values. Each part writes its row to ``--out`` (a JSON object a line) when it ends,
and a part that is there already is skipped, so that what was cut off goes on with the same command. A
part that fails writes what happened; it is tried again, and the others go on.

Shares are of the rate of large square products in the same dtype on the same card, measured first.
Counted are the multiplications by weights alone, as in ``floor``.
"""

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import floor, work
from benchmarks.expanded import option_logprobs_expanded
from lkecore.models import catalogue
from lkecore.models.model import Model, template
from lkecore.prompts.prompt import Prompt
from lkecore.scores import passes
from lkecore.scores.attention_paths import way
from lkecore.scores.batches import token_logprobs
from lkecore.scores.expected import expected_tokens
from lkecore.scores.tokens import encode
from lkecore.scores.tree import option_logprobs, tree_of
from lkecore.scores.trie import Tree
from lkecore.scores.walk import walk

LARGE = (
    "country_of_city",
    "film_director",
    "city_of_airport",
)  # the atlas has 400 facts to ask of each
PASSES = (512, 1024, 2048, 4096, 8192)
GIB = 2**30
Trees = tuple[Tree, dict[int, list[int]]]  # and, for each node that is read, what is read there


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tokenizer", required=True, help="a folder with a tokenizer, such as SmolLM2's"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("gpu.jsonl"), help="file of rows; it grows"
    )
    parser.add_argument(
        "--limit", type=float, default=480, help="seconds after which no part begins"
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bfloat16")
    for name, default in (("hidden", 4096), ("layers", 32), ("inner", 11008), ("heads", 32)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--facts", type=int, default=400, help="of each relation in the large work")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--square", type=int, nargs="+", default=[4096, 8192, 16384])
    parser.add_argument("--rate-seconds", type=float, default=1.0, help="of each product's repeats")
    return parser.parse_args()


class Bench:
    """What the parts share: the model, the work, and a clock that waits for the card."""

    def __init__(self, given: argparse.Namespace) -> None:
        import torch

        self.given, self.torch = given, torch
        self.dtype = getattr(torch, given.dtype)
        self.cuda = given.device.startswith("cuda")
        self.rate = 0.0  # multiply-adds a second
        self._model: Model | None = None
        self._drawn: dict[str, list[Prompt]] = {}

    def wait(self) -> None:
        if self.cuda:
            self.torch.cuda.synchronize()

    def timed(self, call: Callable[[], Any]) -> tuple[float, Any]:
        self.wait()
        start = time.perf_counter()
        found = call()
        self.wait()
        return time.perf_counter() - start, found

    def in_use(self) -> float:
        return self.torch.cuda.memory_allocated() / GIB if self.cuda else 0.0

    def peak(self, call: Callable[[], Any]) -> tuple[float | None, Any]:
        """(GiB above what was in use, what the call returns); None where no allocator counts them."""
        if not self.cuda:
            return None, call()
        before = self.in_use()
        self.torch.cuda.reset_peak_memory_stats()
        found = call()
        return self.torch.cuda.max_memory_allocated() / GIB - before, found

    def drawn(self, which: str) -> list[Prompt]:
        if which not in self._drawn:
            large = {"names": LARGE, "n_facts": self.given.facts}
            self._drawn[which] = work.draw(**(large if which == "large" else {}))
        return self._drawn[which]

    @property
    def model(self) -> Model:
        """The model around a network that is made where it is used, with no copy on disk."""
        if self._model is None:
            from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

            g = self.given
            tokenizer = AutoTokenizer.from_pretrained(g.tokenizer, local_files_only=True)
            config = LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=g.hidden,
                num_hidden_layers=g.layers,
                intermediate_size=g.inner,
                num_attention_heads=g.heads,
                num_key_value_heads=g.heads,
                max_position_embeddings=4096,
            )
            self.torch.manual_seed(0)
            with self.torch.device(g.device):
                network = AutoModelForCausalLM.from_config(config, dtype=self.dtype).eval()
            self._model = Model(
                name=f"random Llama of {sum(p.numel() for p in network.parameters()) / 1e9:.2f}B",
                path=Path("nowhere"),
                digest="0" * 64,
                dtype=g.dtype,
                device=g.device,
                front=template(tokenizer)[0],
                context_length=4096,
                tokenizer=tokenizer,
            )
            self._model.__dict__["_loaded"] = (network, 0.0)  # as its cached property would
        return self._model

    def ours(self, asked: Sequence[Prompt], memory_gb: float | None = None) -> Any:
        return option_logprobs(self.model, asked, use_cache=False, memory_gb=memory_gb)

    def needs(self, asked: Sequence[Prompt]) -> tuple[dict[str, Any], list[Trees]]:
        """What the work needs at least, how long it takes before the network is asked, and its trees."""
        m, n = self.model, {"strings": 0, "inner_prefixes": 0, "head_rows": 0}
        begun = time.perf_counter()
        encoded = encode(m.tokenizer, asked, front=m.front)
        middle = time.perf_counter()
        trees = []
        for name in dict.fromkeys(p.relation for p in asked):
            tree, paths = tree_of([e for e in encoded if e.prompt.relation == name])
            kids: dict[int, list[int]] = {}
            for node in {node for path in paths for node in path}:
                kids.setdefault(tree.parent[node], []).append(node)
            n["strings"] += len(paths)
            n["inner_prefixes"] += tree.sizes(kids)[0]
            n["head_rows"] += len(kids)
            trees.append((tree, kids))
        end = time.perf_counter()
        return n | {"tokenise_s": middle - begun, "tree_s": end - middle}, trees

    def walked(self, trees: list[Trees]) -> int:
        """The trees through the network, and every number read: the scorer without its tokenising."""
        tokens = 0
        for tree, kids in trees:

            def read(nodes: list[int], logits: Any, tree=tree, kids=kids) -> None:
                row = [i for i, node in enumerate(nodes) for _ in kids[node]]
                token_logprobs(logits, row, [tree.token[kid] for n in nodes for kid in kids[n]])

            network = self.model.network
            chosen = way(network, max(map(tree.depth.__getitem__, kids)))
            memory = passes.memory_of(network, None)
            tokens += walk(network, tree, kids, read, way=chosen, memory=memory)
        return tokens

    def share(self, tokens: int, head_rows: int, seconds: float) -> float | None:
        counts = {"inner_prefixes": tokens, "head_rows": head_rows}
        products = floor.multiply_adds(counts, *floor.parameters(self.model.network))
        return products / seconds / self.rate if self.rate else None


def rate(bench: Bench) -> dict[str, Any]:
    """Multiply-adds a second of products that are repeated for a while: squares, and passes by a layer."""
    torch, g = bench.torch, bench.given

    def sustained(rows: int, inner: int, columns: int) -> float:
        a, b = (
            torch.randn(*shape, device=g.device, dtype=bench.dtype)
            for shape in ((rows, inner), (inner, columns))
        )
        once, _ = bench.timed(lambda: [torch.mm(a, b) for _ in range(3)])
        once, _ = bench.timed(lambda: [torch.mm(a, b) for _ in range(3)])
        n = max(3, min(20_000, int(3 * g.rate_seconds / max(once, 1e-6))))

        def repeat() -> None:
            out = torch.empty(rows, columns, device=g.device, dtype=bench.dtype)
            for _ in range(n):
                torch.mm(a, b, out=out)

        seconds, _ = bench.timed(repeat)
        return n * rows * inner * columns / seconds

    squares = {str(n): sustained(n, n, n) for n in g.square}
    of_passes = {str(n): sustained(n, g.hidden, g.inner) for n in PASSES}
    return {
        "squares": squares,
        "passes": of_passes,
        "multiply_adds_per_second": max(squares.values()),
    }


def weights(bench: Bench) -> dict[str, Any]:
    seconds, model = bench.timed(lambda: bench.model)
    n = sum(p.numel() for p in model.network.parameters())
    estimate = catalogue.resident_bytes(n, bench.given.dtype) / GIB
    return {
        "seconds": seconds,
        "parameters": n,
        "std_of_a_weight": model.network.model.layers[-1].mlp.up_proj.weight.float().std().item(),
        "attention": model.network.config._attn_implementation,
        "in_use_gib": bench.in_use() if bench.cuda else None,
        "dry_run_gib": estimate,
    }


def ours(bench: Bench, which: str) -> dict[str, Any]:
    """The scorer that everybody gets, as they call it: tokenising is in its seconds, too."""
    asked, model = bench.drawn(which), bench.model
    bench.ours(few(bench, which))  # finds the way, and takes what libraries take once
    need, trees = bench.needs(asked)
    peak, first = bench.peak(lambda: bench.ours(asked))
    rounds = [bench.timed(lambda: bench.ours(asked))[0] for _ in range(bench.given.rounds)]
    walks = [bench.timed(lambda: bench.walked(trees))[0] for _ in range(bench.given.rounds)]
    bound = passes.memory_of(model.network, None)
    deepest = max(max(map(tree.depth.__getitem__, kids)) for tree, kids in trees)
    tokens = first.tokens_forwarded
    tight = {}
    for gib in (2.0, 4.0) if which == "W1" and bench.cuda else ():
        tight[str(gib)] = bench.peak(lambda gib=gib: bench.ours(asked, gib))[0]
    return need | {
        "facts": len(asked),
        "seconds": rounds,
        "walk_seconds": walks,
        "tokens": tokens,
        "tokens_per_second": tokens / min(rounds),
        "tokens_per_second_of_the_walk": tokens / min(walks),
        "share": bench.share(tokens, need["head_rows"], min(rounds)),
        "share_of_the_walk": bench.share(tokens, need["head_rows"], min(walks)),
        "peak_gib": peak,
        "peak_gib_by_bound": tight,
        "bound_gib": bound.bytes / GIB,
        "pass_tokens": bound.tokens(deepest),
        "pass_needs_gib": bound.needed(bound.tokens(deepest), deepest) / GIB,
        "dry_run_tokens": expected_tokens(model, asked)[0],
    }


def few(bench: Bench, which: str, n: int = 1) -> list[Prompt]:
    """The first ``n`` facts of each relation."""
    asked = bench.drawn(which)
    names = dict.fromkeys(p.relation for p in asked)
    return [p for name in names for p in [q for q in asked if q.relation == name][:n]]


def plain(bench: Bench, which: str, batch_rows: int = 16) -> dict[str, Any]:
    """Every string whole, in batches that are padded on the right: what most people write first.

    Three facts only, one of each relation; the rest is extrapolated by tokens.
    """
    torch, model, some = bench.torch, bench.model, few(bench, which)
    encoded = encode(model.tokenizer, some, front=model.front)
    strings = [(s, at) for e in encoded for s, at in zip(e.sequences, e.starts, strict=True)]

    def run(part: Sequence[tuple[Any, int]]) -> list[float]:
        values = []
        with torch.inference_mode():
            for begin in range(0, len(part), batch_rows):
                batch = part[begin : begin + batch_rows]
                width = max(len(s) for s, _ in batch)
                rows = [list(s) + [0] * (width - len(s)) for s, _ in batch]
                ids = torch.tensor(rows, device=bench.given.device)
                found = model.network(input_ids=ids, use_cache=False).logits
                for (s, at), logits in zip(batch, found, strict=True):
                    own = logits[at - 1 : len(s) - 1].float().log_softmax(-1)
                    values.append(own[range(len(s) - at), list(s[at:])].double().sum().item())
        return values

    run(strings[:batch_rows])
    seconds, values = bench.timed(lambda: run(strings))
    apart = (
        torch.tensor(values) - torch.tensor(bench.ours(some).frame["logprob"].to_numpy())
    ).abs()
    tokens = sum(len(s) for s, _ in strings)
    whole = encode(model.tokenizer, bench.drawn(which), front=model.front)
    of_all = sum(len(e.stem) * len(e.tails) + sum(map(len, e.tails)) for e in whole)
    return {
        "facts": len(some),
        "seconds": seconds,
        "tokens": tokens,
        "tokens_per_second": tokens / seconds,
        "share_of_its_own_work": bench.share(tokens, tokens, seconds),
        "extrapolated_seconds": seconds * of_all / tokens,
        "extrapolated_tokens": of_all,
        "nats_from_ours_mean": apart.mean().item(),
        "nats_from_ours_max": apart.max().item(),
    }


def expanded(bench: Bench, which: str, batch_rows: int) -> dict[str, Any]:
    """The shots' cache repeated over a batch of options; of large work 10 facts of each relation."""
    asked, model = bench.drawn(which), bench.model
    some = few(bench, which, 10) if len(asked) > 60 else asked

    def run(part: Sequence[Prompt]) -> Any:
        return option_logprobs_expanded(
            model.network, model.tokenizer, part, front=model.front, batch_rows=batch_rows
        )

    run(some[:1])
    seconds, (peak, (values, tokens)) = bench.timed(lambda: bench.peak(lambda: run(some)))
    apart = (
        bench.torch.tensor(values)
        - bench.torch.tensor(bench.ours(some).frame["logprob"].to_numpy())
    ).abs()
    need, _ = bench.needs(some)
    return {
        "facts": len(some),
        "batch_rows": batch_rows,
        "seconds": seconds,
        "tokens_with_padding": tokens,
        "tokens_per_second": tokens / seconds,
        "share_of_the_least_work": bench.share(need["inner_prefixes"], need["head_rows"], seconds),
        "extrapolated_seconds": seconds * len(asked) / len(some),
        "peak_gib": peak,
        "nats_from_ours_mean": apart.mean().item(),
        "nats_from_ours_max": apart.max().item(),
    }


def of_pass(bench: Bench, size: int) -> dict[str, Any]:
    """One relation of the large work in passes of at most ``size`` tokens, without its tokenising."""
    asked = bench.drawn("large")[: bench.given.facts]
    need, trees = bench.needs(asked)
    before = passes.MOST, passes.MOST_ON_GPU
    passes.MOST = passes.MOST_ON_GPU = size
    try:
        peak, tokens = bench.peak(lambda: bench.walked(trees))
        rounds = [bench.timed(lambda: bench.walked(trees))[0] for _ in range(bench.given.rounds)]
    finally:
        passes.MOST, passes.MOST_ON_GPU = before
    return {
        "facts": len(asked),
        "pass_tokens": size,
        "walk_seconds": rounds,
        "tokens": tokens,
        "tokens_per_second_of_the_walk": tokens / min(rounds),
        "share_of_the_walk": bench.share(tokens, need["head_rows"], min(rounds)),
        "peak_gib": peak,
    }


def harness(bench: Bench) -> dict[str, Any]:
    """lm-evaluation-harness with its scorer and with ours, on requests that share less and less."""
    from benchmarks import doors

    m = bench.model
    given = {"pretrained": m.network, "tokenizer": m.tokenizer, "batch_size": 16}
    return {"rows": doors.harness(given | {"max_length": m.context_length}, 60)}


def profile(bench: Bench) -> dict[str, Any]:
    """Where the time of one relation goes: the kernels of the card, and the functions of Python."""
    import cProfile
    import pstats

    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as recorded

    asked = bench.drawn("large")[: min(100, bench.given.facts)]
    bench.ours(asked[:2])  # where the script went on with this part, the model is to be made
    kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if bench.cuda else [])
    with recorded(activities=kinds) as seen:
        seconds, _ = bench.timed(lambda: bench.ours(asked))
    ops = [
        {
            "op": e.key[:90],
            "on": str(e.device_type).rpartition(".")[2],
            "calls": e.count,
            "device_ms": getattr(e, "self_device_time_total", 0) / 1e3,
            "cpu_ms": e.self_cpu_time_total / 1e3,
        }
        for e in seen.key_averages()
    ]
    python = cProfile.Profile()
    alone, _ = bench.timed(lambda: python.runcall(bench.ours, asked))
    functions = [
        {"function": f"{Path(file).name}:{line} {name}", "calls": n, "own_s": own, "all_s": whole}
        for (file, line, name), (_, n, own, whole, _) in pstats.Stats(python).stats.items()
    ]
    return {
        "facts": len(asked),
        "seconds_under_the_profiler": seconds,
        "seconds_under_cprofile": alone,
        "kernels_ms": sum(op["device_ms"] for op in ops if op["on"] == "CUDA"),
        "by_device": sorted(ops, key=lambda op: -op["device_ms"])[:24],
        "by_cpu": sorted(ops, key=lambda op: -op["cpu_ms"])[:12],
        "python": sorted(functions, key=lambda f: -f["own_s"])[:20],
    }


def about(bench: Bench) -> dict[str, Any]:
    import transformers

    torch, g = bench.torch, bench.given
    card = {}
    if bench.cuda:
        of = torch.cuda.get_device_properties(g.device)
        card = {"gpu": of.name, "memory_gib": of.total_memory / GIB, "cuda": torch.version.cuda}
    given = {k: v for k, v in vars(g).items() if k not in ("out", "tokenizer", "limit")}
    return card | {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "given": given,
    }


def main() -> int:
    begun, given = time.perf_counter(), options()
    bench = Bench(given)
    rows = []
    if given.out.exists():
        rows = [json.loads(line) for line in given.out.read_text(encoding="utf-8").splitlines()]
    done = {row["part"]: row for row in rows if "failed" not in row}
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "about": lambda: about(bench),
        "rate": lambda: rate(bench),
        "weights": lambda: weights(bench),
        "ours, W1": lambda: ours(bench, "W1"),
        "ours, large": lambda: ours(bench, "large"),
        "plain, W1": lambda: plain(bench, "W1"),
        "expanded, W1": lambda: expanded(bench, "W1", 32),
        **{f"passes of {n}": lambda n=n: of_pass(bench, n) for n in PASSES},
        "lm-evaluation-harness": lambda: harness(bench),
        "profile": lambda: profile(bench),
        "plain, large": lambda: plain(bench, "large"),
        "expanded, large": lambda: expanded(bench, "large", 32),
    }
    for name, part in parts.items():
        if name in done:
            bench.rate = done[name].get("multiply_adds_per_second", bench.rate)
            continue
        if time.perf_counter() - begun > given.limit:
            print(f"{name}: not begun, {given.limit:g} s are over", flush=True)
            continue
        start = time.perf_counter()
        try:
            row = {"part": name, **part()}
            bench.rate = row.get("multiply_adds_per_second", bench.rate)
        except Exception as error:  # the other parts are worth as much as before
            traceback.print_exc()
            row = {"part": name, "failed": f"{type(error).__name__}: {error}"[:300]}
        row["wall_s"] = time.perf_counter() - start
        with given.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        done |= {name: row} if "failed" not in row else {}
        print(
            json.dumps({k: v for k, v in row.items() if not isinstance(v, list | dict)}), flush=True
        )
        if bench.cuda:
            bench.torch.cuda.empty_cache()
    return 0 if len(done) == len(parts) else 1


if __name__ == "__main__":
    sys.exit(main())
