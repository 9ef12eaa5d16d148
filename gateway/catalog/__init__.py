"""The sentences that people read, one module a language. Who asks for them asks `words`."""
