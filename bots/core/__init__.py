"""What every kind of bot shares: the chat, its failures, rules of text, the protocol of bot hosts."""
