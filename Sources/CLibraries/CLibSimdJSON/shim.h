// C++ only: this module carries the library's compiler and linker flags to the C face beside it.
#pragma once
