// Starts a program whose life ends with that of the thread that started it.
#pragma once

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a program is started with. Only its three descriptors are open in it.
struct CSpawnProgram {
    /// The path of the program; it is not searched for.
    const char *path;
    /// The arguments and the environment, each ended by NULL.
    char *const *arguments;
    char *const *environment;
    /// The working directory; NULL for that of this process.
    const char *directory;
    int standard_input;
    int standard_output;
    int standard_error;
};

/// Starts a program as the leader of a process group of its own, with no signal blocked or ignored.
///
/// On Linux, it is killed when the calling thread ends, and so when this process does. Returns 0 and sets `id`, or returns the error
/// number of what failed.
int cspawn_start(const struct CSpawnProgram *program, pid_t *id);

/// Makes a pipe that no program inherits. Returns 0 or the error number.
int cspawn_pipe(int *reading, int *writing);

/// Gives a pipe room for so many bytes if the system has a call for that and allows it.
void cspawn_set_room(int descriptor, int bytes);

/// Waits for at most so many milliseconds until a child has ended, which can still be waited for then. Returns 1 if it has ended, 0 if
/// not, and -1 if there is no such child.
int cspawn_wait_until_ended(pid_t id, int milliseconds);

#ifdef __cplusplus
}
#endif
