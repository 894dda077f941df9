// C++ only: on macOS this module passes the search paths from pkg-config to the C interface, CSimdJSON.
#pragma once
