"""Corpora of dialogues between two people, from which the builtin systems and the QC bot learn."""

from bots.corpus.load import load_corpus
from bots.corpus.model import Corpus, CorpusError, Dialogue, Persona, read_jsonl

__all__ = ["Corpus", "CorpusError", "Dialogue", "Persona", "load_corpus", "read_jsonl"]
