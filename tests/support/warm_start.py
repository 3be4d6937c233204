"""The slow part of the start of servers, crowds and bot hosts, done once before they are forked."""

from fastapi import FastAPI

from bots import load_corpus, open_bot
from server.app import API

open_bot("builtin:retrieval", load_corpus("builtin:smalltalk"))
FastAPI(routes=API.routes).openapi()  # builds the endpoints, which are built when first used
