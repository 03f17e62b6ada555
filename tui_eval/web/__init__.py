"""The app in a browser: who may ask, the page, and a process for each tab.

```
browser ──GET /?token=…──▶ access ──▶ cookie, redirect to /
        ──GET /, /static──▶ access ──▶ page (nothing on it is fetched from elsewhere)
        ──GET /ws─────────▶ access ──▶ tab process ──▶ `tui-eval tab`: the app, drawn through a pipe
```

Each request passes `access` first. A tab's process is the app itself and ends with its tab; engines
are processes of their own and go on.
"""
