# syntax=docker/dockerfile:1
# SPDX-License-Identifier: Apache-2.0
# docker build -t mct .                    the Python package and the command `mct`, without compilers (the last stage)
# docker build -t mct-build --target build .   a machine with the checkout built in /mct
FROM debian:12 AS build
# Version 22 of the LLVM packages; give another line where a mirror has them.
ARG LLVM_SOURCE="deb [signed-by=/etc/apt/keyrings/llvm.asc] https://apt.llvm.org/bookworm/ llvm-toolchain-bookworm-22 main"
ARG LLVM_KEY="https://apt.llvm.org/llvm-snapshot.gpg.key"
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends ca-certificates curl \
    && mkdir -p /etc/apt/keyrings \
    && curl -fsSL "$LLVM_KEY" -o /etc/apt/keyrings/llvm.asc \
    && echo "$LLVM_SOURCE" > /etc/apt/sources.list.d/llvm.list
WORKDIR /mct
# What is installed changes less often than the sources.
COPY tools/dev/setup tools/dev/requirements.txt tools/dev/requirements-tests.txt tools/dev/
RUN tools/dev/setup
COPY . .
RUN --mount=type=cache,target=/root/.cache/ccache tools/dev/build
ENV PATH=/mct/build/bin:$PATH
CMD ["tools/dev/demo"]

FROM build AS wheel
RUN --mount=type=cache,target=/root/.cache/ccache tools/dev/wheel

FROM debian:12-slim
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/mct
RUN --mount=type=bind,from=wheel,source=/mct/build/wheel,target=/wheel \
    /opt/mct/bin/pip install --no-cache-dir "$(echo /wheel/mct_mlir-*.whl)[images,report,onnx]"
ENV PATH=/opt/mct/bin:$PATH
WORKDIR /data
ENTRYPOINT ["mct"]
