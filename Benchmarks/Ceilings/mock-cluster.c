// A Kafka cluster for measurements: librdkafka's own mock brokers, in a separate process.
//
//     mock-cluster [-r MILLISECONDS] [BROKERS [TOPIC PARTITIONS]...]
//
// Prints the bootstrap servers on one line, and runs until its standard input ends. Topics that are not given are created
// at the first request, with 4 partitions. With -r, each answer is delayed by this round-trip time. It keeps at most 5 MiB for each partition and drops older messages.
//
// Kafka's brokers disable Nagle's algorithm. The mock brokers do not: a response then waits up to 40 ms until the client
// acknowledges the previous one, which would measure the kernel's timer. So `accept` below overrides libc's.
//
//     cc -O2 -o mock-cluster mock-cluster.c -lrdkafka
#define _GNU_SOURCE
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int accept(int listener, struct sockaddr *restrict address, socklen_t *restrict length) {
    int connection = accept4(listener, address, length, 0);
    int on = 1;
    if (connection >= 0) {
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    return connection;
}

int main(int argc, char **argv) {
    int round_trip = 0;
    if (argc > 2 && strcmp(argv[1], "-r") == 0) {
        round_trip = atoi(argv[2]);
        argv += 2;
        argc -= 2;
    }
    int brokers = argc > 1 ? atoi(argv[1]) : 1;
    if (brokers < 1 || (argc > 2 && argc % 2 != 0)) {
        fprintf(stderr, "usage: mock-cluster [-r MILLISECONDS] [BROKERS [TOPIC PARTITIONS]...]\n");
        return 64;
    }
    char reason[512];
    // The cluster runs on the thread of a client that does nothing else.
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    // Otherwise it would log that it has no servers to connect to.
    rd_kafka_conf_set(conf, "log_level", "4", NULL, 0);
    rd_kafka_t *host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (!host) {
        fprintf(stderr, "mock-cluster: %s\n", reason);
        return 1;
    }
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(host, brokers);
    if (!cluster) {
        fprintf(stderr, "mock-cluster: no cluster of %d brokers\n", brokers);
        return 1;
    }
    for (int i = 2; i + 1 < argc; i += 2) {
        rd_kafka_resp_err_t error = rd_kafka_mock_topic_create(cluster, argv[i], atoi(argv[i + 1]), 1);
        if (error) {
            fprintf(stderr, "mock-cluster: topic %s: %s\n", argv[i], rd_kafka_err2str(error));
            return 1;
        }
    }
    if (round_trip > 0) {
        rd_kafka_mock_broker_set_rtt(cluster, -1, round_trip);
    }
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);

    char ignored[256];
    while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0) {
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(host);
    return 0;
}
