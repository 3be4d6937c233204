"""Code that the server, the bots and the analysis share. It imports none of them."""
