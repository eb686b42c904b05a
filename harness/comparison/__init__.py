"""Two runs compared, query by query: `scores` tests how they differ, `rankings` says how far they agree. Pure."""
