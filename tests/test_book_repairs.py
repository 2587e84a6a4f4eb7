"""What is mended on finished pages: figures that open alone, captions, signs for percent."""

import importlib.util
from pathlib import Path

from bs4 import BeautifulSoup

PATH = Path(__file__).resolve().parent.parent / "book" / "_ext" / "repairs.py"


def repaired(text):
    spec = importlib.util.spec_from_file_location("book_repairs", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.repaired(text)


def test_each_table_is_called_by_the_bold_words_or_the_heading_before_it():
    page = """<h2>Answers<a class="headerlink" href="#a">#</a></h2><table id="a"><tr><th>1</th></tr></table>
    <p><strong>By <em>size</em>, in 5 %.</strong> Text.</p><table id="b"><tr><td>0</td></tr></table>
    <table><caption>Own.</caption></table><pre>&lt;strong&gt;<strong>no</strong></pre><table></table>"""
    tables = BeautifulSoup(repaired(page), "html.parser").find_all("table")
    said = [[c.get_text().replace("\xa0", " ") for c in t.find_all("caption")] for t in tables]
    assert said == [["Answers"], ["By size, in 5 %"], ["Own."], ["By size, in 5 %"]]
    assert "<caption" not in repaired("<p>No words</p><table></table>")


def test_a_sign_for_percent_stays_in_the_line_of_its_number():
    page = "<p>12 % of <b style='width: 9%'>3%</b></p><pre>4 % 3</pre><code>a = 7 % b</code>"
    found = repaired(page)
    assert found.count("&nbsp;%") == 2 and "12&nbsp;%" in found and "3&nbsp;%" in found
    assert "width: 9%" in found and "4 % 3" in found and "7 % b" in found
