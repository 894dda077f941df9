// PostgreSQL's client library. Only Sources/SluicePostgres/Client calls it, so that its pointers do not leave that folder.
#pragma once
#include <libpq-fe.h>
