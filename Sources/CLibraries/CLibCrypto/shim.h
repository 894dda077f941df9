// OpenSSL's hash functions, for Linux; Apple's platforms have CryptoKit.
#pragma once
#include <openssl/sha.h>
