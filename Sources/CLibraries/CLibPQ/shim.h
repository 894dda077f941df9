// The client library of PostgreSQL. Only Sources/SluicePostgres/Client calls it, so that its pointers stay there.
#pragma once
#include <libpq-fe.h>
