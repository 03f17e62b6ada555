# tui-eval, slim, as a user without rights; the store is in the volume /data.
#
#   docker build -t tui-eval .
#   docker run --rm -it -v evals:/data -v "$PWD:/work" tui-eval run suite.toml

FROM python:3.13-slim AS build
WORKDIR /source
RUN python -m venv /opt/tui-eval
COPY requirements/build.txt requirements/web.txt requirements/
RUN /opt/tui-eval/bin/pip install --no-cache-dir --require-hashes -r requirements/web.txt
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt
COPY pyproject.toml hatch_build.py README.md LICENSE CHANGELOG.md ./
COPY styles styles
COPY sample_suites sample_suites
COPY tui_eval tui_eval
RUN /opt/build/bin/python -m hatchling build -t wheel -d /dist \
 && /opt/tui-eval/bin/pip install --no-cache-dir --no-deps /dist/*.whl

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home --home-dir /home/tui-eval tui-eval \
 && mkdir /data /work && chown tui-eval: /data /work
COPY --from=build /opt/tui-eval /opt/tui-eval
ENV PATH=/opt/tui-eval/bin:$PATH \
    LANG=C.UTF-8 \
    TERM=xterm-256color \
    TUI_EVAL_STORE=/data/store.sqlite3 \
    TUI_EVAL_CONFIG=/data/config \
    TUI_EVAL_STATE=/data/state.json \
    XDG_STATE_HOME=/data/log
USER 10001
VOLUME /data
WORKDIR /work
ENTRYPOINT ["tui-eval"]
