"""Shared by every kind of bot: the chat, its failures, rules of text, the protocol of bot hosts."""
