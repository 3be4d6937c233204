"""Human evaluation of dialogue systems: a live server, bots, and the analysis of what they measure."""
