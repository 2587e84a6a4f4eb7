"""Answers: one row for each question. Functions that ask models, keep and ship answers, and judge claims."""

from lkecore.answers.again import agree, shown
from lkecore.answers.asking import ask, likeliest, opened
from lkecore.answers.blanks import READ_BY, any_causal, ask_blanks, ask_taught, at_blanks
from lkecore.answers.decided import CHANGED, ONE_DRAW, UNLEARNED, verdicts
from lkecore.answers.kept import load_runs, on_page, once, save
from lkecore.answers.known import known_task
from lkecore.answers.meanings import columns
from lkecore.answers.questions import sample
from lkecore.answers.rich import guesses, untold
from lkecore.answers.rules import by_word
from lkecore.answers.shipped import results
from lkecore.answers.show import html_table
from lkecore.answers.written import write

__all__ = [
    "CHANGED", "ONE_DRAW", "READ_BY", "UNLEARNED", "agree", "any_causal", "ask", "ask_blanks",
    "ask_taught", "at_blanks", "by_word", "load_runs", "columns", "guesses",
    "save", "known_task", "likeliest", "on_page", "once", "opened", "results", "sample", "shown", "untold",
    "verdicts", "html_table", "write",
]  # fmt: skip
