"""Mistakes that the protocols could have: each is planted in their text, and schedules must find it."""

from __future__ import annotations

from .loading import Mistake

MISTAKES = (
    Mistake(
        "a file takes its name before its text is on the disk",
        "ledger",
        "        out.sync()\n    finally:\n        out.close()\n    files.replace",
        "        out.flush()\n    finally:\n        out.close()\n    files.replace",
    ),
    Mistake(
        "a file is written in its place",
        "ledger",
        "    beside = part_of(path)\n    out = files.open_new(beside)",
        "    beside = path\n    out = files.open_new(beside)",
    ),
    Mistake(
        "the name of a file that was replaced is not on the disk",
        "ledger",
        "    files.replace(beside, path)\n    files.sync_folder(path.parent)",
        "    files.replace(beside, path)",
    ),
    Mistake(
        "the name of a new output file is not on the disk",
        "ledger",
        "                self._files.sync_folder(Path(self.name).parent)\n",
        "                pass\n",
    ),
    Mistake(
        "the ledger says that results are written before they are on the disk",
        "ledger",
        "            self._out.sync()\n",
        "            self._out.flush()\n",
    ),
    Mistake(
        "results are still in the memory of the process when the ledger counts them",
        "ledger",
        "            self._out.sync()\n",
        "            pass\n",
    ),
    Mistake(
        "what a run wrote that did not live to say so is not cut off",
        "ledger",
        "        self._out.cut(length)\n",
        "",
    ),
    Mistake(
        "a micro-batch that is given again is written again",
        "ledger",
        "        if number <= self.written.batch:",
        "        if number < self.written.batch:",
    ),
    Mistake(
        "what Spark has lost of its logs is not noticed",
        "ledger",
        "    if not done <= written <= planned:",
        "    if False:",
    ),
    Mistake(
        "two runs have a checkpoint",
        "ledger",
        "    if lock is None:",
        "    if False:",
    ),
    Mistake(
        "the manifest of a killed run makes a checkpoint none",
        "card",
        "name == part_of(folder / NAME).name for name",
        "False for name",
    ),
    Mistake(
        "a token of another state will do for what is kept in the process",
        "shard",
        "if shard is not None and token == head.token and (path or shard.folder is None):",
        "if shard is not None and (path or shard.folder is None):",
    ),
    Mistake(
        "what is kept in the process is taken although another has claimed its arrays",
        "shard",
        "if shard is not None and token == head.token and (path or shard.folder is None):",
        "if shard is not None and token == head.token:",
    ),
    Mistake(
        "arrays lie under the token of the state that they were of",
        "shard",
        "        cache.put(name, token, shard)  # From",
        "        cache.put(name, head.token if head else token, shard)  # From",
    ),
    Mistake(
        "states of the same step have the same token",
        "shard",
        "guarded.counters, secrets.token_hex(16)",
        "guarded.counters, str(shard.step)",
    ),
    Mistake(
        "arrays are worked on where they lie, without a claim",
        "shelf",
        "            self._files.rename(self._at(token), path)\n",
        "            path = self._at(token)\n            self._files.touch(path)\n",
    ),
    Mistake(
        "mapped arrays of before a power failure are taken for whole",
        "shelf",
        'f"{files.boot()}.{plan}"',
        "plan",
    ),
    Mistake(
        "a step of the log is dropped while it still matters",
        "shard",
        "    for number in list(shard.log)[:kept]:",
        "    for number in list(shard.log)[: kept + 1]:",
    ),
    Mistake(
        "what queries remember is not in the truth",
        "shard",
        "            store.put_memory(query, json.dumps(give()).encode())\n",
        "            pass\n",
    ),
    Mistake(
        "networks of another state are taken for those of this one",
        "network_shard",
        "        if token == head.token:\n",
        "        if True:\n",
    ),
    Mistake(
        "networks that are behind take an entry of what is there for one of what has changed",
        "network_shard",
        "        if since <= head.first:",
        "        if since < head.first:",
    ),
    Mistake(
        "networks that are behind are brought one entry too far back",
        "network_shard",
        "range(since, head.next)",
        "range(since + 1, head.next)",
    ),
    Mistake(
        "a folder of payloads is removed although its owner lives",
        "payload_files",
        "        if lock is not None:  # Otherwise its owner lives.\n            files.remove_tree",
        "        if True:\n            files.remove_tree",
    ),
)
