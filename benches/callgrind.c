/* What `cargo xtask callgrind` counts. Each function `count_…` calls one function of the library CALLS times; all that it needs is
   ready by then, and the calls before it have warmed up what is made once. Callgrind starts from zero at `zero` and writes what it has
   counted after each `count_…`; their names without `count_` are the rows of benches/callgrind.csv.

   The streams of the asynchronous calls wait for an event behind a host function that blocks, so that no worker touches them: a
   call is its own enqueue and nothing else, and takes the same way every time. What a call to an idle stream does on top (it lists the
   stream, and may wake a worker) and what a synchronize runs by itself depend on timing, by 4 % from run to run: `cargo xtask bench`
   measures them. Prints nothing when all is well. */
#include <acl/acl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 1000, WARM = 300, BYTES = 64 };

static aclrtStream held, other, idle;
static aclrtEvent event;
static char *from, *to, *pinned, host[BYTES];
static void *blocks[CALLS];
static sem_t gate;

static void check(aclError code, const char *what) {
  if (code != ACL_SUCCESS) {
    const char *message = aclGetRecentErrMsg();
    fprintf(stderr, "%s: %d: %s\n", what, code, message ? message : "");
    exit(1);
  }
}
#define CHECK(call) check((call), #call)

static void nothing(void *unused) { (void)unused; }
static void block(void *unused) {
  (void)unused;
  while (sem_wait(&gate) != 0) {}
}

void zero(void);
__attribute__((noinline)) void zero(void) { __asm__ volatile(""); }

/* `once_NAME`, and `count_NAME` that calls it CALLS times. */
#define COUNTED(NAME, CALL)                                          \
  static void once_##NAME(int i) { (void)i; CALL; }                  \
  void count_##NAME(void);                                           \
  __attribute__((noinline)) void count_##NAME(void) {                \
    for (int i = 0; i < CALLS; ++i) once_##NAME(i);                  \
  }

COUNTED(memcpy_async_d2d_64, CHECK(aclrtMemcpyAsync(to, BYTES, from, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, held)))
COUNTED(memcpy_async_pinned_64, CHECK(aclrtMemcpyAsync(to, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, held)))
COUNTED(memset_async_64, CHECK(aclrtMemsetAsync(to, BYTES, 7, BYTES, held)))
COUNTED(record_event, CHECK(aclrtRecordEvent(event, held)))
COUNTED(stream_wait_event, CHECK(aclrtStreamWaitEvent(other, event)))
COUNTED(launch_host_func, CHECK(aclrtLaunchHostFunc(held, nothing, NULL)))
COUNTED(synchronize_done, CHECK(aclrtSynchronizeStream(idle)))
COUNTED(memcpy_h2d_64, CHECK(aclrtMemcpy(to, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE)))
COUNTED(malloc_2k, CHECK(aclrtMalloc(&blocks[i], 2048, ACL_MEM_MALLOC_NORMAL_ONLY)))
COUNTED(free_2k, CHECK(aclrtFree(blocks[i])))
COUNTED(malloc_1m, CHECK(aclrtMalloc(&blocks[i], 1 << 20, ACL_MEM_MALLOC_NORMAL_ONLY)))
COUNTED(free_1m, CHECK(aclrtFree(blocks[i])))

#define WARM_UP(CALL) for (int i = 0; i < WARM; ++i) { CALL; }
#define COUNT(NAME) do { zero(); count_##NAME(); } while (0)
#define WARM_AND_COUNT(NAME) do { WARM_UP(once_##NAME(i)) COUNT(NAME); } while (0)

int main(void) {
  const struct timespec settled = {0, 100 * 1000 * 1000};
  aclrtStream blocked;
  aclrtEvent opened;
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&blocked));
  CHECK(aclrtCreateStream(&held));
  CHECK(aclrtCreateStream(&other));
  CHECK(aclrtCreateStream(&idle));
  CHECK(aclrtCreateEventExWithFlag(&opened, ACL_EVENT_SYNC));
  CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  CHECK(aclrtMalloc((void **)&from, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
  CHECK(aclrtMalloc((void **)&to, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
  CHECK(aclrtMallocHost((void **)&pinned, 4096));

  WARM_AND_COUNT(synchronize_done);
  WARM_AND_COUNT(memcpy_h2d_64);
  WARM_UP(once_malloc_2k(i); once_free_2k(i))
  COUNT(malloc_2k);
  COUNT(free_2k);
  WARM_UP(once_malloc_1m(i); once_free_1m(i))
  COUNT(malloc_1m);
  COUNT(free_1m);

  if (sem_init(&gate, 0, 0) != 0) return 1;
  CHECK(aclrtLaunchHostFunc(blocked, block, NULL));
  CHECK(aclrtRecordEvent(opened, blocked));
  CHECK(aclrtStreamWaitEvent(held, opened));
  CHECK(aclrtStreamWaitEvent(other, opened));
  /* By then the streams have come to their waits; if not, the figures are a few instructions higher. */
  nanosleep(&settled, NULL);
  WARM_AND_COUNT(memcpy_async_d2d_64);
  WARM_AND_COUNT(memcpy_async_pinned_64);
  WARM_AND_COUNT(memset_async_64);
  WARM_AND_COUNT(record_event);
  WARM_AND_COUNT(stream_wait_event);
  WARM_AND_COUNT(launch_host_func);
  sem_post(&gate);
  CHECK(aclrtSynchronizeStream(held));
  CHECK(aclrtSynchronizeStream(other));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
