"""Write the digests of all worlds that have results anew: results/worlds.json.

``python tools/world_digests.py`` makes each world from nothing, half a minute in all. Only whoever changes
a module that makes worlds runs this, or doubts the file. It prints what has changed. A world whose digest
has changed is another world, and its results have to be made anew.
"""

import json

from lkecore.answers.results import table
from lkecore.facts import rich_text, world_text, worlds
from lkecore.storage import write_whole


def named() -> list[str]:
    """The worlds that some results are about."""
    return sorted(set(table()["world"]) - {""})


def made(spec: str) -> dict[str, dict[str, str]]:
    """{what: its key and digest} of a world, made now."""
    family = rich_text if worlds.is_rich(spec) else world_text
    size = family.check_spec(spec)[0]
    digests = {"told": family._digest, "beside": family._digest_beside}
    return {
        what: {
            "key": world_text.kept_key(spec, what, size, family.MADE_BY),
            "digest": digest(spec),
        }
        for what, digest in digests.items()
    }


def main() -> None:
    now = {spec: made(spec) for spec in named()}
    then = json.loads(world_text.SHIPPED.read_text(encoding="utf-8"))
    for spec, of in now.items():
        for what, each in of.items():
            if each["digest"] != then.get(spec, {}).get(what, {}).get("digest"):
                print(f"{spec}, {what}: {each['digest'][:12]}, another than before")
    write_whole(world_text.SHIPPED, json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    main()
