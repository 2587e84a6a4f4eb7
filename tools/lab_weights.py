"""Train the lab models whose weights ship anew and compare, or ship what was trained.

    python tools/lab_weights.py                       train all that ship, and compare
    python tools/lab_weights.py --ship                and put what was trained in their place
    python tools/lab_weights.py --ship lab:book-1/8m  one that does not ship yet

Only whoever changes the trainer runs this, or doubts the weights. What was trained lies in the cache: a
training that was stopped goes on, and one that is whole is not repeated. Two machines need not agree to the
last digit. Where bytes differ, both models are asked the same questions; 1 is returned if they answer
otherwise than by luck (McNemar's test, p below 0.05).
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from safetensors.torch import load_file
from scipy.stats import binomtest

from lkecore import answers, facts, prompts
from lkecore.errors import BadInput
from lkecore.models import lab
from lkecore.storage import file_digest
from lkecore.train import lab as trainer

MOST_BYTES = 15_000_000  # of all that ships, with tokenizers and cards
ASKED = {
    "n_shots": 50,
    "n_facts": 400,
    "n_options": 100,
    "seed": 0,
    "n_test": 400,
    "allow_fewer": True,
}


def shipped() -> dict[str, Path]:
    """{name: folder, packed} of the models whose weights ship, tuned ones behind the others."""
    folders = [path.parent for path in lab.SHIPPED.glob(f"*/{lab.RECORD}")]
    found = {str(lab.record(folder)["name"]): folder for folder in sorted(folders)}
    return dict(sorted(found.items(), key=lambda each: each[0].endswith("-tuned")))


def apart(then: Path, now: Path) -> tuple[str, float]:
    """(what differs between two trainings of a model, in words; the p-value of their answers).

    Raises ValueError where the networks are of other shapes.
    """
    if file_digest(then / lab.WEIGHTS) == file_digest(now / lab.WEIGHTS):
        return "the same to the last byte", 1.0
    old, new = (load_file(folder / lab.WEIGHTS) for folder in (then, now))
    if {k: v.shape for k, v in old.items()} != {k: v.shape for k, v in new.items()}:
        raise ValueError(f"{now} is a network of another shape than {then}")
    most = max(float((old[k].float() - new[k].float()).abs().max()) for k in old)
    sample = facts.draw(str(lab.record(then)["world"]), [], **ASKED)
    both = [str(then), str(now)]
    found = answers.ask(both, prompts.of_sample(sample, ["template-1"]), "answers.parquet")
    wide = found.pivot(index=["relation", "fact"], columns="model", values="correct").astype(int)
    gap = wide[both[1]] - wide[both[0]]
    n = int(gap.abs().sum())  # facts that one of both has right: McNemar's exact test
    p = binomtest(int((gap > 0).sum()), n).pvalue if n else 1.0
    words = f"weights lie up to {most:.2g} apart; share of right answers {gap.mean():+.3f}"
    return f"{words} by {len(gap):,} facts, p = {p:.2g}", float(p)


def ship(name: str, made: Path) -> None:
    """Put a trained model among what ships, in the place of an older one. ValueError if it is too much."""
    old = shipped().get(name)
    others = [path for path in lab.SHIPPED.rglob("*") if path.is_file() and path.parent != old]
    with tempfile.TemporaryDirectory() as scratch:
        packed = lab.pack(made, Path(scratch) / made.name)
        size = sum(path.stat().st_size for path in [*others, *packed.iterdir()])
        if size > MOST_BYTES:
            raise ValueError(
                f"with {name} {size:,} bytes would ship, and {MOST_BYTES:,} is the most"
            )
        if old:
            shutil.rmtree(old)
        shutil.copytree(packed, lab.SHIPPED / made.name)


def main() -> int:
    """0 if all is as it was, or ships now; 1 with one line if not."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("names", nargs="*", help="models of the lab; default: those that ship")
    options.add_argument("--ship", action="store_true", help="let these ship")
    given = options.parse_args()
    differ = []
    try:
        for name in given.names or shipped():
            made, before = trainer.make(name), shipped().get(name)
            if before:
                words, p = apart(lab.unpacked(before), made)
                differ += [name] if p < 0.05 else []
                print(f"{name}: {words}")
            if given.ship:
                ship(name, made)
                print(f"{name}: ships")
    except (BadInput, ValueError, OSError) as error:
        print(error)
        return 1
    return int(bool(differ) and not given.ship)


if __name__ == "__main__":
    sys.exit(main())
