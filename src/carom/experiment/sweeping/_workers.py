"""Tasks of a study on a Dask cluster: processes that are spawned, each with its share of processors, or a GPU.

The first task runs alone: whoever gets it compiles, and the others find the program on disk. A worker that dies is
replaced by its cluster, and its task runs again; what a task gives does not depend on where it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from ..._arguments import ClusterLike, Count
from ...errors import CaromError
from ._needed import needed
from ._study_plan import Plan, versions
from ._study_store import Store
from ._study_task import Done, run_task

PATIENCE = 20.0  # [s] within which a cluster answers
DEATHS = 5  # workers that may die on one task before it is taken for its fault


class Workers:
    """Where tasks run: here (`client` is None), or on a cluster, which is closed again if it was made here."""

    def __init__(self, cluster: ClusterLike) -> None:
        self.client: Any = None
        self._own: list[Any] = []
        if cluster is None:
            return
        needed("dask", "distributed")
        if not isinstance(cluster, str):
            if not hasattr(cluster, "submit"):
                said = f"cluster is a {type(cluster).__name__}; it must be 'local:8', an address, or a dask Client"
                raise CaromError(said)
            self.client = cluster
        elif cluster.partition(":")[0] == "local":
            self._start(_count(cluster))
        else:
            self._join(cluster)
        self._refuse_other_versions()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, trouble: BaseException | None, _: TracebackType | None
    ) -> None:
        for each in self._own:
            each.close()

    def _start(self, count: Count) -> None:
        import dask
        from distributed import Client, LocalCluster

        with dask.config.set(
            {"distributed.worker.multiprocessing-method": "spawn", "distributed.scheduler.allowed-failures": DEATHS}
        ):
            cluster = LocalCluster(
                n_workers=0, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
            )
        self.client = Client(cluster)
        self._own = [self.client, cluster]
        from ._share import Share

        self.client.register_plugin(Share(count))
        cluster.scale(count)
        self.client.wait_for_workers(count, timeout=120)

    def _join(self, address: str) -> None:
        from distributed import Client

        try:
            self.client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as trouble:
            raise CaromError(
                f"the cluster at '{address}' does not answer ({str(trouble)[:120] or type(trouble).__name__}); "
                "check the address that `dask scheduler` prints, or give 'local:4'"
            ) from None
        self._own = [self.client]

    def _refuse_other_versions(self) -> None:
        """What a worker would compute otherwise than we."""
        here = versions()
        for worker, there in self.client.run(versions).items():
            differ = [f"{key} is {there[key]} there and {here[key]} here" for key in here if there[key] != here[key]]
            if differ:
                raise CaromError(f"worker {worker} has other versions: {'; '.join(differ)}; install the same on both")

    def run(self, plan: Plan, todo: list[int], store: Path | None) -> Iterator[tuple[int, Done]]:
        """Tasks as they are done."""
        from distributed import KilledWorker, as_completed

        for some in (todo[:1], todo[1:]):
            numbers = {self.client.submit(remote, plan, number, store, pure=False): number for number in some}
            try:
                for future in as_completed(list(numbers)):
                    yield numbers[future], future.result()
            except KilledWorker as killed:
                raise CaromError(
                    f"{DEATHS} workers died on one task ({str(killed)[:120]}); is there enough memory? a smaller chunk "
                    "needs less"
                ) from None
            finally:
                self.client.cancel(list(numbers))


def remote(plan: Plan, number: int, store: Path | None) -> Done:
    """A task, by a worker; what is on disk need not travel."""
    done = run_task(plan, number)
    if store is None:
        return done
    Store(store, plan).write(number, done)
    return done._replace(columns={"outcome": done.columns["outcome"]})


def _count(cluster: str) -> Count:
    words = cluster.partition(":")[2]
    if not words.isdigit() or not 1 <= int(words) <= 1024:
        raise CaromError(f"cluster is '{cluster}'; it must be local:N with N processes from 1 to 1024")
    return int(words)
