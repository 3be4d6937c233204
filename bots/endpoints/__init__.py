"""Bots that run elsewhere, on servers that are called over HTTP. Entry point: `endpoint`."""
