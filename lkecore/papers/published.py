"""Published values: every number of the four papers, as tables."""

from collections.abc import Mapping
from difflib import get_close_matches

import pandas as pd

from lkecore.storage import DATA


def table(name: str) -> pd.DataFrame:
    """A published table, such as "iclke_table7_models": one file of `data/papers` (see its README).

    Numbers keep the paper's digits and unit. NaN means not printed or not applicable. ValueError
    for an unknown name, with the nearest ones.

    >>> float(table("iclke_table7_models")["average_accuracy"].max())
    0.8511
    """
    names = sorted(
        path.name.removesuffix(".csv")
        for path in (DATA / "papers").iterdir()
        if path.name.endswith(".csv")
    )
    if name not in names:
        # Ask for more than a typo's distance: "table7" should find its file as well.
        near = [other for other in names if name and name in other] or get_close_matches(
            name, names, 5, 0.3
        )
        raise ValueError(
            f"no published table {name!r}; nearest: {', '.join(near) or ', '.join(names)}"
        )
    return read_table(DATA / "papers" / f"{name}.csv")


def property_names() -> dict[str, str]:
    """Names of Wikidata properties: the IC-LKE paper's for those of its Table 3, else Wikidata's label.

    The properties are those of the paper's relations (as we read them), of LAMA and of the part of KAMEL
    that the book asks. Wikidata's labels are in the public domain (CC0).

    >>> property_names()["P36"], property_names()["P19"]
    ('capital', 'place of birth')
    """
    labels = read_table(DATA / "wikidata_labels.csv").set_index("property")["label"]
    ours = table("iclke_table3_relations").dropna(subset="wikidata_pid_added")
    return {**labels, **ours.set_index("wikidata_pid_added")["relation"]}


def read_table(path) -> pd.DataFrame:
    # Only an empty cell is missing: a model or relation may well be called "None" or "NA".
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])


def table_5(called: Mapping[str, str]) -> pd.DataFrame:
    """Table 5 of the IC-LKE paper, the templates, with those first that a page asks.

    ``called`` is the paper's name of each relation that is asked, by its name here. The columns are:

    - ``relation``: the paper's name;
    - ``asked here as``: the names here, "" if it is not asked;
    - ``name``: "hgp-1" to "mmp-3";
    - ``template``: with [X] and [Y];
    - ``note``: on oddities of the template.
    """
    found = table("iclke_table5_templates").fillna({"note": ""})
    here: dict[str, list[str]] = {}
    for name, relation in called.items():
        here.setdefault(relation, []).append(name)
    found["asked here as"] = [", ".join(here.get(name, [])) for name in found["relation"]]
    found["name"] = found["kind"].str.lower() + "-" + found["index"].astype(str)
    words = found["template"].str.replace("{subject}", "[X]", regex=False)
    found["template"] = words + " [Y]"
    first = found["asked here as"] == ""
    columns = ["relation", "asked here as", "name", "template", "note"]
    return found.loc[first.sort_values(kind="stable").index, columns].reset_index(drop=True)
