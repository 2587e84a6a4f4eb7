"""A homework that checks itself. Write the three functions in plain Python, then run this file.

    python examples/homework.py

Each function gets real answers of the book. What it returns is compared with what the package computes,
which you do not need to read. The file says "right", or what your function returned.
"""

from lkecore import answers, stats, worlds


def over_relations(rows):
    """Accuracy as the book has it: the mean over relations of the share of right answers.

    `rows` is a list of (relation, correct), with correct True or False. Some relations have more rows.
    """
    raise NotImplementedError


def auroc(stated, never):
    """How often a stated fact has a higher value than a never stated one, over all pairs of the two.

    Both are lists of numbers. A tie counts one half.
    """
    raise NotImplementedError


def changed(first, second):
    """(facts that only `first` has right, facts that only `second` has right).

    Both are dicts {fact: correct}. Count facts that are in both.
    """
    raise NotImplementedError


def tasks():
    """(function, its arguments, what the package says) of each."""
    found = answers.results("10_iclke_relations").query("source == 'sizes' and draw == 0")
    small, large = sorted(found["model"].unique())
    spaces = found[found["estimator"] == "iclke-space"]
    some = spaces[spaces["model"] == small].iloc[:-10]  # the last relation has fewer rows
    rows = list(zip(some["relation"], some["correct"].astype(bool), strict=True))
    yield over_relations, (rows,), stats.estimate(some)["estimate"].item()

    facts = answers.results("53_lab_entropy").query("model == 'lab:rich-1/2m'")
    facts = facts[facts["instillation"] == "explicit"]
    states = worlds.states("lab:rich-1")[["fact", "state", "control", "occurrences"]]
    facts = facts.merge(states, on="fact")
    value = -facts.set_index("fact")["rank"]  # many ties
    often = facts[(facts["state"] == "planted") & (facts["occurrences"] >= 16)]
    stated, never = value.loc[often["fact"]], value.loc[often["control"]]
    above = stats.auroc(*(each.reset_index(drop=True) for each in (stated, never)), n=1)
    yield auroc, (stated.tolist(), never.tolist()), above.loc[0, "auroc"]

    wide = spaces.assign(fact=spaces["relation"].astype(str) + "/" + spaces["fact"].astype(str))
    wide = wide.pivot(index="fact", columns="model", values="correct").dropna().astype(bool)
    only = wide[small] & ~wide[large], wide[large] & ~wide[small]
    yield changed, (wide[small].to_dict(), wide[large].to_dict()), tuple(int(e.sum()) for e in only)


def close(mine, theirs):
    """Whether both are the same numbers, to six digits."""
    pairs = zip(mine, theirs, strict=True) if isinstance(theirs, tuple) else [(mine, theirs)]
    return all(abs(a - b) < 1e-6 for a, b in pairs)


def main():
    for function, given, expected in tasks():
        try:
            mine = function(*given)
            said = "right" if close(mine, expected) else f"not yet: it returned {mine}"
        except NotImplementedError:
            said = "not written yet"
        except (TypeError, ValueError) as error:
            said = f"not yet: {error}"
        print(f"{function.__name__}: {said}")


if __name__ == "__main__":
    main()
