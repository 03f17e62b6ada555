"""An attempt as a target sees it: what it is told, whom it tells, and what is seen of it."""
