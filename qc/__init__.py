"""Offline analysis of a run: from what workers rated to what can be said about the systems.

Public are the commands `python -m qc.report`, `python -m qc.estimate` and `python -m qc.convert`, and for
other programs `qc.api`.
"""
