// Posts events at a fixed rate, and prints the latency of the answers.
//
//   paced-load PORT FILE EVENTS_A_REQUEST CONTENT_TYPE CONNECTIONS REQUESTS_A_SECOND SECONDS
//
// FILE has one event on each line. A request is due at its time, whether earlier ones have been answered or not, and its latency begins
// then, not when a connection is free for it: otherwise a server that stands still would delay only the few requests that it has
// ("coordinated omission"; https://github.com/giltene/wrk2). Prints the number of requests, and in microseconds the median, the 99th, the
// 99.9th percentile and the maximum of their latency. Fails unless every answer is 200.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_REQUESTS = 2000, ANSWER_ROOM = 1 << 14 };

struct request {
    char *bytes;
    size_t length;
};

struct connection {
    int socket;
    bool is_free;
    // When the request was due, in nanoseconds.
    int64_t due;
    const struct request *request;
    size_t sent;
    char answer[ANSWER_ROOM];
    size_t received;
};

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static size_t read_requests(const char *path, int events, const char *type, struct request *requests) {
    FILE *file = fopen(path, "r");
    if (!file) fail("cannot read %s", path);
    char *line = NULL, *body = NULL;
    size_t room = 0, length = 0, count = 0;
    int lines = 0;
    ssize_t size;
    while (count < MOST_REQUESTS && (size = getline(&line, &room, file)) > 0) {
        body = realloc(body, length + (size_t)size);
        memcpy(body + length, line, (size_t)size);
        length += (size_t)size;
        if (++lines < events) continue;
        char *head;
        int head_length = asprintf(
            &head, "POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", type, length
        );
        struct request *request = &requests[count++];
        request->length = (size_t)head_length + length;
        request->bytes = malloc(request->length);
        memcpy(request->bytes, head, (size_t)head_length);
        memcpy(request->bytes + head_length, body, length);
        free(head);
        length = 0;
        lines = 0;
    }
    fclose(file);
    if (count == 0) fail("there are too few events in %s", path);
    return count;
}

static void connect_to(struct connection *connection, int port, int poll) {
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address)) fail("cannot connect: %s", strerror(errno));
    int one = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection};
    epoll_ctl(poll, EPOLL_CTL_ADD, connection->socket, &event);
    connection->is_free = true;
}

static void send_rest(struct connection *connection) {
    while (connection->sent < connection->request->length) {
        ssize_t count = send(
            connection->socket, connection->request->bytes + connection->sent, connection->request->length - connection->sent,
            MSG_DONTWAIT | MSG_NOSIGNAL
        );
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) fail("cannot send: %s", strerror(errno));
        connection->sent += (size_t)count;
    }
}

// Whether the whole answer is there.
static bool receive(struct connection *connection) {
    for (;;) {
        char *end = connection->answer + connection->received;
        ssize_t count = recv(connection->socket, end, ANSWER_ROOM - 1 - connection->received, MSG_DONTWAIT);
        if (count == 0) fail("the server has closed a connection");
        if (count < 0 && errno == EAGAIN) return false;
        if (count < 0) fail("cannot receive: %s", strerror(errno));
        connection->received += (size_t)count;
        connection->answer[connection->received] = 0;
        const char *body = strstr(connection->answer, "\r\n\r\n");
        if (!body) continue;
        if (strncmp(connection->answer, "HTTP/1.1 200", 12)) fail("the server answers %.200s", connection->answer);
        const char *length = strcasestr(connection->answer, "\r\ncontent-length:");
        if (!length || length > body) fail("the answer has no length: %.200s", connection->answer);
        size_t wanted = (size_t)(body + 4 - connection->answer) + strtoul(length + 17, NULL, 10);
        if (wanted >= ANSWER_ROOM) fail("the answer is too long");
        if (connection->received >= wanted) return true;
    }
}

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    if (count != 8) fail("usage: paced-load PORT FILE EVENTS_A_REQUEST CONTENT_TYPE CONNECTIONS REQUESTS_A_SECOND SECONDS");
    static struct request requests[MOST_REQUESTS];
    size_t request_count = read_requests(arguments[2], atoi(arguments[3]), arguments[4], requests);
    int connection_count = atoi(arguments[5]);
    double rate = atof(arguments[6]);
    int64_t total = (int64_t)(rate * atof(arguments[7]));
    if (connection_count < 1 || total < 1) fail("there is nothing to send");
    int poll = epoll_create1(0);
    struct connection *connections = calloc((size_t)connection_count, sizeof *connections);
    for (int index = 0; index < connection_count; index++) connect_to(&connections[index], atoi(arguments[1]), poll);
    struct connection **idle = calloc((size_t)connection_count, sizeof *idle);
    int idle_count = 0;
    for (int index = 0; index < connection_count; index++) idle[idle_count++] = &connections[index];
    int64_t *latencies = calloc((size_t)total, sizeof *latencies);

    int64_t start = now(), begun = 0, answered = 0, last_answer = start;
    while (answered < total) {
        if (now() - last_answer > 30LL * 1000000000) fail("the server does not answer");
        int64_t due = start + (int64_t)((double)begun * 1e9 / rate);
        while (begun < total && idle_count > 0 && due <= now()) {
            struct connection *connection = idle[--idle_count];
            connection->is_free = false;
            connection->due = due;
            connection->request = &requests[(size_t)begun % request_count];
            connection->sent = connection->received = 0;
            send_rest(connection);
            begun++;
            due = start + (int64_t)((double)begun * 1e9 / rate);
        }
        struct epoll_event events[256];
        int64_t pause = begun < total && idle_count > 0 ? due - now() : 1000000000;
        struct timespec timeout = {.tv_sec = pause > 0 ? pause / 1000000000 : 0, .tv_nsec = pause > 0 ? pause % 1000000000 : 0};
        int ready = epoll_pwait2(poll, events, 256, &timeout, NULL);
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            if (connection->is_free) continue;
            send_rest(connection);
            if (!receive(connection)) continue;
            last_answer = now();
            latencies[answered++] = last_answer - connection->due;
            connection->is_free = true;
            idle[idle_count++] = connection;
        }
    }
    qsort(latencies, (size_t)total, sizeof *latencies, compare);
    const double parts[] = {0.5, 0.99, 0.999};
    printf("%lld", (long long)total);
    for (int index = 0; index < 3; index++) printf(" %.0f", (double)latencies[(int64_t)(parts[index] * (double)(total - 1))] / 1000);
    printf(" %.0f\n", (double)latencies[total - 1] / 1000);
}
