"""ParlAI's own architectures of the line-up, with a history that keeps the persona.

Model options of ParlAI: `bots.parlai.upstream:BiencoderAgent`, `...:PolyencoderAgent`, `...:Seq2seqAgent`.
"""

from parlai.agents.seq2seq.seq2seq import Seq2seqAgent as ParlaiSeq2seq
from parlai.agents.transformer.biencoder import BiencoderAgent as ParlaiBiencoder
from parlai.agents.transformer.polyencoder import PolyencoderAgent as ParlaiPolyencoder

from bots.parlai.history import KeepsPersona
from bots.parlai.specific import PrefersSpecific
from bots.parlai.word_vectors import BeginsWithWordVectors


class BiencoderAgent(KeepsPersona, BeginsWithWordVectors, ParlaiBiencoder):
    """Context and reply encoded apart by transformers; the score is their dot product."""


class PolyencoderAgent(KeepsPersona, BeginsWithWordVectors, ParlaiPolyencoder):
    """Several codes of the context, which the reply attends to (Humeau et al., 2020)."""


class Seq2seqAgent(KeepsPersona, BeginsWithWordVectors, PrefersSpecific, ParlaiSeq2seq):
    """An LSTM encoder and decoder with attention."""
