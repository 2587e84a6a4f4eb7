"""What a rank leaves open (PZ-F1); the oracles are numpy, scipy and cases by hand."""

import helpers
import numpy as np
import pandas as pd
import pytest
import scipy.stats

from lkecore import intervals
from lkecore.answers import ranks
from lkecore.errors import BadInput
from lkecore.metrics import shift

RNG = np.random.default_rng(0)
N = 12


@pytest.fixture(autouse=True)
def few(monkeypatch):
    helpers.few_resamples(monkeypatch)


def frame(**changes) -> pd.DataFrame:
    """What the door gives: two wordings of twelve facts in two relations."""
    rows = []
    for wording in ("template-1", "template-2"):
        for i in range(N):
            row = {
                "source": "this page", "model": "toy", "estimator": wording, "instillation": "explicit",
                "relation": "r" if i < 6 else "s", "fact": f"f{i:02}", "merged": False,
                "shared": False, "n_tokens": 1 + (i == 5), "kind": "other",
                "rank": float(RNG.integers(1, 300)), "surprisal": RNG.uniform(0, 9),
                "entropy": RNG.uniform(0, 6), "entropy_after": RNG.uniform(0, 2), "kl": RNG.uniform(0, 4),
            }  # fmt: skip
            for side in ("", "after_"):
                p = np.sort(RNG.dirichlet(np.full(80, 0.3)))[::-1][:50]
                tokens = RNG.permutation(80)[:50]
                row |= {f"token_{side}{k}": float(t) for k, t in enumerate(tokens, 1)}
                row |= {f"logprob_{side}{k}": np.log(x) for k, x in enumerate(p, 1)}
            rows.append(row | changes)
    return pd.DataFrame(rows)


@pytest.fixture
def rows():
    return ranks.by_wording(frame())


def test_a_fact_whose_first_token_says_too_little_in_one_wording_is_in_the_same_set_in_both():
    asked = frame()
    asked.loc[3, "merged"] = True  # f03 in the first wording
    asked.loc[N + 4, "shared"] = True  # f04 in the second
    asked.loc[N + 6, "n_tokens"] = 2
    found = ranks.by_wording(asked)
    assert len(found) == 2 * N and (found.groupby("fact")["set"].nunique() == 1).all()
    sets = found.drop_duplicates("fact").set_index("fact")["set"]
    rest = {name: "one token" for name in sets.index}
    assert sets.to_dict() == rest | {
        "f03": "shared",
        "f04": "shared",
        "f05": "alone",
        "f06": "alone",
    }
    of_sets = ranks.by_set(found, seed=0).set_index("set")
    assert of_sets["facts"].to_dict() == {"alone": N - 2, "one token": N - 4, "all": N}
    one = found[found["set"].eq("one token")].pivot(index="fact", columns="wording", values="KL")
    assert of_sets.loc["one token", "KL"].estimate == pytest.approx(one.corr("spearman").iloc[0, 1])
    first = asked.iloc[0]
    row = found.iloc[0]
    assert row["change of entropy"] == pytest.approx(first["entropy"] - first["entropy_after"])
    assert (row["wording"], row["KL"]) == ("template-1", first["kl"])


def test_correlations_between_wordings_are_those_of_scipy(rows):
    found = ranks.between(rows, seed=0).set_index("metric")
    sides = [part.sort_values("fact") for _, part in rows.groupby("wording")]
    rho = {m: scipy.stats.spearmanr(*(s[m] for s in sides)).statistic for m in ranks.METRICS}
    for metric in ranks.METRICS:
        assert found.loc[metric, "r"].estimate == pytest.approx(rho[metric])
        gap = found.loc[metric, "KL minus it"]
        if metric == "KL":
            assert gap is None
        else:
            assert gap.estimate == pytest.approx(rho["KL"] - rho[metric])
    assert set(found["facts"]) == {N}


def test_within_relations_nothing_is_left_that_the_relation_alone_says():
    asked = frame()
    # KL says which relation it is, and in each the second wording turns the order round.
    place = np.tile(np.arange(6.0), 4)
    turned = np.where(asked["estimator"] == "template-1", place, 5 - place)
    asked["kl"] = turned + 100 * (asked["relation"] == "s")
    found = ranks.between(ranks.by_wording(asked), seed=0).set_index("metric").loc["KL"]
    assert found["r"].estimate > 0.4 and found["within"].estimate == pytest.approx(-1)


def test_classes_of_ranks_have_their_percentiles(rows):
    rows = rows.assign(rank=[1.0] * 6 + [5.0] * 8 + [50.0] * 8 + [101.0, 9999.0])
    found = ranks.by_class(rows, seed=0).set_index("rank")
    assert list(found.index) == ["1", "2 to 10", "11 to 100", "above 100"]
    assert found["facts"].tolist() == [6, 8, 8, 2]
    low, high = np.quantile(rows["KL"][:6], [0.1, 0.9])
    assert found.loc["1", "KL"] == f"{low:.1f} to {high:.1f}"
    assert found.loc["1", "spread of KL"].estimate == pytest.approx(high - low)
    assert found.loc["above 100", "spread of KL"] is None


def test_the_likeliest_tokens_are_read_side_by_side(rows):
    found = ranks.by_top(rows, seed=0, ks=[3]).iloc[0]
    one = rows.iloc[0]
    lists = [
        {int(one[f"token_{s}{i}"]): one[f"logprob_{s}{i}"] for i in (1, 2, 3)}
        for s in ("", "after_")
    ]
    first = shift.top_k(*lists)
    every = []
    for row in rows.to_dict("records"):
        sides = [
            {int(row[f"token_{s}{i}"]): row[f"logprob_{s}{i}"] for i in (1, 2, 3)}
            for s in ("", "after_")
        ]
        every.append(shift.top_k(*sides).kl)
    assert every[0] == first.kl and found["from k"] == pytest.approx(np.mean(every))
    assert found["exact"] == pytest.approx(rows["KL"].mean())
    assert found["above"] == pytest.approx(np.mean(np.array(every) > rows["KL"].to_numpy()))
    rho = scipy.stats.spearmanr(every, rows["KL"]).statistic
    assert found["r"].estimate == pytest.approx(rho)


def test_claims_and_words_say_what_the_tables_say(rows):
    rows = rows.assign(rank=np.where(rows["fact"] < "f06", 1.0, rows["rank"] + 1))
    tables = ranks.between(rows, seed=0), ranks.by_top(rows, seed=0, ks=[1, 5])
    claimed = ranks.claimed(rows, *tables, seed=0)
    assert set(claimed) == {"PZ-wording", "PZ-top", "PZ-alike"}
    key = ("this page", "toy")
    assert claimed["PZ-wording"][key] == tables[0].set_index("metric").loc["rank", "KL minus it"]
    assert claimed["PZ-top"][key] == tables[1].set_index("k").loc[5, "r"]
    once = rows[rows["rank"] == 1].drop_duplicates("fact")["KL"]
    low, high = np.quantile(once, [0.1, 0.9])
    assert len(once) == 6 and claimed["PZ-alike"][key].estimate == pytest.approx(high - low)
    said = ranks.sentences(rows, *tables)
    assert set(said) == {"wording", "alike", "top"} and "the first rank" in said["alike"]
    assert tables[0].set_index("metric").loc["KL", "r"].text() in said["wording"]
    assert tables[1].set_index("k").loc[5, "r"].text() in said["top"]
    rows = rows.assign(rank=7.0)
    none = ranks.sentences(rows, *tables)
    assert none["alike"].startswith("Too few objects")
    assert "PZ-alike" not in ranks.claimed(rows, *tables, seed=0)
    assert "0.00 [0.00, 0.24] of the objects" in none["wording"]  # Wilson, none of twelve


def test_ranks_in_both_wordings_stand_side_by_side(rows):
    found = ranks.in_both(rows).set_index("fact")
    wide = rows.set_index(["fact", "wording"])["rank"]
    assert len(found) == N
    for fact, row in found.iterrows():
        assert (row["first"], row["second"]) == (wide[fact, "template-1"], wide[fact, "template-2"])


@pytest.mark.parametrize(
    ("gap", "of_kl", "of_rank", "is_marked"),
    [(0.2, 0.3, 0.4, True), (0.2, 0.4, 0.3, False), (-0.2, 0.3, 0.4, False)],
)
def test_a_verdict_on_wordings_that_turns_round_within_relations_is_marked(
    rows, gap, of_kl, of_rank, is_marked
):
    table = ranks.between(rows, seed=0).set_index("metric")
    of = {("rank", "KL minus it"): gap, ("KL", "within"): of_kl, ("rank", "within"): of_rank}
    for place, value in of.items():
        table.at[place] = intervals.Interval(value, value - 0.1, value + 0.1, 0.95, "by hand")
    mark = {("PZ-wording", "this page", "toy"): "not within relations"}
    assert ranks.marks(table.reset_index()) == (mark if is_marked else {})


def test_a_model_whose_answers_ship_is_judged_under_their_source(rows):
    """The same numbers as of those answers alone, whoever else has the model's name."""

    def judged(some):
        tables = ranks.between(some, seed=0), ranks.by_top(some, seed=0, ks=[5])
        return ranks.claimed(some, *tables, seed=0), ranks.marks(tables[0])

    again = ranks.by_wording(frame()).assign(rank=1.0)
    found, marks = judged(pd.concat([rows, again.assign(source="shipped: long")]))
    here, there = ("this page", "toy"), ("shipped: long", "toy")
    ours, marks_here = judged(rows)
    theirs, marks_there = judged(again)
    wanted = {key: {here: each[here]} for key, each in ours.items()}
    for key, each in theirs.items():
        wanted.setdefault(key, {})[there] = each[here]
    assert found == wanted and there in found["PZ-alike"]
    wanted = marks_here | {(key, *there): mark for (key, *_), mark in marks_there.items()}
    assert marks == wanted


def test_a_page_of_two_wordings_needs_two():
    with pytest.raises(BadInput, match="^1 wordings are asked: this page compares two$"):
        ranks.by_wording(frame()[lambda f: f["estimator"] == "template-1"])


def test_a_fact_that_comes_first_in_both_wordings_counts_once(rows):
    first = rows.assign(rank=1.0)
    assert len(ranks.right(first)) == N and ranks.right(first)["wording"].eq("template-1").all()
    assert ranks.by_class(first, seed=0)["facts"].tolist() == [N]


def test_an_infinite_kl_keeps_its_place_and_is_in_no_mean(rows):
    """Put ten times beyond the largest it must give the same orders; means are of the others."""
    largest = 10 * rows["KL"].max()
    at = rows.index[3]
    infinite, large = rows.copy(), rows.copy()
    infinite.loc[at, "KL"], large.loc[at, "KL"] = np.inf, largest
    for name in ("r", "within"):
        both = [ranks.between(some, seed=0)[name].tolist() for some in (infinite, large)]
        assert both[0] == both[1]
    found = ranks.by_top(infinite, seed=0, ks=[5]).iloc[0]
    assert found["r"] == ranks.by_top(large, seed=0, ks=[5])["r"].iloc[0]
    without = rows.drop(index=at)
    assert found["exact"] == pytest.approx(without["KL"].mean())
    wide = ranks.spread([np.inf, *range(11)], seed=0)
    assert wide.estimate == pytest.approx(8)  # from 1 to 9, of 0 to 10


def test_more_tokens_than_the_answers_have_are_refused(rows):
    with pytest.raises(BadInput, match="^ks 60: these answers have the 50 likeliest tokens of"):
        ranks.by_top(rows, seed=0, ks=[5, 60])


def test_kinds_come_from_the_sample_or_from_lamas_relations():
    class Of:
        def __init__(self, kind):
            self.relation = self
            self.kind = kind

    sources = ["this page", "shipped: x", "this page"]
    frame = pd.DataFrame({"relation": ["P36", "mine", "colour"], "source": sources})
    sample = {"P36": Of(""), "mine": Of("language"), "colour": Of("")}
    found = ranks.with_kinds(frame, sample)
    assert found["kind"].tolist() == ["location", "language", "other"]
    assert found["source"].tolist() == sources
