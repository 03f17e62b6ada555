"""What runs inside the other tools' environments: the same cases, as each tool's own pages show.

Called with the job's folder, which holds `cases.jsonl` (id, q) and `job.json` (base_url, in_flight,
timeout_s). Nothing here is imported by anything of ours.
"""
