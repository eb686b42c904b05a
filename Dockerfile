# The command `relevance` in a container, as a user without rights. It writes nothing outside of the folders that you
# mount, so the container's own file system may be read-only:
#
#   docker build --tag relevance-harness .
#   docker run --rm --read-only --volume "$PWD:/work:ro" relevance-harness run suites/ --url http://search.example:9200
#
# Reports need a folder that user 10001, or the one of --user, may write to: --volume "$PWD/reports:/reports".
#
# A tag may be moved to another image. `docker buildx imagetools inspect python:3.13-slim` prints the digest to pin:
# docker build --build-arg BASE=python:3.13-slim@sha256:… The lock of scripts/locks is chosen with --build-arg LOCK=….
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ARG LOCK=statistics-files
# The address of the repository, such as https://github.com/OWNER/relevance-harness: errors lead to its documentation.
ARG RELEVANCE_REPOSITORY_URL=
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY scripts/package_description.py scripts/package_description.py
COPY scripts/locks scripts/locks
COPY harness harness
COPY pytest_relevance.py pytest_relevance.py
RUN python3 -m venv /opt/relevance \
 && /opt/relevance/bin/pip install --no-cache-dir --require-hashes --requirement "scripts/locks/${LOCK}.txt" \
 && /opt/relevance/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${BASE}
COPY --from=build /opt/relevance /opt/relevance
ENV PATH=/opt/relevance/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /work
USER 10001:10001
ENTRYPOINT ["relevance"]
CMD ["--help"]
