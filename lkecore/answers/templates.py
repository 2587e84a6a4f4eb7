"""Templates: models of longer runs under a name of their own, as in "smollm2 on table5_written"."""

import pandas as pd

ON = " on "  # between a model and the profile that ships its answers


def with_source(frame: pd.DataFrame) -> pd.DataFrame:
    """Models by their own names, and in ``source`` whose answers these are."""
    parts = [label.partition(ON) for label in frame["model"]]
    sources = [f"shipped: {profile}" if profile else "this page" for _, _, profile in parts]
    return frame.assign(model=[model for model, _, _ in parts], source=sources)
