"""What the published method reports (Ji et al., ACL 2022): one module for one of its tables or figures."""
