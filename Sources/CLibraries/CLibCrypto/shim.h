// OpenSSL's hash functions, for Linux; Apple's platforms have CryptoKit.
#pragma once
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
