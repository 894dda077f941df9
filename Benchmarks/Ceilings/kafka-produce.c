// The ceilings of the Kafka tracker: how fast a C loop passes messages to librdkafka and gets them acknowledged.
//
//     kafka-produce [-H] [-X NAME=VALUE]... BROKERS TOPIC COUNT FILE
//
// FILE has one event in canonical JSON on each line, and is repeated until COUNT is reached. -H gives each message the
// key and the headers that Sluice gives it; without it, a message has neither. The producer is idempotent, waits for all
// replicas, does not copy the payload, and counts delivery reports; -X sets a librdkafka property. Prints messages/s from
// the first call to the last report.
//
//     cc -O2 -o kafka-produce kafka-produce.c -lrdkafka
#define _GNU_SOURCE
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

typedef struct {
    const char *start;
    size_t length;
} Text;

// A message's value, and the parts of it that are Sluice's key and headers.
typedef struct {
    Text value, id, name, time, user;
} Message;

// Returns the text of a field of the event, empty if absent; the fields are in this order, and before the payload.
static Text field(Text line, const char *opening) {
    const char *end = line.start + line.length;
    const char *start = memmem(line.start, line.length, opening, strlen(opening));
    const char *payload = memmem(line.start, line.length, "\"payload\":", 10);
    if (!start || (payload && start > payload)) {
        return (Text){NULL, 0};
    }
    start += strlen(opening);
    const char *quote = memchr(start, '"', (size_t)(end - start));
    return (Text){start, quote ? (size_t)(quote - start) : 0};
}

static Text read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return (Text){NULL, 0};
    }
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    const size_t length = fread(text, 1, size, file);
    fclose(file);
    return (Text){text, length};
}

// Splits a file into messages, one for each line.
static size_t messages(Text text, Message **found) {
    size_t count = 0;
    *found = malloc((text.length + 1) * sizeof(Message));
    for (const char *start = text.start, *stop = text.start + text.length; start < stop;) {
        const char *newline = memchr(start, '\n', (size_t)(stop - start));
        const char *end = newline ? newline : stop;
        const Text line = {start, (size_t)(end - start)};
        (*found)[count++] = (Message){
            line,
            field(line, "\"id\":\""),
            field(line, "\"name\":\""),
            field(line, "\"time\":\""),
            field(line, "\"userId\":\""),
        };
        start = end + 1;
    }
    return count;
}

static rd_kafka_resp_err_t produce(rd_kafka_t *client, rd_kafka_topic_t *topic, const Message *message, int headed) {
    // librdkafka's interface lacks the const.
    char *value = (char *)message->value.start;
    const size_t length = message->value.length;
    if (!headed) {
        const int result = rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, 0, value, length, NULL, 0, NULL);
        return result ? rd_kafka_last_error() : RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_VALUE(value, length),
        RD_KAFKA_V_KEY(message->user.start, message->user.length), RD_KAFKA_V_HEADER("ce_specversion", "1.0", 3),
        RD_KAFKA_V_HEADER("ce_id", message->id.start, message->id.length), RD_KAFKA_V_HEADER("ce_source", "sluice", 6),
        RD_KAFKA_V_HEADER("ce_type", message->name.start, message->name.length),
        RD_KAFKA_V_HEADER("ce_time", message->time.start, message->time.length),
        RD_KAFKA_V_HEADER("content-type", "application/json", 16), RD_KAFKA_V_END
    );
}

int main(int argc, char **argv) {
    int headed = 0, option;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "enable.idempotence", "true");
    set(conf, "acks", "all");
    while ((option = getopt(argc, argv, "HX:")) != -1) {
        char *equals = option == 'X' ? strchr(optarg, '=') : NULL;
        if (option == 'H') {
            headed = 1;
        } else if (equals) {
            *equals = 0;
            set(conf, optarg, equals + 1);
        } else {
            return 64;
        }
    }
    if (argc - optind != 4) {
        fprintf(stderr, "usage: kafka-produce [-H] [-X NAME=VALUE]... BROKERS TOPIC COUNT FILE\n");
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
    Message *all;
    const size_t different = messages(read_file(argv[optind + 3]), &all);
    if (count < 1 || different < 1) {
        fprintf(stderr, "kafka-produce: nothing to send\n");
        return 64;
    }
    // Connects and gets the producer's id before the clock starts.
    const struct rd_kafka_metadata *metadata;
    if (rd_kafka_metadata(client, 0, topic, &metadata, 10000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
    }

    double start = now();
    for (long i = 0; i < count; i++) {
        for (;;) {
            rd_kafka_resp_err_t error = produce(client, topic, &all[(size_t)i % different], headed);
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
