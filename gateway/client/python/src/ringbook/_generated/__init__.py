"""Made from the documents of the service by gateway/client/python/generate: do not edit."""
