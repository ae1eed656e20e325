"""Third-party suites, run as their authors meant them: `ensue conformance SUITE PATH`.

A suite is read from its manifests (`manifests`), each test is run by a runner of its own (`queries`,
`entailment`, `semantics`), what may fail is a list with a reason each (`exceptions`), and what came out is
told as tables, JSON and EARL (`report`, `earl`).
"""
