"""The shipped instruments: all texts of the worker's page, one file for each language."""

from server.study.texts.shipped import ENGLISH, LANGUAGES, Instrument, instrument_of

__all__ = ["ENGLISH", "LANGUAGES", "Instrument", "instrument_of"]
