# Builds only the command, with Swift's libraries linked statically.
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        libisal-dev libpq-dev libre2-dev librdkafka-dev libsimdjson-dev libssl-dev libxxhash-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY Package.swift ./
RUN swift package resolve
COPY . .
RUN swift build -c release --product sluice --static-swift-stdlib -debug-info-format none \
    && install -D --strip .build/release/sluice /install/sluice

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates curl libisal2 libpq5 libre2-9 librdkafka1 libsimdjson14 libssl3 libxml2 libxxhash0 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/sluice sluice
COPY --from=build /install/sluice /usr/local/bin/sluice
COPY events /etc/sluice/events
USER sluice
WORKDIR /var/lib/sluice
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["curl", "-fsS", "http://127.0.0.1:8080/readyz"]
ENTRYPOINT ["sluice"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--events", "/etc/sluice/events"]
