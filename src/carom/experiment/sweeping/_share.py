"""What the processes of a local cluster share: processors and GPUs."""

from __future__ import annotations

import glob
import os

from distributed import Worker, WorkerPlugin

from ..._arguments import Count


class Share(WorkerPlugin):
    """What a process of a local cluster may use: its share of the processors, and one GPU, chosen before JAX starts."""

    name = "carom-share"
    idempotent = True

    def __init__(self, count: Count) -> None:
        self.count = count

    def setup(self, worker: Worker) -> None:
        number = int(worker.name) if str(worker.name).isdigit() else 0
        if hasattr(os, "sched_setaffinity"):
            mine = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, mine[number % self.count :: self.count] or [mine[number % len(mine)]])
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        given = os.environ.get("CUDA_VISIBLE_DEVICES")
        gpus = (
            given.split(",")
            if given
            else [path[len("/dev/nvidia") :] for path in sorted(glob.glob("/dev/nvidia[0-9]*"))]
        )
        if gpus and gpus[0]:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]

    def teardown(self, worker: Worker) -> None:
        """Nothing is to be given back."""
