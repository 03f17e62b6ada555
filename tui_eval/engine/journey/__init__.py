"""The life of a trial: from queued to settled, whoever calls and whoever scores.

journey           start → generate → record → score → settle
journey_parts     what it needs of targets, scorers and programs
steps             what a step leaves to be written, and how outputs are written and scored
trial_in_flight   a trial that the engine has taken
trial_scoring     which scores an output still needs, and who decides them
off_loop          rendering and scoring beside the loop, within its limits
lazy_open         targets and judges, opened as they are first asked
attempt_contexts  what an attempt's target is told
conversation_calls, progress_writer   what an attempt says while it goes on
"""
