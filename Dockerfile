# distml in a container of its own: no shell, no package manager, nobody's rights.
#
#   docker build -t distml .
#   docker run --rm -v "$PWD:/src" distml check /src
#
# `--target shell` is for CI systems that run scripts in the image, such as GitLab's. `--target smoke` is the image for GPU
# machines: CUDA, NCCL, and Horovod for TensorFlow and for PyTorch.

# The image to build on: by default the stage below. Another one needs Debian, Python 3.11 or newer, and pip.
ARG PYTHON=python
# What is built, for the labels.
ARG VERSION=0.1.0
ARG SOURCE=""
ARG REVISION=""
# What each framework was built with: Horovod is built against the same CUDA, and runs with what the framework brings.
ARG CUDA_TENSORFLOW=docker.io/nvidia/cuda:12.2.2-cudnn8-devel-ubuntu22.04
ARG CUDA_TORCH=docker.io/nvidia/cuda:13.0.0-cudnn-devel-ubuntu22.04
# The interpreters of Horovod's environments and of distml; the second may not be older than 3.11.
ARG HOROVOD_PYTHON=python3.10
ARG DISTML_PYTHON=python3.11
ARG HOROVOD_GPU=1
ARG PACKAGES="python3.10-dev python3.10-venv python3.11 python3.11-venv"

# Dependabot keeps the digest current.
FROM docker.io/library/python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285 AS python

# What the image is made of, a folder for each layer, the one that changes least often first: from the interpreter and
# Debian what is needed, with the names and versions of Debian's packages for scanners; packages; distml. Compiled files are
# not compared with sources, whose times a reproducible build changes; the sources themselves are left out.
# hadolint ignore=DL3006
FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
COPY .ci/requirements/distml.txt .ci/requirements/image.txt /requirements/
RUN pip install --target /build --require-hashes --requirement /requirements/distml.txt \
 && pip install --no-compile --target /layers/packages/opt/distml --require-hashes --requirement /requirements/image.txt \
 && for name in bin share z3/include libcst/tests; do rm -rf "/layers/packages/opt/distml/$name"; done
COPY pyproject.toml README.md LICENSE CHANGELOG.md /distml/
COPY checker /distml/checker
COPY transforms /distml/transforms
RUN PYTHONPATH=/build pip install --no-compile --no-index --no-deps --no-build-isolation --target /layers/distml/opt/distml /distml \
 && rm -rf /layers/distml/opt/distml/bin
WORKDIR /layers
RUN set -eu; \
    standard="$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"; \
    program="$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')"; \
    mkdir -p python; \
    cp --parents -LR "$standard" python/; \
    for name in test idlelib tkinter turtledemo ensurepip lib2to3 distutils pydoc_data site-packages dist-packages; do \
        rm -rf "python$standard/$name"; \
    done; \
    rm -rf "python$standard"/config-*; \
    find . -name __pycache__ -prune -exec rm -rf {} +; \
    for layer in python packages distml; do \
        python3 -m compileall -q -b -s "/layers/$layer" --invalidation-mode unchecked-hash "/layers/$layer"; \
    done; \
    find . -name '*.py' -delete; \
    find "$program" "/layers/python$standard/lib-dynload" /layers/packages -type f '(' -name '*.so*' -o -path "$program" ')' \
        -exec ldd {} + > /linked; \
    grep -oE '/[^ :]+\.so[^ :]*' /linked > /libraries; \
    sed -i '\|^/layers/|d' /libraries; \
    sort -u -o /libraries /libraries; \
    xargs -a /libraries cp --parents -L -t python; \
    cp --parents -L "$program" /etc/ld.so.cache /etc/os-release /usr/lib/os-release python/; \
    mkdir -p python/var/lib/dpkg/status.d; \
    while read -r library; do \
        package="$(dpkg-query -S "$library" || dpkg-query -S "$(realpath "$library")" || echo none:)"; \
        package="${package%%:*}"; \
        dpkg-query -s "$package" > "python/var/lib/dpkg/status.d/$package" || rm "python/var/lib/dpkg/status.d/$package"; \
    done < /libraries 2> /dev/null; \
    ln -s "$program" python/python; \
    mkdir -m 1777 python/tmp

# For GPU machines: an environment with Horovod and NCCL for each framework, in /opt/horovod/tensorflow and .../torch.
FROM ${CUDA_TORCH} AS torch
ARG HOROVOD_PYTHON
ARG HOROVOD_GPU
ARG PACKAGES
# hadolint ignore=DL3008,SC2086
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates cmake g++ make $PACKAGES \
 && rm -rf /var/lib/apt/lists/*
COPY .ci/horovod /usr/local/bin/make-horovod
RUN DISTML_CACHE=/opt DISTML_HOROVOD_GPU="$HOROVOD_GPU" DISTML_HOROVOD_PYTHON="$HOROVOD_PYTHON" PIP_NO_CACHE_DIR=1 \
    "$HOROVOD_PYTHON" /usr/local/bin/make-horovod torch \
 && find /opt/horovod/wheels -mindepth 1 -delete \
 && ln -s /opt/horovod/environments/torch-* /opt/horovod/torch

FROM ${CUDA_TENSORFLOW} AS tensorflow
ARG HOROVOD_PYTHON
ARG HOROVOD_GPU
ARG PACKAGES
# hadolint ignore=DL3008,SC2086
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates cmake g++ make $PACKAGES \
 && rm -rf /var/lib/apt/lists/*
COPY .ci/horovod /usr/local/bin/make-horovod
RUN DISTML_CACHE=/opt DISTML_HOROVOD_GPU="$HOROVOD_GPU" DISTML_HOROVOD_PYTHON="$HOROVOD_PYTHON" PIP_NO_CACHE_DIR=1 \
    "$HOROVOD_PYTHON" /usr/local/bin/make-horovod tensorflow \
 && find /opt/horovod/wheels -mindepth 1 -delete \
 && ln -s /opt/horovod/environments/tensorflow-* /opt/horovod/tensorflow

FROM tensorflow AS smoke
ARG DISTML_PYTHON
COPY --from=torch /opt/horovod /opt/horovod
COPY pyproject.toml README.md LICENSE CHANGELOG.md /distml/
COPY checker /distml/checker
COPY transforms /distml/transforms
COPY .ci/requirements/distml.txt /requirements/
RUN "$DISTML_PYTHON" -m venv /opt/distml \
 && /opt/distml/bin/pip install --no-cache-dir --require-hashes --requirement /requirements/distml.txt \
 && /opt/distml/bin/pip install --no-cache-dir --no-index --no-deps --no-build-isolation /distml \
 && useradd --uid 10001 --create-home distml
USER 10001:10001
WORKDIR /src
ENTRYPOINT ["/opt/distml/bin/distml"]
CMD ["smoke", "--help"]

# With a shell, for scripts: nothing of distml is in the way of `script:` in GitLab CI.
# hadolint ignore=DL3006
FROM ${PYTHON} AS shell
ARG VERSION
ARG SOURCE
ARG REVISION
COPY --from=build /layers/packages /
COPY --from=build /layers/distml /
RUN printf '#!/bin/sh\nexec python3 -m distml.cli "$@"\n' > /usr/local/bin/distml \
 && chmod 755 /usr/local/bin/distml \
 && useradd --uid 10001 --create-home distml
LABEL org.opencontainers.image.title="distml" org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.revision="$REVISION"
ENV PYTHONPATH=/opt/distml PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1 DISTML_NOTHING_CHECKED=error
USER 10001:10001
WORKDIR /src
CMD ["distml", "check"]

# A stage for each layer, since some builders make one layer of a stage.
FROM scratch AS interpreter
COPY --from=build /layers/python /

FROM interpreter AS packages
COPY --from=build /layers/packages /

# The last, and so what is built where no target is named.
FROM packages AS check
ARG VERSION
ARG SOURCE
ARG REVISION
COPY --from=build /layers/distml /
LABEL org.opencontainers.image.title="distml" org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.revision="$REVISION"
ENV PYTHONPATH=/opt/distml PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1 DISTML_NOTHING_CHECKED=error
USER 10001:10001
WORKDIR /src
ENTRYPOINT ["/python", "-m", "distml.cli"]
CMD ["check"]
