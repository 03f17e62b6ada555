"""Workers on the nodes of a Ray cluster.

::

    engine ── RayExecutor ──socket──> bridge ──Ray──> RayWorker, one a node
       (handfuls, names)          (has Ray in it)       (AttemptWorker)
"""
