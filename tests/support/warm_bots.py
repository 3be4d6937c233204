"""Learn what crowds and bot hosts need of the shipped corpus, before they are forked: it takes a second."""

from bots import load_corpus, open_bot

open_bot("builtin:retrieval", load_corpus("builtin:smalltalk"))
