#include "CRE2.h"

#if !__has_include(<re2/re2.h>)
#error "RE2 is not installed: run `apt-get install libre2-dev` (Debian, Ubuntu) or `brew install re2` (macOS)."
#endif
#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>

// Exceptions must not cross into Swift, which cannot unwind them: each function that allocates catches its own.

static void write_message(const char *text, char *message, size_t capacity) {
    if (capacity == 0) return;
    const size_t length = std::min(std::strlen(text), capacity - 1);
    std::memcpy(message, text, length);
    message[length] = '\0';
}

static RE2 *expression(CRE2Pattern *pattern) { return reinterpret_cast<RE2 *>(pattern); }

CRE2Pattern *cre2_compile(const char *source, size_t length, int64_t memory_limit,
                          char *message, size_t message_capacity) {
    try {
        RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(memory_limit);
        options.set_never_capture(true);
        auto compiled = std::make_unique<RE2>(re2::StringPiece(source, length), options);
        if (compiled->ok()) return reinterpret_cast<CRE2Pattern *>(compiled.release());
        write_message(compiled->error().c_str(), message, message_capacity);
    } catch (const std::exception &failure) {
        write_message(failure.what(), message, message_capacity);
    }
    return nullptr;
}

bool cre2_matches(const CRE2Pattern *pattern, const char *text, size_t length) {
    try {
        const auto *compiled = reinterpret_cast<const RE2 *>(pattern);
        const re2::StringPiece whole(text, length);
        return compiled->Match(whole, 0, length, RE2::UNANCHORED, nullptr, 0);
    } catch (const std::exception &) {
        return false;
    }
}

void cre2_free(CRE2Pattern *pattern) { delete expression(pattern); }
