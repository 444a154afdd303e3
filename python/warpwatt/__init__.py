"""warpwatt: estimates of GPU performance and power from warp-level traces.

    import warpwatt as ww
    ww.record("sgemm", "sgemm.wwt", arch="sm_70")
    result = ww.run("sgemm.wwt", "v100", db="runs.db")
    print(result.cycles, result.power_w, result.states())
    ww.Database("runs.db").runs()

Rows are pandas DataFrames where pandas is installed. Errors are WarpwattError. docs/guide/python.md is the manual.
"""
from ._abi import VERSION as __version__
from ._database import Database, Summary, Sweep, named_queries, sweep, validate
from ._frame import Table
from ._gpu import Gpu, gpus, mechanisms, workloads
from ._library import WarpwattError, program
from ._run import COMPONENTS, COUNTERS, SLOTS, STATES, Result, page, run
from ._trace import Recorded, Trace, record, record_program, record_ptx

__all__ = ["COMPONENTS", "COUNTERS", "Database", "Gpu", "Recorded", "Result", "SLOTS", "STATES", "Summary", "Sweep", "Table",
           "Trace", "WarpwattError", "__version__", "gpus", "mechanisms", "named_queries", "page", "program", "record",
           "record_program", "record_ptx", "run", "sweep", "validate", "workloads"]
