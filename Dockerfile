# distml in a container of its own: no shell, no package manager, nobody's rights.
#
#   docker build -t distml .
#   docker run --rm -v "$PWD:/src" distml check /src
#
# `--target smoke` is the image for GPU machines: CUDA, NCCL, and Horovod for TensorFlow and for PyTorch.
ARG PYTHON=docker.io/library/python:3.11-slim-bookworm
# What each framework was built with: Horovod is built against the same CUDA, and runs with what the framework brings.
ARG CUDA_TENSORFLOW=docker.io/nvidia/cuda:12.2.2-cudnn8-devel-ubuntu22.04
ARG CUDA_TORCH=docker.io/nvidia/cuda:13.0.0-cudnn-devel-ubuntu22.04
# The interpreters of Horovod's environments and of distml; the second may not be older than 3.11.
ARG HOROVOD_PYTHON=python3.10
ARG DISTML_PYTHON=python3.11
ARG HOROVOD_GPU=1
ARG PACKAGES="python3.10-dev python3.10-venv python3.11 python3.11-venv"

# The packages, and from the interpreter what they need. Compiled files are not compared with sources, whose times a
# reproducible build changes; the sources themselves are left out.
FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
RUN pip install hatchling==1.27.0 \
 && pip install --no-compile --target /image/opt/distml z3-solver==5.4.0.0 libcst==1.9.0 PyYAML==6.0.3 \
 && rm -r /image/opt/distml/bin
COPY pyproject.toml README.md LICENSE CHANGELOG.md /distml/
COPY checker /distml/checker
COPY transforms /distml/transforms
RUN pip install --no-compile --no-deps --no-build-isolation --target /image/opt/distml /distml
RUN set -eu; \
    standard="$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"; \
    program="$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')"; \
    rm -rf /image/opt/distml/bin /image/opt/distml/share /image/opt/distml/z3/include /image/opt/distml/libcst/tests; \
    cp --parents -LR "$standard" /image/; \
    for name in test idlelib tkinter turtledemo ensurepip lib2to3 distutils pydoc_data site-packages dist-packages; do \
        rm -rf "/image$standard/$name"; \
    done; \
    rm -rf "/image$standard"/config-*; \
    find /image -name __pycache__ -prune -exec rm -rf {} +; \
    python3 -m compileall -q -b -s /image --invalidation-mode unchecked-hash "/image$standard" /image/opt/distml; \
    find /image -name '*.py' -delete; \
    find "$program" "/image$standard/lib-dynload" /image/opt/distml -type f '(' -name '*.so*' -o -path "$program" ')' \
        -exec ldd {} + > /linked; \
    grep -oE '/[^ :]+\.so[^ :]*' /linked > /libraries; \
    sed -i '\|^/image/|d' /libraries; \
    sort -u -o /libraries /libraries; \
    xargs -a /libraries cp --parents -L -t /image; \
    cp --parents -L "$program" /etc/ld.so.cache /image/; \
    ln -s "$program" /image/python; \
    mkdir -m 1777 /image/tmp

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
RUN "$DISTML_PYTHON" -m venv /opt/distml \
 && /opt/distml/bin/pip install --no-cache-dir hatchling==1.27.0 z3-solver==5.4.0.0 libcst==1.9.0 PyYAML==6.0.3 \
 && /opt/distml/bin/pip install --no-cache-dir --no-deps --no-build-isolation /distml \
 && useradd --uid 10001 --create-home distml
USER 10001:10001
WORKDIR /src
ENTRYPOINT ["/opt/distml/bin/distml"]
CMD ["smoke", "--help"]

# The last, and so what is built where no target is named.
FROM scratch AS check
COPY --from=build /image /
LABEL org.opencontainers.image.title="distml" org.opencontainers.image.licenses="Apache-2.0"
ENV PYTHONPATH=/opt/distml PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1
USER 10001:10001
WORKDIR /src
ENTRYPOINT ["/python", "-m", "distml.cli"]
CMD ["check"]
