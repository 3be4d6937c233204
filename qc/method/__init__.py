"""The published method (Ji et al., ACL 2022), with one module for each group of its tables and figures."""
