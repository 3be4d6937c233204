"""Bots that run elsewhere: servers that are asked over HTTP. `endpoint` is the way in."""
