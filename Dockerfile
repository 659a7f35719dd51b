# SPDX-License-Identifier: Apache-2.0
# docker build -t holdfast .   docker run -p 127.0.0.1:7411:7411 -v holdfast:/var/lib/holdfast holdfast
# An address beyond loopback needs tokens: the first start makes one for an administrator and prints it.
FROM debian:12 AS build
COPY . /source
WORKDIR /source
RUN apt-get update && apt-get install -y --no-install-recommends dpkg-dev && scripts/setup && make deb

FROM debian:12-slim
COPY --from=build /source/build/deb/holdfast_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/holdfast_*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/* \
    && install -d -o holdfast -g holdfast -m 0700 /var/lib/holdfast
COPY packaging/container-start /usr/bin/holdfast-container
USER holdfast
WORKDIR /var/lib/holdfast
VOLUME /var/lib/holdfast
EXPOSE 7411
HEALTHCHECK CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7411; printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3; head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["/usr/bin/holdfast-container"]
