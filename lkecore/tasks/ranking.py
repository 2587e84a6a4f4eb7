"""Whether a query's gold document comes first, before other tails and before other text.

A ranker gives each document of a pool (:func:`lkecore.tasks.documents.pool`) a similarity to its query.
The paper's top-1 accuracy has two parts here. In *tails* the gold document is above all with another tail,
which takes knowledge. In *text* it is above all others, which words of the question give away.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.facts.filters import stands_in
from lkecore.facts.tables import fold, word_set
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores import tree
from lkecore.tasks.documents import GOLD, TAILS, Document, Query

RULES = ("rule-frequent", "rule-word", "rule-overlap", "rule-read")
MORE = 10**9  # more than any tail's number of facts
FRAME = ["model", "ranker", "relation", "fact", "top1", "tails", "text", "n_tails"]
Pools = Sequence[tuple[Query, Sequence[Document]]]


def ranked(
    pools: Pools, similarities: Sequence[ArrayLike], *, model: str, ranker: str
) -> pd.DataFrame:
    """Whether the gold document is first, a row for each query.

    ``similarities[i]`` is for the documents of ``pools[i]``, in their order; larger is more similar. If k
    documents tie for the first place, gold among them, the gold one counts 1/k. The columns are:

    - ``model``, ``ranker``, ``relation``, ``fact``;
    - ``top1``: the part of the first place among all documents, 0 to 1;
    - ``tails``: the same against the documents with another tail alone;
    - ``text``: the same against all other documents alone;
    - ``n_tails``: the number of documents with another tail.

    Raises :class:`BadInput` for a pool without exactly one gold document or without another tail, if the
    numbers of similarities and documents differ, and for a similarity that is NaN.
    """
    rows = []
    for (query, documents), given in zip(pools, similarities, strict=True):
        values = np.asarray(given, dtype=np.float64)
        kinds = np.array([document.kind for document in documents])
        gold, tails = kinds == GOLD, kinds == TAILS
        of = f"relation {query.relation}, fact {query.fact}"
        if gold.sum() != 1 or not tails.any():
            raise BadInput(f"{of}: {gold.sum()} gold documents and {tails.sum()} with another tail")
        if values.shape != kinds.shape or np.isnan(values).any():
            raise BadInput(
                f"{of}: {len(kinds)} documents need as many similarities that are numbers"
            )
        first = [_first(values, gold, among) for among in (~gold, tails, ~gold & ~tails)]
        rows.append((model, ranker, query.relation, query.fact, *first, int(tails.sum())))
    return pd.DataFrame(rows, columns=FRAME)


def _first(values: np.ndarray, gold: np.ndarray, among: np.ndarray) -> float:
    """The gold document's part of the first place against the documents of ``among``."""
    own, others = values[gold][0], values[among]
    return 0.0 if (others > own).any() else 1 / (1 + (others == own).sum())


# --- rankers without training ---------------------------------------------------------------------


def rules(
    query: Query, documents: Sequence[Document], train: Iterable[Fact]
) -> dict[str, list[float]]:
    """Similarities without a model: {rule: one for each document}.

    - ``rule-frequent``: the number of ``train`` facts in the query's relation that have the document's tail.
    - ``rule-word``: the same, but a tail that the query's subject contains is above all others. Of several
      such tails the one with most words is first, as in :func:`lkecore.stats.rules.by_word`, which has no
      documents.
    - ``rule-overlap``: the share of words that query and document have in common, of all words of the two.
    - ``rule-read``: how many of the document's relation, head and tail the query names.

    The first two rules distinguish documents about the query's relation and subject, and put all others
    below these.
    """
    often = Counter(fold(f.object) for f in train if f.relation == query.relation)
    asked = word_set(query.text)
    found: dict[str, list[float]] = {rule: [] for rule in RULES}
    for each in documents:
        own, head, tail = word_set(each.text), word_set(each.subject), word_set(each.tail)
        same = each.relation == query.relation
        about = same and each.subject == query.subject
        times = often[fold(each.tail)] if about else -1
        found["rule-frequent"].append(times)
        inside = len(tail) if about and stands_in(each.tail, query.subject) else 0
        found["rule-word"].append(times + MORE * inside)
        found["rule-overlap"].append(len(own & asked) / max(len(own | asked), 1))
        found["rule-read"].append(same + (head <= asked) + (tail <= asked))
    return found


def ruled(
    pools: Pools, train: Sequence[Fact], model: str, names: Sequence[str] = RULES
) -> pd.DataFrame:
    """The rows of :func:`ranked` for the named rules, one rule after the other, in a table with ``model``."""
    says = [rules(query, documents, train) for query, documents in pools]
    rows = [
        ranked(pools, [each[name] for each in says], model=model, ranker=name) for name in names
    ]
    return pd.concat(rows, ignore_index=True)


def likelihood(model: Model, pools: Pools) -> list[np.ndarray]:
    """log P(document | query) under a decoder, in nats: an array (document,) for each pool.

    The document follows the query and a space. Documents with the same text share a number. Raises
    :class:`BadInput` as :func:`lkecore.scores.tree.option_logprobs` does, also for a masked model.
    """
    prompts = []
    for query, documents in pools:
        texts = tuple(dict.fromkeys(document.text for document in documents))
        gold = texts.index(next(d.text for d in documents if d.kind == GOLD))
        said = tuple(f" {text}" for text in texts)
        names = query.fact, query.relation, query.subject
        prompts.append(Prompt(*names, query.text, texts, said, gold))
    frame = tree.option_logprobs(model, prompts).frame
    of = frame.groupby(["fact", "context"])
    parts = {key: part.set_index("option")["logprob"] for key, part in of}
    return [
        parts[query.fact, query.text].reindex([d.text for d in documents]).to_numpy()
        for query, documents in pools
    ]
