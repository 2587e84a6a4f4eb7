"""Page: what made the numbers that a page shows."""

import pandas as pd

from lkecore.answers.door import opened
from lkecore.answers.kept import behind, read_manifest
from lkecore.models.model import Model
from lkecore.runs.record import versions


def provenance(*models: Model | str, dtype: str = "float32") -> pd.DataFrame:
    """What made this page's numbers: a table of models (digest, dtype, device) and versions.

    ``models`` are those that were asked, or their names. On a page over several runs, which asks
    none, models and versions are those of the runs, all of them where they differ.
    """
    runs = [read_manifest(folder) for folder in behind()]
    rows = {
        f"model {m.name}": f"{m.digest[:12]}, {m.dtype}, {m.device}, "
        f"{' '.join(m.prefix) or 'nothing'} in front of a text"
        for m in (opened(m, dtype) if isinstance(m, str) else m for m in models if not runs)
    }
    for run in runs:
        rows |= {f"model {m}": f"{d[:12]}, {run['dtype']}" for m, d in run["models"].items()}
    rows |= {"runs": f"{len(runs)} behind this page"} if runs else {}
    ours = versions()
    of_each = runs or [ours]
    rows |= {name: ", ".join(dict.fromkeys(v[name] for v in of_each)) for name in ours}
    return pd.DataFrame({"which": rows.values()}, index=pd.Index(rows, name="what"))
