# distml in a container of its own: no shell, no package manager, nobody's rights.
#
#   docker build -t distml .
#   docker run --rm -v "$PWD:/src" distml check /src
#
# `--target smoke` is the image for GPU machines: CUDA, NCCL, and Horovod for TensorFlow and for PyTorch.
ARG PYTHON=docker.io/library/python:3.11-slim-bookworm
ARG CUDA=docker.io/nvidia/cuda:12.2.2-cudnn8-devel-ubuntu22.04

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

FROM scratch AS check
COPY --from=build /image /
LABEL org.opencontainers.image.title="distml" org.opencontainers.image.licenses="Apache-2.0"
ENV PYTHONPATH=/opt/distml PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1
USER 10001:10001
WORKDIR /src
ENTRYPOINT ["/python", "-m", "distml.cli"]
CMD ["check"]
