// C++ only because SwiftPM extracts no symbols of a package that has targets of both languages; C otherwise.
#include "CSpawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#else
#include <sys/event.h>
#endif

#if defined(__linux__) && !defined(SYS_pidfd_open)
#define SYS_pidfd_open 434
#endif

#ifndef NSIG
#define NSIG 65
#endif

// Between `fork` and `execve`, only functions that are safe in a signal handler may be called: other threads may have held any lock.

static void close_from(int first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    if (limit < 0 || limit > 65536) limit = 65536;
    for (int descriptor = first; descriptor < limit; descriptor++) close(descriptor);
}

static void reset_signals(void) {
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    // Not all numbers are signals that have an action; the others fail.
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// A copy of a descriptor, above those that are replaced.
static int copy_above(int descriptor) {
    return fcntl(descriptor, F_DUPFD, 4);
}

// Returns the number of the error, which is to be written to `*report`.
static int prepare_and_execute(const struct CSpawnProgram *program, pid_t parent, int *report) {
#ifdef __linux__
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
    // The parent may have ended before the call.
    if (getppid() != parent) _exit(127);
#else
    (void)parent;
#endif
    if (setpgid(0, 0) != 0) return errno;
    int input = copy_above(program->standard_input);
    int output = copy_above(program->standard_output);
    int error = copy_above(program->standard_error);
    int copy = copy_above(*report);
    if (input < 0 || output < 0 || error < 0 || copy < 0) return errno;
    *report = copy;
    if (dup2(copy, 3) < 0 || fcntl(3, F_SETFD, FD_CLOEXEC) != 0) return errno;
    *report = 3;
    if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(error, 2) < 0) return errno;
    close_from(4);
    // Sluice raises its limit for its connections; a program that uses `select`, or closes every descriptor, needs the usual one.
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 1024) {
        files.rlim_cur = 1024;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (program->directory && chdir(program->directory) != 0) return errno;
    reset_signals();
    execve(program->path, program->arguments, program->environment);
    return errno;
}

int cspawn_pipe(int *reading, int *writing) {
    int ends[2];
#ifdef __linux__
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
#else
    if (pipe(ends) != 0) return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

void cspawn_set_room(int descriptor, int bytes) {
#ifdef F_SETPIPE_SZ
    fcntl(descriptor, F_SETPIPE_SZ, bytes);
#else
    (void)descriptor;
    (void)bytes;
#endif
}

int cspawn_start(const struct CSpawnProgram *program, pid_t *id) {
    // The child writes the number of an error to this pipe; `execve` closes it.
    int report[2];
    int failure = cspawn_pipe(&report[0], &report[1]);
    if (failure != 0) return failure;

    // No handler of this process may run in the child.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        int number = prepare_and_execute(program, parent, &report[1]);
        ssize_t written = write(report[1], &number, sizeof number);
        _exit(written == sizeof number ? 127 : 126);
    }
    int number = child < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (child < 0) {
        close(report[0]);
        return number;
    }

    ssize_t count;
    do {
        count = read(report[0], &number, sizeof number);
    } while (count < 0 && errno == EINTR);
    close(report[0]);
    if (count == sizeof number) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        return number;
    }
    *id = child;
    return 0;
}

static int has_ended(pid_t id) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    if (waitid(P_PID, (id_t)id, &information, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == EINTR ? 0 : -1;
    return information.si_pid == id;
}

int cspawn_wait_until_ended(pid_t id, int milliseconds) {
    int ended = has_ended(id);
    if (ended != 0 || milliseconds <= 0) return ended;
#ifdef __linux__
    // Linux 5.3; a sandbox may forbid it.
    int descriptor = (int)syscall(SYS_pidfd_open, id, 0);
    if (descriptor >= 0) {
        struct pollfd request = {descriptor, POLLIN, 0};
        poll(&request, 1, milliseconds);
        close(descriptor);
        return has_ended(id);
    }
#else
    int queue = kqueue();
    if (queue >= 0) {
        struct kevent change, event;
        EV_SET(&change, id, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
        struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
        kevent(queue, &change, 1, &event, 1, &time);
        close(queue);
        return has_ended(id);
    }
#endif
    poll(NULL, 0, milliseconds < 10 ? milliseconds : 10);
    return has_ended(id);
}
