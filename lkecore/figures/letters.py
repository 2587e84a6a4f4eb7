"""Letters: names in any script in a figure, in a font of this machine, or numbers in their place."""

import re

from matplotlib import font_manager, rcParams
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FixedLocator

from lkecore.answers.show import labels


def fit(figure: Figure) -> dict[str, str]:
    """Make each letter of a figure drawable; returns {number in the figure: its name}, mostly empty.

    Labels of models and fact sets replace their names. Other fonts of this machine serve letters that the
    usual font lacks. Where no font has the letters of a name, matplotlib would draw boxes and warn below the
    figure. Such names become "[1]", "[2]", ...
    """
    axes = [axis for each in figure.axes for axis in (each.xaxis, each.yaxis)]
    ticks = {axis: [text.get_text() for text in axis.get_majorticklabels()] for axis in axes}
    texts = figure.findobj(Text)
    lacking = {*"".join(map(labelled, [text.get_text() for text in texts]))} - {"\n"}
    lacking -= _letters_of(font_manager.findfont(font_manager.FontProperties()))
    if not (lacking or labels()):
        return {}
    families = [*rcParams["font.family"]]
    for font in font_manager.fontManager.ttflist if lacking else ():
        # "Last Resort" has a box for each letter that there is.
        if not font.name.startswith("Last Resort") and (has := lacking & _letters_of(font.fname)):
            families.append(font.name)
            lacking -= has
    some = f"[{re.escape(''.join(sorted(lacking)))}]+" if lacking else "(?!)"
    words, numbers = re.compile(rf"{some}(?:\s+{some})*"), {}

    def fitting(text: str) -> str:
        number = lambda found: numbers.setdefault(found[0], f"[{len(numbers) + 1}]")  # noqa: E731
        return words.sub(number, labelled(text))

    for axis, names in ticks.items():
        if any(
            fitting(name) != name for name in names
        ):  # labels are made anew whenever a figure is drawn
            axis.set_major_locator(FixedLocator(axis.get_majorticklocs()))
            axis.set_major_formatter(FixedFormatter([*map(fitting, names)]))
    for text in texts:
        text.set_text(fitting(text.get_text()))
        text.set_fontfamily(families)
    return {number: name for name, number in numbers.items()}


def labelled(text: str) -> str:
    """A text with labels in place of names, which may be beside other words."""
    for name, label in labels().items():
        alone = rf"(?<![\w./-]){re.escape(name)}(?![\w/-])"
        text = re.sub(alone, label.replace("\\", r"\\"), text)
    return text


def _letters_of(font: str) -> set[str]:
    return {*map(chr, font_manager.get_font(font).get_charmap())}
