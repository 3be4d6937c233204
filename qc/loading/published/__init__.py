"""Read the two published formats of Ji et al. (ACL 2022)."""
