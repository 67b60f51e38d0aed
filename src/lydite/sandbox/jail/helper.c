/* The two loops of the jail that are run thousands of times a second, without an interpreter between the system calls.
 *
 * Why: a page that a process writes to after a fork is copied, and an interpreter writes to a page with nearly every object
 * that it looks at. Done in Python, the steps around a job (zygote.py, job.py, batch.py) touch 500 pages; done here, 50.
 * Everything here is done in Python where this file was not compiled; both ways pass the same tests, and what they do
 * must stay the same. Nothing here looks at a byte that a job has written.
 *
 * Every function returns a code below; a step of the set-up that fails is told in a note, as in job.py.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CODE = 1, ARGV = 2, BATCH = 3 };                                       /* wire.py */
enum { NOT_STOPPED, WALL, CPU, MEMORY, DISK, ASKED };                         /* wire.py */
enum { MANY_BYTES = 16 << 20 }; /* of results of a batch */
enum { OWN = 2 }; /* processes of a group that are no job's: the zygote and the pausing process (world.OWN) */
enum { RUN = 0, FILES = 1, IDLE = 2, DIRTY = 3, GONE = 4, FAILED = 5, DONE = 6 };

#define SYS_CLOSE_RANGE 436
#define SYS_PIDFD_OPEN 434
#define SYS_LANDLOCK_RESTRICT_SELF 446

/* wire.HEAD, packed: what the supervisor says of a job. */
struct head {
    uint8_t kind;
    double timeout, cpu;
    int64_t memory, processes, descriptors, file_bytes, output_bytes, runs, stdin_bytes, has_files;
} __attribute__((packed));

struct note { double wall, cpu; int64_t memory, processes, start_ns; } __attribute__((packed)); /* wire.NOTE */

struct reply {                                                                /* wire.REPLY */
    uint8_t started;
    int32_t status;
    uint8_t stopped;
    int32_t killed, denied;
    uint8_t full;
    double wall, cpu;
} __attribute__((packed));

struct run {                                                                  /* wire.RUN */
    int32_t status;
    uint8_t stopped;
    int32_t killed, denied;
    uint8_t full;
    double wall, cpu;
    int64_t out, err;
} __attribute__((packed));

struct counters { int64_t kills, forks, hits; };

struct state {                                                                /* helper.py: State */
    int32_t requests, note_r, note_w, lifeline, own_ns, ruleset, landlock_flags, oom;
    int32_t kills_fd, hits_fd, forks_fd, cpu_fd, limit_fd, swap_fd, pids_fd;
    int32_t tick_ms, sampled, extra_processes, init, job, out, err, fd_count, inputs, fds[8];
    int64_t usual_memory, usual_processes, overhead, swap_slack;
    void *stack, *filter, *buffer;
    int64_t filter_bytes, capacity, length, body, skip; /* the rest of a request starts at body, or at skip of a mapped file */
    int32_t (*tick)(int32_t job, double cpu_used, double cpu, int64_t memory);
    char workspace[256], tmp[256], shm[256];
    int64_t clean_bytes, clean_files;
    int64_t clean_changed[3];
    uint32_t clean_mode[3];
    struct counters last;
    struct head head;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --- counters of the control group ------------------------------------------------------------------------------- */

static int64_t number(int fd, const char *key) {
    char text[4096];
    ssize_t size = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    if (size <= 0) return 0;
    text[size] = 0;
    size_t wide = key ? strlen(key) : 0;
    for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (!key) return strtoll(line, NULL, 10);
        if (!strncmp(line, key, wide) && line[wide] == ' ') return strtoll(line + wide, NULL, 10);
    }
    return 0;
}

static double cpu_seconds(struct state *s) {
    char text[256];
    ssize_t size = s->cpu_fd < 0 ? 0 : pread(s->cpu_fd, text, sizeof text - 1, 0);
    if (size <= 0) return -1;
    text[size] = 0;
    if (!strncmp(text, "usage_usec ", 11)) return 1e-6 * (double)strtoll(text + 11, NULL, 10);
    return 1e-9 * (double)strtoll(text, NULL, 10);
}

static struct counters count(struct state *s) {
    struct counters c = {0, 0, 0};
    if (s->kills_fd < 0) return c;
    c.kills = number(s->kills_fd, "oom_kill");
    c.forks = number(s->forks_fd, "max");
    c.hits = s->hits_fd >= 0 ? number(s->hits_fd, NULL) : number(s->kills_fd, "max");
    return c;
}

static void since(struct state *s, int32_t *killed, int32_t *denied) {
    struct counters c = count(s);
    *killed = (int32_t)(c.kills - s->last.kills);
    if (c.hits == s->last.hits) *killed = -*killed;
    *denied = (int32_t)(c.forks - s->last.forks);
    s->last = c;
}

static int set_memory(struct state *s, int64_t size) {
    char value[32], above[32];
    if (s->limit_fd < 0) return 0;
    int wide = snprintf(value, sizeof value, "%lld", (long long)size);
    int wider = snprintf(above, sizeof above, "%lld", (long long)(size + s->swap_slack));
    if (pwrite(s->limit_fd, value, (size_t)wide, 0) < 0 && s->swap_fd >= 0) {
        /* v1 keeps this limit at or above the other: it goes first when they rise */
        return pwrite(s->swap_fd, above, (size_t)wider, 0) < 0 || pwrite(s->limit_fd, value, (size_t)wide, 0) < 0;
    }
    return s->swap_fd >= 0 && pwrite(s->swap_fd, above, (size_t)wider, 0) < 0;
}

static int set_processes(struct state *s, int64_t count) {
    char value[32];
    if (s->pids_fd < 0) return 0;
    int wide = snprintf(value, sizeof value, "%lld", (long long)count);
    return pwrite(s->pids_fd, value, (size_t)wide, 0) < 0;
}

/* --- the job's own process ---------------------------------------------------------------------------------------- */

static void fail(struct state *s, const char *step) {
    char text[200];
    int code = errno;
    if (!s->length) _exit(1); /* there is no request yet that could be answered */
    int size = snprintf(text, sizeof text, "%d %s: %s", code, step, strerror(code));
    if (size == (int)sizeof(struct note)) text[size++] = ' ';
    if (write(s->note_w, text, (size_t)size) < 0) _exit(2);
    _exit(1);
}

static void confine(struct state *s) {
    s->length = 0;
    setsid();
    if (s->oom) { /* before Landlock, which lets nobody write there, so that a job cannot take it back */
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else our own proc is closed to us; nobody else is in the namespace yet */
        int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        if (fd >= 0) {
            if (write(fd, "1000", 4) < 0) { /* the kernel then picks the largest, which is the job */ }
            close(fd);
        }
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    if (s->ruleset >= 0 && syscall(SYS_LANDLOCK_RESTRICT_SELF, s->ruleset, s->landlock_flags)) fail(s, "landlock");
    if (chdir(s->workspace)) fail(s, "chdir");
}

static void limit(int kind, int64_t value) {
    struct rlimit old;
    getrlimit(kind, &old);
    if (old.rlim_max != RLIM_INFINITY && (int64_t)old.rlim_max < value) value = (int64_t)old.rlim_max;
    struct rlimit new = {(rlim_t)value, (rlim_t)value};
    setrlimit(kind, &new);
}

static void limit_run(const struct head *h) {
    limit(RLIMIT_FSIZE, h->file_bytes);
    limit(RLIMIT_NOFILE, h->descriptors);
    rlim_t whole = (rlim_t)(h->cpu + 0.999);
    if (whole < 1) whole = 1;
    struct rlimit cpu = {whole, whole + 1};
    setrlimit(RLIMIT_CPU, &cpu);
}

static int stdin_file(const char *data, int64_t size) {
    if (!size) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("stdin", 0);
    if (fd < 0) return -1;
    for (int64_t at = 0; at < size;) {
        ssize_t part = write(fd, data + at, (size_t)(size - at));
        if (part < 0) return -1;
        at += part;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static int drop_capabilities(void) {
    struct { uint32_t version; int32_t pid; } header = {0x20080522, 0};
    uint32_t none[6] = {0};
    return syscall(SYS_capset, &header, none) != 0;
}

static int filter(struct state *s) {
    struct { unsigned short length; void *filter; } program = {(unsigned short)(s->filter_bytes / 8), s->filter};
    return s->filter_bytes && syscall(SYS_seccomp, 1, 0, &program);
}

/* The last trusted steps. After the note everything is the program's doing. */
int lydite_strip(struct state *s) {
    const struct head *h = &s->head;
    if (h->kind != BATCH && drop_capabilities()) fail(s, "capset");
    if (h->kind != BATCH && filter(s)) fail(s, "seccomp");
    int64_t processes = h->processes + 2 * (h->kind == BATCH); /* and what forks the runs, and its pausing process */
    if (processes != s->usual_processes && set_processes(s, processes + OWN)) fail(s, "process limit");
    limit(RLIMIT_NPROC, processes + s->extra_processes);
    struct note note = {h->timeout, h->cpu * (double)h->runs, h->memory, processes, 0};
    if (h->runs > 1) note.wall = 1.1 * h->timeout * (double)h->runs;
    if (h->kind != BATCH) limit_run(h);
    note.start_ns = (int64_t)(1e9 * now());
    if (write(s->note_w, &note, sizeof note) < 0) _exit(2);
    if (h->kind != BATCH) {
        syscall(SYS_CLOSE_RANGE, 3, ~0U, 0);
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    }
    return RUN;
}

/* Wait for the request and take it on: the buffer holds it, the descriptors are in place. */
int lydite_receive(struct state *s) {
    char control[CMSG_SPACE(8 * sizeof(int))];
    struct iovec part = {s->buffer, (size_t)s->capacity};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t size;
    do size = recvmsg(s->requests, &message, MSG_CMSG_CLOEXEC); while (size < 0 && errno == EINTR);
    if (size < 0) fail(s, "recvmsg");
    s->fd_count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            s->fd_count = (int32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(s->fds, CMSG_DATA(c), (size_t)s->fd_count * sizeof(int));
        }
    char *text = s->buffer;
    if (size < (ssize_t)(1 + sizeof(struct head))) _exit(0); /* nobody asks any more, or a stop that came too late */
    memcpy(&s->head, text + 1, sizeof(struct head));
    s->body = 1 + (int64_t)sizeof(struct head);
    s->length = size;
    s->skip = 0;
    int first = 0; /* the descriptor after the one that holds the rest of a long request */
    if (text[0] == 2) {
        struct stat info;
        if (fstat(s->fds[0], &info)) fail(s, "fstat");
        s->length = info.st_size;
        s->buffer = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, s->fds[0], 0);
        if (s->buffer == MAP_FAILED) fail(s, "mmap");
        s->body = 0;
        close(s->fds[0]);
        first = 1;
    }
    const struct head *h = &s->head;
    if (h->memory != s->usual_memory && set_memory(s, h->memory + s->overhead)) fail(s, "memory limit");
    if (h->kind == CODE) {
        int fd = stdin_file((char *)s->buffer + s->body, h->stdin_bytes);
        if (fd < 0) fail(s, "stdin");
        if (s->body) s->body += h->stdin_bytes;
        else s->skip = h->stdin_bytes;
        if (dup2(fd, 0) < 0 || dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0) fail(s, "dup2");
    } else if (h->kind == ARGV) {
        for (int fd = 0; fd < 3; fd++)
            if (dup2(s->fds[first + fd], fd) < 0) fail(s, "dup2");
    }
    s->inputs = h->kind == BATCH ? s->fds[first] : -1;
    return h->has_files ? FILES : lydite_strip(s);
}

/* A child forked ahead by somebody else: everything until its program. */
int lydite_child(struct state *s) {
    confine(s);
    return lydite_receive(s);
}

/* --- following a process ------------------------------------------------------------------------------------------ */

/* Wait for its end, and kill at a limit. Returns why it was stopped, or -1 when the supervisor or the keeper is gone. */
static int follow(struct state *s, int pid, int pidfd, int control, double wall, double cpu, int64_t memory, double start,
                  double cpu_before) {
    struct pollfd polls[3] = {{pidfd, POLLIN, 0}, {s->lifeline, 0, 0}, {control, POLLIN, 0}};
    for (;;) {
        double left = start + wall - now();
        if (left <= 0) return WALL;
        int patience = (int)(1000 * left) + 1;
        if (patience > s->tick_ms) patience = s->tick_ms;
        int ready = poll(polls, 3, patience);
        if (ready < 0) continue;
        if (polls[0].revents) return NOT_STOPPED;
        if (polls[1].revents || polls[2].revents & (POLLHUP | POLLERR)) return -1;
        if (polls[2].revents) {
            char stop[64];
            if (recv(control, stop, sizeof stop, 0) <= 0) return -1;
            return ASKED;
        }
        double used = cpu_before < 0 ? -1 : cpu_seconds(s) - cpu_before;
        if (used > cpu) return CPU;
        if (s->sampled) {
            int reason = s->tick(pid, used, cpu, memory);
            if (reason) return reason;
        }
    }
}

static int full(struct state *s) { /* wire.py: BYTES, FILES */
    struct statvfs space;
    if (statvfs(s->tmp, &space)) return 0;
    return space.f_ffree == 0 ? 2 : space.f_bavail < 2;
}

static double used_since(struct state *s, double before, const struct rusage *usage) {
    if (before >= 0) return cpu_seconds(s) - before;
    return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* --- the zygote --------------------------------------------------------------------------------------------------- */

static __attribute__((noreturn)) int pausing(void *nothing) {
    (void)nothing;
    for (;;) pause();
}

static int begin(struct state *s) {
    if (setns(s->own_ns, CLONE_NEWPID) || unshare(CLONE_NEWPID)) return -1;
    signal(SIGCHLD, SIG_IGN); /* the pausing process inherits it: the kernel reaps its orphans */
    s->init = clone(pausing, s->stack, CLONE_VM | SIGCHLD, NULL);
    signal(SIGCHLD, SIG_DFL);
    return s->init > 0 ? 0 : -1;
}

static int output_file(const char *name) {
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
    return fd;
}

static int untouched(struct state *s) {
    struct statvfs space;
    if (statvfs(s->tmp, &space) || (int64_t)space.f_bfree != s->clean_bytes || (int64_t)space.f_ffree != s->clean_files)
        return 0;
    const char *folders[3] = {s->workspace, s->tmp, s->shm};
    for (int i = 0; i < 3; i++) {
        struct stat info;
        if (stat(folders[i], &info) || info.st_mode != s->clean_mode[i] || info.st_mtim.tv_sec || info.st_mtim.tv_nsec ||
            info.st_atim.tv_sec || info.st_atim.tv_nsec ||
            1000000000 * (int64_t)info.st_ctim.tv_sec + info.st_ctim.tv_nsec != s->clean_changed[i])
            return 0;
    }
    return 1;
}

static int answer(struct state *s, const void *data, size_t size) {
    char control[CMSG_SPACE(2 * sizeof(int))];
    struct iovec part = {(void *)data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(2 * sizeof(int));
    int fds[2] = {s->out, s->err};
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    int failed = sendmsg(s->requests, &message, MSG_NOSIGNAL) < 0;
    close(s->out);
    close(s->err);
    return failed;
}

/* Jobs, one after another. Returns in a job's process with RUN, FILES (write them, then lydite_strip) or IDLE (no request is
 * there yet: warm up, then lydite_receive); in the zygote with DIRTY, GONE or FAILED (errno tells). */
int lydite_serve(struct state *s) {
    for (;;) {
        if (begin(s)) return FAILED;
        s->out = output_file("stdout");
        s->err = output_file("stderr");
        int pid = fork();
        if (pid < 0) return FAILED;
        if (pid == 0) {
            confine(s);
            struct pollfd waiting = {s->requests, POLLIN, 0};
            return poll(&waiting, 1, 0) > 0 ? lydite_receive(s) : IDLE;
        }
        int pidfd = (int)syscall(SYS_PIDFD_OPEN, pid, 0);
        struct pollfd polls[3] = {{s->note_r, POLLIN, 0}, {pidfd, POLLIN, 0}, {s->lifeline, 0, 0}};
        while (poll(polls, 3, -1) < 0) {}
        char words[512];
        ssize_t size = polls[0].revents ? read(s->note_r, words, sizeof words) : 0;
        struct reply reply = {0};
        struct note note = {0, 0, s->usual_memory, s->usual_processes, 0};
        double start = now(), before = cpu_seconds(s);
        if (size == (ssize_t)sizeof note) {
            memcpy(&note, words, sizeof note);
            start = 1e-9 * (double)note.start_ns;
            int stopped = follow(s, pid, pidfd, s->requests, note.wall, note.cpu, note.memory, start, before);
            if (stopped < 0) return GONE;
            reply.stopped = (uint8_t)stopped;
            reply.started = 1;
        } else if (size <= 0) {
            return GONE; /* see zygote._note */
        }
        struct rusage usage;
        int status = 0;
        kill(s->init, SIGKILL);
        if (reply.stopped) kill(pid, SIGKILL);
        while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {}
        while (waitpid(s->init, NULL, 0) < 0 && errno == EINTR) {}
        s->init = 0;
        close(pidfd);
        reply.status = status;
        int32_t killed, denied;
        since(s, &killed, &denied);
        reply.killed = killed;
        reply.denied = denied;
        if (reply.started) {
            reply.wall = now() - start;
            reply.cpu = used_since(s, before, &usage);
            reply.full = status ? (uint8_t)full(s) : 0;
            if (answer(s, &reply, sizeof reply)) return GONE;
        } else {
            char both[sizeof reply + sizeof words];
            memcpy(both, &reply, sizeof reply);
            memcpy(both + sizeof reply, words, (size_t)size);
            if (answer(s, both, sizeof reply + (size_t)size)) return GONE;
        }
        if ((!reply.started || note.memory != s->usual_memory) && set_memory(s, s->usual_memory + s->overhead)) return FAILED;
        if ((!reply.started || note.processes != s->usual_processes) && set_processes(s, s->usual_processes + OWN)) return FAILED;
        if (!untouched(s)) return DIRTY;
    }
}

/* The runs of a batch. Returns RUN in the process of a run, and DONE when every input had its run, or one left files.
 * inputs: a file with one after another, sizes apart, so that no run finds another's in its memory; s->out: the file of
 * results. */
int lydite_batch(struct state *s, int inputs, const int64_t *sizes, int64_t runs) {
    const struct head *h = &s->head;
    fcntl(s->out, F_SETFL, 0); /* sendfile refuses a file that only appends */
    int out = output_file("stdout"), err = output_file("stderr");
    if (out < 0 || err < 0) return FAILED;
    /* Every run has a pid namespace of its own below ours, so that it cannot name us: stop us, or limit us. */
    s->own_ns = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    if (s->own_ns < 0) return FAILED;
    off_t next = 0;
    for (int64_t i = 0; i < runs; i++) {
        int in = memfd_create("stdin", 0);
        int64_t left = sizes[i];
        while (in >= 0 && left) {
            ssize_t part = sendfile(in, inputs, &next, (size_t)left);
            if (part <= 0) return FAILED;
            left -= part;
        }
        lseek(in, 0, SEEK_SET);
        if (in < 0 || begin(s)) return FAILED;
        int pid = fork();
        if (pid < 0) return FAILED;
        if (pid == 0) {
            setsid(); /* a group is seen across pid namespaces, and ours would be in it */
            dup2(in, 0);
            dup2(out, 1);
            dup2(err, 2);
            syscall(SYS_CLOSE_RANGE, 3, ~0U, 0);
            if (drop_capabilities() || filter(s)) _exit(1);
            limit_run(h);
            prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
            return RUN;
        }
        double start = now(), before = cpu_seconds(s);
        close(in);
        int pidfd = (int)syscall(SYS_PIDFD_OPEN, pid, 0);
        struct run run = {0};
        struct state quiet = *s; /* no supervisor and no keeper to look out for in here, and nothing to sample */
        quiet.lifeline = -1;
        quiet.sampled = 0;
        run.stopped = (uint8_t)follow(&quiet, pid, pidfd, -1, h->timeout, h->cpu, h->memory, start, before);
        kill(s->init, SIGKILL);
        if (run.stopped) kill(pid, SIGKILL);
        struct rusage usage;
        int status = 0;
        while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {}
        while (waitpid(s->init, NULL, 0) < 0 && errno == EINTR) {}
        run.wall = now() - start;
        close(pidfd);
        run.status = status;
        int32_t killed, denied;
        since(s, &killed, &denied);
        run.killed = killed;
        run.denied = denied;
        run.cpu = used_since(s, before, &usage);
        run.full = status ? (uint8_t)full(s) : 0;
        struct stat info;
        const int files[2] = {out, err};
        int64_t lengths[2];
        for (int k = 0; k < 2; k++) {
            lengths[k] = fstat(files[k], &info) ? 0 : info.st_size;
            if (lengths[k] > h->output_bytes) lengths[k] = h->output_bytes;
        }
        run.out = lengths[0];
        run.err = lengths[1];
        if (write(s->out, &run, sizeof run) != (ssize_t)sizeof run) return FAILED;
        for (int k = 0; k < 2; k++) {
            off_t at = 0;
            while (at < lengths[k] && sendfile(s->out, files[k], &at, (size_t)(lengths[k] - at)) > 0) {}
            if (lengths[k] && ftruncate(files[k], 0)) return FAILED;
        }
        /* The rest come again, as another batch: they find the folders as this one did, and memory that is not filled
         * with the output of others. */
        if (!untouched(s) || lseek(s->out, 0, SEEK_CUR) > MANY_BYTES) break;
    }
    return DONE;
}

/* For the check that both sides agree on the layout. */
int64_t lydite_sizes(int which) {
    switch (which) {
    case 0: return (int64_t)sizeof(struct state);
    case 1: return (int64_t)sizeof(struct head);
    case 2: return (int64_t)sizeof(struct note);
    case 3: return (int64_t)sizeof(struct reply);
    default: return (int64_t)sizeof(struct run);
    }
}

int lydite_watch(struct state *s) { s->last = count(s); return 0; }
