"""The ``lke`` command."""
