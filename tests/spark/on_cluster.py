"""Golden cases as one job on a cluster, in a process of its own: the session of the tests is another one.

    python tests/spark/on_cluster.py MASTER FOLDER CASES

Says on standard output when each micro-batch is done, and at the end which cases were wrong.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark.packed import run_packed
from spark.test_same_answers import golden, is_right, plans

from ensue.spark.session import session


def main(master: str, folder: str, cases: str) -> None:
    """Run them."""
    extra = {"spark.master": master, "spark.driver.host": "127.0.0.1", "spark.task.maxFailures": "8"}
    spark = session("golden on a cluster", shards=2, extra=extra)
    listed = list(islice(golden(plans), int(cases)))
    run_packed(
        spark,
        [packed for _, packed in listed],
        Path(folder),
        micro_batches=6,
        on_batch=lambda number: print(f"micro-batch {number}", flush=True),
    )
    wrong = [packed.name for case, packed in listed if not is_right(case, packed)]
    workers = {counted["worker"] for _, packed in listed for counted in packed.counters.values()}
    print(json.dumps({"runs": len(listed), "wrong": wrong, "workers": len(workers)}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
