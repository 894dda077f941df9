// The ceiling of the check: how fast simdjson alone makes a DOM of each event, on one thread.
//
//     simdjson-parse FILE PASSES
//
// FILE has an event a line. Prints events/s over all passes, by the processor time of the thread.
//
//     c++ -std=c++17 -O3 -o simdjson-parse simdjson-parse.cpp -lsimdjson
#include <simdjson.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

struct Line {
    const char *start;
    size_t length;
};

static std::vector<Line> lines(const simdjson::padded_string &text) {
    std::vector<Line> found;
    const char *end = text.data() + text.size();
    for (const char *start = text.data(); start < end;) {
        const char *newline = static_cast<const char *>(memchr(start, '\n', static_cast<size_t>(end - start)));
        const char *stop = newline ? newline : end;
        found.push_back({start, static_cast<size_t>(stop - start)});
        start = stop + 1;
    }
    return found;
}

static double processorSeconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

int main(int argc, char **argv) {
    simdjson::padded_string text;
    if (argc != 3 || simdjson::padded_string::load(argv[1]).get(text)) {
        fprintf(stderr, "usage: simdjson-parse FILE PASSES\n");
        return 64;
    }
    const std::vector<Line> events = lines(text);
    const long passes = atol(argv[2]);
    simdjson::dom::parser parser;

    const double start = processorSeconds();
    for (long pass = 0; pass < passes; pass++) {
        for (const Line &event : events) {
            simdjson::dom::element document;
            // What follows a line in the text is its padding, so nothing is copied.
            if (parser.parse(event.start, event.length, false).get(document)) {
                fprintf(stderr, "simdjson-parse: not JSON: %.*s\n", static_cast<int>(event.length), event.start);
                return 1;
            }
        }
    }
    const double seconds = processorSeconds() - start;
    printf("%.0f\n", static_cast<double>(passes) * static_cast<double>(events.size()) / seconds);
    return 0;
}
