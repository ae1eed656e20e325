"""Events in time: temporal operators on the occurrences of graph patterns, consumption, memory."""
