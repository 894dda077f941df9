// C++ only: on macOS this module brings the search paths that pkg-config knows to the C interface beside it.
#pragma once
