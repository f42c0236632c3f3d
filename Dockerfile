# SPDX-License-Identifier: MIT
# The course on any machine that runs containers (docs/machines.md). In the checkout, once the first line, then the second:
#
#   docker build -t linrec .
#   docker run --rm -it --security-opt seccomp=unconfined -v "$PWD:/course" linrec
#
# BASE may also be an image of NVIDIA's, which has the CUDA Toolkit.
ARG BASE=debian:bookworm-slim
FROM ${BASE}

# what the course needs is what `make setup` installs
COPY Makefile /tmp/setup/Makefile
COPY common/build /tmp/setup/common/build
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends make git ca-certificates gdb \
 && make -C /tmp/setup setup \
 && rm -rf /tmp/setup /var/lib/apt/lists/*

# MPLCONFIGDIR: a place for notes of matplotlib's, whoever runs it
ENV LANG=C.UTF-8 MPLCONFIGDIR=/tmp/matplotlib
RUN useradd --create-home --shell /bin/bash student
USER student
WORKDIR /course
CMD ["bash"]
