"""The compiled evaluator: a query becomes a plan of operators, and those run over columns of integers."""
