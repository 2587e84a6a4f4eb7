"""What facts does a language model know? facts → prompts → scores → metrics → figures."""

__version__ = "0.1.0"
