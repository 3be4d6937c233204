"""Shared code of all bots: the chat, its failures, rules for texts, the protocol of bot hosts."""
