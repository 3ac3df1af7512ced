/*
 * Stands between lmdb and the system calls through which it writes its map (LD_PRELOAD), for campaigns of faults.
 *
 *   RINGBOOK_IO_TRACE=<file>   every call on a file "…ledger.mdb" is appended to it, in order, with its bytes:
 *                              kind 1 │ zeros 3 │ length 4 │ offset 8 │ bytes
 *                              kind: 1 write, 2 sync, 3 write through (O_DSYNC), 4 mark, 5 new length (in offset),
 *                                    6 write by the same call as the one before
 *   a write to "….marks"       is a mark in the trace, and happens
 *   a write to "….plan"        "<n> <errno> <how>" and happens: the n-th call from here on fails; n 0: none does
 *                              how: 0 once, 1 from then on for ever, 2 once and half is written,
 *                                   3 once, and it does not return: the thread is blocked in the kernel (state D)
 *
 * Only for one thread that writes, as a node has it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, WRITE_THROUGH = 3, MARK = 4, LENGTH = 5, MORE = 6 };
enum { OTHER, MAP, MARKS, PLAN };
enum { ONCE, FOR_EVER, HALF, STALL };

static int trace = -2;
static long calls, fails_at;
static int fails_with, fails_how;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int ends_with(const char *text, const char *end) {
  size_t a = strlen(text), b = strlen(end);
  return a >= b && strcmp(text + a - b, end) == 0;
}

static int kind_of(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return OTHER;
  path[length] = 0;
  if (ends_with(path, "ledger.mdb")) return MAP;
  if (ends_with(path, ".marks")) return MARKS;
  return ends_with(path, ".plan") ? PLAN : OTHER;
}

static void note(int kind, uint64_t offset, const void *bytes, uint32_t length) {
  if (trace == -2) {
    const char *path = getenv("RINGBOOK_IO_TRACE");
    trace = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
  if (trace < 0) return;
  unsigned char head[16] = {(unsigned char)kind};
  memcpy(head + 4, &length, 4);
  memcpy(head + 8, &offset, 8);
  if (REAL(write)(trace, head, sizeof head) != sizeof head) abort();
  if (length > 0 && REAL(write)(trace, bytes, length) != (ssize_t)length) abort();
}

/* As a disk that does not answer: whoever waits for a child of vfork sleeps without taking signals, but for SIGKILL. */
static void stall(void) {
  pid_t parent = getpid();
  pid_t child = vfork();
  if (child != 0) return;
  while (getppid() == parent) usleep(50000);
  _exit(0);
}

/* Whether this call fails, and how. */
static int failing(void) {
  calls += 1;
  if (fails_at == 0 || calls < fails_at) return 0;
  if (calls == fails_at && fails_how == STALL) stall();
  return calls == fails_at || fails_how == FOR_EVER;
}

static int write_kind(int fd) { return fcntl(fd, F_GETFL) & O_DSYNC ? WRITE_THROUGH : WRITE; }

static void take_plan(const void *bytes, size_t length) {
  char text[64] = {0};
  memcpy(text, bytes, length < sizeof text ? length : sizeof text - 1);
  calls = 0;
  if (sscanf(text, "%ld %d %d", &fails_at, &fails_with, &fails_how) != 3) abort();
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  if (kind_of(fd) != MAP) return REAL(pwrite64)(fd, bytes, length, offset);
  if (failing()) {
    if (fails_how == HALF) return REAL(pwrite64)(fd, bytes, length / 2, offset);
    errno = fails_with;
    return -1;
  }
  note(write_kind(fd), (uint64_t)offset, bytes, (uint32_t)length);
  return REAL(pwrite64)(fd, bytes, length, offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
  if (kind_of(fd) != MAP) return REAL(writev)(fd, pieces, count);
  if (failing()) {
    if (fails_how == HALF) return REAL(write)(fd, pieces[0].iov_base, pieces[0].iov_len / 2);
    errno = fails_with;
    return -1;
  }
  uint64_t offset = (uint64_t)lseek(fd, 0, SEEK_CUR);
  for (int index = 0; index < count; index += 1) {
    note(index == 0 ? write_kind(fd) : MORE, offset, pieces[index].iov_base, (uint32_t)pieces[index].iov_len);
    offset += pieces[index].iov_len;
  }
  return REAL(writev)(fd, pieces, count);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  int kind = kind_of(fd);
  if (kind == MARKS) note(MARK, 0, bytes, (uint32_t)length);
  if (kind == PLAN) take_plan(bytes, length);
  if (kind != MAP) return REAL(write)(fd, bytes, length);
  if (failing()) {
    if (fails_how == HALF) return REAL(write)(fd, bytes, length / 2);
    errno = fails_with;
    return -1;
  }
  note(write_kind(fd), (uint64_t)lseek(fd, 0, SEEK_CUR), bytes, (uint32_t)length);
  return REAL(write)(fd, bytes, length);
}

int fdatasync(int fd) {
  if (kind_of(fd) != MAP) return REAL(fdatasync)(fd);
  if (failing()) {
    errno = fails_with;
    return -1;
  }
  note(SYNC, 0, NULL, 0);
  return REAL(fdatasync)(fd);
}

int fsync(int fd) {
  if (kind_of(fd) != MAP) return REAL(fsync)(fd);
  if (failing()) {
    errno = fails_with;
    return -1;
  }
  note(SYNC, 0, NULL, 0);
  return REAL(fsync)(fd);
}

int ftruncate64(int fd, off64_t length) {
  if (kind_of(fd) != MAP) return REAL(ftruncate64)(fd, length);
  if (failing()) {
    errno = fails_with;
    return -1;
  }
  note(LENGTH, (uint64_t)length, NULL, 0);
  return REAL(ftruncate64)(fd, length);
}
