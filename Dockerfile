# The service as an image: only what it runs is in it, it is nobody's root and writes to its volume
# and /tmp alone. The embedded engine is left out; NEO4J_URI says where the graph is. What comes from
# elsewhere is known by its hash: the base image, and each package; none is built from source.
FROM python:3.13-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8 AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/veritrail && python -m venv /opt/build
COPY requirements-runtime.lock requirements-build.lock /src/
RUN /opt/veritrail/bin/pip install --no-deps --only-binary :all: --require-hashes -r /src/requirements-runtime.lock \
    && /opt/build/bin/pip install --no-deps --only-binary :all: --require-hashes -r /src/requirements-build.lock
COPY pyproject.toml README.md LICENSE /src/
COPY api /src/api
COPY cypher /src/cypher
COPY graph /src/graph
COPY verifier /src/verifier
COPY veritrail_graph /src/veritrail_graph
# The samples of the package are links to these.
COPY examples/graphrag-energy.json /src/examples/graphrag-energy.json
COPY examples/graphrag-energy.labels.json /src/examples/graphrag-energy.labels.json
COPY examples/graphrag-energy.recorded.jsonl /src/examples/graphrag-energy.recorded.jsonl
COPY examples/harbour-summary.json /src/examples/harbour-summary.json
COPY examples/harbour-summary.labels.json /src/examples/harbour-summary.labels.json
COPY examples/harbour-summary.recorded.jsonl /src/examples/harbour-summary.recorded.jsonl
RUN /opt/build/bin/pip wheel --no-index --no-deps --no-build-isolation --wheel-dir /dist /src \
    && /opt/veritrail/bin/pip install --no-index --no-deps --compile /dist/*.whl \
    && /opt/veritrail/bin/pip uninstall --yes pip

FROM python:3.13-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8
LABEL org.opencontainers.image.title="VeriTrail Graph" \
      org.opencontainers.image.licenses="MIT"
RUN groupadd --gid 10001 veritrail \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/veritrail veritrail \
    && install --directory --owner 10001 --group 10001 --mode 0700 /var/lib/veritrail
COPY --from=build /opt/veritrail /opt/veritrail
ENV PATH=/opt/veritrail/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    VERITRAIL_HOME=/var/lib/veritrail
USER 10001:10001
WORKDIR /var/lib/veritrail
VOLUME ["/var/lib/veritrail"]
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["veritrail"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
