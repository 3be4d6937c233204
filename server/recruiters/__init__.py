"""How workers arrive and leave: one module per platform."""
