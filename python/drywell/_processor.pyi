"""Its import fails with a sentence on a processor that is older than x86-64-v2."""
