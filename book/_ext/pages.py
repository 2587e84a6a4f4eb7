"""Numbers of pages, made of the contents (_toc.yml) alone: a chapter is 1, and its fourth page 1.4.

{page}`41_belief_contexts`, with the name of a page's file, is a link that reads "page 4.2", and {Page} begins
a sentence with it. A page outside of numbered chapters is cited by its title in quotes: a reader finds it by
that. Where there is no such page, as in a book of one page alone, the name of the file is shown.

Sphinx could number pages itself, but only together with the headings of the chapter that they are in.
"""

from pathlib import PurePosixPath

from docutils import nodes
from sphinx.roles import XRefRole
from sphinx.util.nodes import make_refnode


def numbers(contents):
    """{page: its number}, of the numbered parts of the contents: (1,) a chapter, (1, 4) its fourth page."""
    parts = [part for part in contents.root.subtrees if part.numbered]
    found = {}
    for i, chapter in enumerate((each for part in parts for each in part.files()), 1):
        found[chapter] = (i,)
        pages = [page for part in contents[chapter].subtrees for page in part.files()]
        found |= {page: (i, j) for j, page in enumerate(pages, 1)}
    return found


def forget(app, env):
    """Take back the numbers of pages that were read for an earlier book: Sphinx begins without."""
    for title in env.titles.values():
        title.attributes.pop("secnumber", None)
    return []


def put_numbers(app, env):
    """Put its number before the title of each page, in the contents and on the page itself."""
    for page, number in numbers(app.config.external_site_map).items():
        if page in env.tocs:
            links = [*env.tocs[page].findall(nodes.reference)]  # to itself, and to its headings
            for link in links:
                link["secnumber"] = () if link["anchorname"] else number
            env.toc_secnumbers[page] = {link["anchorname"]: link["secnumber"] for link in links}
            env.titles[page]["secnumber"] = number
    return []


def cite(app, env, node, name):
    """The link for a role; none for an unknown page, of which Sphinx then warns."""
    found = {PurePosixPath(page).name: page for page in env.found_docs}
    if node["reftype"] != "page" or node["reftarget"] not in found:
        return None
    page = found[node["reftarget"]]
    number, title = numbers(app.config.external_site_map).get(page), env.titles[page].astext()
    text = f"“{title}”"
    if number:
        text = f"{'chapter' if len(number) == 1 else 'page'} {'.'.join(map(str, number))}"
        if node.rawsource.startswith(":P"):  # {Page}; Sphinx knows roles without their case
            text = text.capitalize()
    return make_refnode(app.builder, node["refdoc"], page, "", nodes.inline("", text), title)


def setup(app):
    app.add_role("page", XRefRole(warn_dangling=True))
    app.connect("env-get-updated", forget, priority=400)  # Sphinx puts its own numbers at 500
    app.connect("env-get-updated", put_numbers, priority=600)
    app.connect("missing-reference", cite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
