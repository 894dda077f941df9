// The ceiling of the check: how fast simdjson alone parses each event into a DOM, on one thread.
//
//     simdjson-parse FILE LINES PASSES
//
// FILE has one event on each line. LINES of them are one document stream (`parse_many`), whose structure simdjson indexes
// in one pass. Prints events/s over all passes, by the processor time of the thread.
//
//     c++ -std=c++17 -O3 -o simdjson-parse simdjson-parse.cpp -lsimdjson
#include <simdjson.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

struct Block {
    const char *start;
    size_t length;
};

static std::vector<Block> blocks(const simdjson::padded_string &text, long lines) {
    std::vector<Block> found;
    const char *end = text.data() + text.size();
    for (const char *start = text.data(); start < end;) {
        const char *stop = start;
        for (long line = 0; line < lines && stop < end; line++) {
            const char *newline = static_cast<const char *>(memchr(stop, '\n', static_cast<size_t>(end - stop)));
            stop = newline ? newline + 1 : end;
        }
        found.push_back({start, static_cast<size_t>(stop - start)});
        start = stop;
    }
    return found;
}

static double processorSeconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Returns the number of documents in a block; negative if the block contains anything else.
static long parse(simdjson::dom::parser &parser, const Block &block) {
    simdjson::dom::document_stream stream;
    // The text after a block serves as its padding, so nothing is copied. One batch for each block: no second thread.
    if (parser.parse_many(block.start, block.length, block.length).get(stream)) {
        return -1;
    }
    long count = 0;
    for (auto document : stream) {
        if (document.error()) {
            return -1;
        }
        count++;
    }
    return stream.truncated_bytes() ? -1 : count;
}

int main(int argc, char **argv) {
    simdjson::padded_string text;
    if (argc != 4 || atol(argv[2]) < 1 || simdjson::padded_string::load(argv[1]).get(text)) {
        fprintf(stderr, "usage: simdjson-parse FILE LINES PASSES\n");
        return 64;
    }
    const std::vector<Block> all = blocks(text, atol(argv[2]));
    const long passes = atol(argv[3]);
    simdjson::dom::parser parser;

    long events = 0;
    const double start = processorSeconds();
    for (long pass = 0; pass < passes; pass++) {
        for (const Block &block : all) {
            const long count = parse(parser, block);
            if (count < 0) {
                fprintf(stderr, "simdjson-parse: not JSON: %.*s\n", static_cast<int>(block.length), block.start);
                return 1;
            }
            events += count;
        }
    }
    printf("%.0f\n", static_cast<double>(events) / (processorSeconds() - start));
    return 0;
}
