"""Parts that several builtin systems share: exchanges, terms, facts, rules."""
