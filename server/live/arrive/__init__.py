"""Let workers in: who may come, which slot they take, which systems they meet."""
