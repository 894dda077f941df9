// C++ only: on macOS this module passes the search paths from pkg-config to the C interface, CRE2.
#pragma once
