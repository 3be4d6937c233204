"""The instruments that ship with the server: every text of a worker's page, a file for each language."""

from server.study.texts.shipped import ENGLISH, LANGUAGES, Instrument, instrument_of

__all__ = ["ENGLISH", "LANGUAGES", "Instrument", "instrument_of"]
