"""PZ-X2: the second paper's text follows from its tables, by a rule that it does not print."""

from lkecore import papers

TABLES = {
    3: ("pez_table3_kl_by_relation", "kl", 1.75),
    4: ("pez_table4_entropy_by_relation", "", 1.5),
}
NEEDS_NONE, RESISTS = "lower_need_of_explicit_instillation", "more_resistant_to_hallucination"


def by_the_rule() -> set[tuple]:
    """(table, model, flag, relation): what the four lists of the text would be.

    A relation resists hallucination if none of its facts was hallucinated. It needs no statement if some
    appeared, none failed to appear, and either none was hallucinated or its mean and that of the facts that
    appeared are a factor apart.
    """
    found = set()
    for number, (name, value, factor) in TABLES.items():
        table = papers.table(name)
        value = value or table.columns[-1]
        means = table.pivot(index=["model", "relation"], columns="fact_class", values=value)
        for (model, relation), row in means.iterrows():
            there = row.notna()
            if not there.any():
                continue
            if not there["hallucinated"]:
                found.add((number, model, RESISTS, relation))
            if there["appeared"] and not there["didnt_appear"]:
                ends = sorted([row["appeared"], row["hallucinated"]])
                if not there["hallucinated"] or ends[1] >= factor * ends[0]:
                    found.add((number, model, NEEDS_NONE, relation))
    return found


def test_the_four_lists_of_the_text_are_those_of_the_rule_and_no_more():
    printed = papers.table("pez_text_relation_flags")
    columns = ["source_table", "model", "flag", "relation"]
    expected = set(printed[columns].itertuples(index=False, name=None))
    assert len(expected) == len(printed) == 51
    assert by_the_rule() == expected


def test_most_cells_of_both_tables_are_filled_and_the_same_ones():
    counts = []
    for name, *_ in TABLES.values():
        table = papers.table(name)
        filled = table[table[table.columns[-1]].notna()]
        counts.append(set(map(tuple, filled[["model", "relation", "fact_class"]].to_numpy())))
    assert counts[0] == counts[1] and len(counts[0]) == 119
