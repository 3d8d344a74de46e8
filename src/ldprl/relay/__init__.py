"""Between clients and a service, run by somebody else: holds reports until there is a crowd."""
