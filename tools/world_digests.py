"""Write the digests of the rich worlds that have results anew: results/worlds.json.

``python tools/world_digests.py`` makes each world from nothing, half a minute in all. Only whoever changes
a module that makes worlds runs this, or doubts the file. Those of plain worlds are in the files that
``tools/plain_worlds.py`` writes. It prints what has changed. A world whose digest
has changed is another world, and its results have to be made anew.
"""

import json

from lkecore import worlds
from lkecore.answers.shipped import table
from lkecore.storage import write_whole
from lkecore.worlds import text


def named() -> list[str]:
    """The rich worlds that some results are about."""
    return sorted(filter(worlds.is_rich, set(table()["world"])))


def made(spec: str) -> dict[str, dict[str, str]]:
    """{what: its key and digest} of a world, made now."""
    digests = {"told": text._digest, "beside": text._digest_beside}
    return {
        what: {"key": text.kept_key(spec, what), "digest": digest(spec)}
        for what, digest in digests.items()
    }


def main() -> None:
    now = {spec: made(spec) for spec in named()}
    then = json.loads(text.SHIPPED.read_text(encoding="utf-8"))
    for spec, of in now.items():
        for what, each in of.items():
            if each["digest"] != then.get(spec, {}).get(what, {}).get("digest"):
                print(f"{spec}, {what}: {each['digest'][:12]}, another than before")
    write_whole(text.SHIPPED, json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    main()
