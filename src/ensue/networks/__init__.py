"""Rule networks: files of SPARQL Update rules that run over what arrives, to a fixpoint for each element."""
