"""The published method (Ji et al., ACL 2022), with one module for each of its tables or figures."""
