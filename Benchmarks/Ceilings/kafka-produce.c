// The ceiling of the Kafka tracker: how fast a bare C loop hands messages to librdkafka and has them acknowledged.
//
//     kafka-produce [-k] [-H] [-X NAME=VALUE]... BROKERS TOPIC COUNT SIZE|FILE
//
// SIZE is the length in bytes of every message; FILE has a message a line, and is gone through again until COUNT is
// reached. -k gives each message a key of 36 bytes, -H the headers that Sluice gives. Idempotent and acknowledged by
// all replicas, no copy of the payload, delivery reports counted; -X sets a property of librdkafka. Prints messages/s
// from the first call to the last report.
//
//     cc -O2 -o kafka-produce kafka-produce.c -lrdkafka
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long delivered, failed;

static void report(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client;
    (void)opaque;
    if (message->err) {
        failed++;
    } else {
        delivered++;
    }
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char reason[512];
    if (rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) != RD_KAFKA_CONF_OK) {
        fprintf(stderr, "kafka-produce: %s\n", reason);
        exit(64);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Cuts a file into lines, or makes one line of `size` bytes.
static size_t lines(const char *argument, char ***starts, size_t **lengths) {
    long size = 0;
    char *text = NULL;
    FILE *file = fopen(argument, "rb");
    if (file) {
        fseek(file, 0, SEEK_END);
        size = ftell(file);
        rewind(file);
        text = malloc((size_t)size + 1);
        if (fread(text, 1, (size_t)size, file) != (size_t)size) {
            size = 0;
        }
        fclose(file);
    } else {
        size = atol(argument);
        text = malloc((size_t)size + 1);
        memset(text, 'x', (size_t)size);
    }
    size_t count = 0;
    *starts = malloc(((size_t)size + 1) * sizeof(char *));
    *lengths = malloc(((size_t)size + 1) * sizeof(size_t));
    for (char *start = text; start < text + size;) {
        char *end = memchr(start, '\n', (size_t)(text + size - start));
        end = end ? end : text + size;
        (*starts)[count] = start;
        (*lengths)[count++] = (size_t)(end - start);
        start = end + 1;
    }
    return count;
}

static rd_kafka_resp_err_t produceWithHeaders(
    rd_kafka_t *client, rd_kafka_topic_t *topic, char *value, size_t length, const char *key
) {
    const char *id = "0196f3c5-8a3e-7c42-9b1f-3d5e7a9c1b2d";
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_VALUE(value, length), RD_KAFKA_V_KEY(key, key ? 36 : 0),
        RD_KAFKA_V_HEADER("ce_specversion", "1.0", 3), RD_KAFKA_V_HEADER("ce_id", id, 36),
        RD_KAFKA_V_HEADER("ce_source", "sluice", 6), RD_KAFKA_V_HEADER("ce_type", "Item Purchased", 14),
        RD_KAFKA_V_HEADER("ce_time", "2010-12-01T08:26:00Z", 20),
        RD_KAFKA_V_HEADER("content-type", "application/json", 16), RD_KAFKA_V_END
    );
}

int main(int argc, char **argv) {
    int keyed = 0, headed = 0, option;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "enable.idempotence", "true");
    set(conf, "acks", "all");
    while ((option = getopt(argc, argv, "kHX:")) != -1) {
        char *equals = option == 'X' ? strchr(optarg, '=') : NULL;
        if (option == 'k') {
            keyed = 1;
        } else if (option == 'H') {
            headed = 1;
        } else if (equals) {
            *equals = 0;
            set(conf, optarg, equals + 1);
        } else {
            return 64;
        }
    }
    if (argc - optind != 4) {
        fprintf(stderr, "usage: kafka-produce [-k] [-H] [-X NAME=VALUE]... BROKERS TOPIC COUNT SIZE|FILE\n");
        return 64;
    }
    set(conf, "bootstrap.servers", argv[optind]);
    rd_kafka_conf_set_dr_msg_cb(conf, report);
    char reason[512];
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (!client) {
        fprintf(stderr, "kafka-produce: %s\n", reason);
        return 1;
    }
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argv[optind + 1], NULL);
    long count = atol(argv[optind + 2]);
    char **starts;
    size_t *lengths, lineCount = lines(argv[optind + 3], &starts, &lengths);
    if (count < 1 || lineCount < 1) {
        fprintf(stderr, "kafka-produce: nothing to send\n");
        return 64;
    }
    // The connection and the producer's id are there before the clock starts.
    const struct rd_kafka_metadata *metadata;
    if (rd_kafka_metadata(client, 0, topic, &metadata, 10000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
    }

    char key[37];
    double start = now();
    for (long i = 0; i < count; i++) {
        char *value = starts[(size_t)i % lineCount];
        size_t length = lengths[(size_t)i % lineCount];
        if (keyed) {
            snprintf(key, sizeof(key), "%036ld", i % 10007);
        }
        for (;;) {
            rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
            if (headed) {
                error = produceWithHeaders(client, topic, value, length, keyed ? key : NULL);
            } else if (rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, 0, value, length, keyed ? key : NULL,
                                        keyed ? 36 : 0, NULL)) {
                error = rd_kafka_last_error();
            }
            if (!error) {
                break;
            }
            if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
                fprintf(stderr, "kafka-produce: %s\n", rd_kafka_err2str(error));
                return 1;
            }
            rd_kafka_poll(client, 10);
        }
        rd_kafka_poll(client, 0);
    }
    while (delivered + failed < count) {
        rd_kafka_poll(client, 100);
    }
    double seconds = now() - start;
    printf("%.0f messages/s, %ld delivered, %ld failed\n", (double)count / seconds, delivered, failed);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(client);
    return failed ? 1 : 0;
}
