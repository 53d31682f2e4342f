/* Order within a core and between cores (Ascend C API, "SetFlag/WaitFlag", "PipeBarrier", "SyncAll").
 *
 * Scalar code runs in its own order, so flags and barriers have nothing to wait for; they are checked. A flag that is waited for and was
 * not set would hang a card: here it says so and stops the kernel.
 */
#ifndef TOPROPE_DEVICE_SYNC_H
#define TOPROPE_DEVICE_SYNC_H

#include "toprope/device/print.h"

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_MTE4, PIPE_MTE5, PIPE_V2, PIPE_FIX };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace toprope {
namespace device {

/* Events of each pair of pipelines (range of eventID on Atlas A2 and A3). */
constexpr int EVENTS = 8;

inline void check_event(const char *function, int source, int destination, int event)
{
    if (event < 0 || event >= EVENTS) {
        print("%s: event %d of pipelines %d and %d, there are 0 to 7\n", function, event, source, destination);
        fault();
    }
}

inline void set_event(int source, int destination, int event)
{
    here();
    check_event("SetFlag", source, destination, event);
    state().flags[source][destination] = static_cast<uint8_t>(state().flags[source][destination] | 1u << event);
}

inline void wait_event(int source, int destination, int event)
{
    here();
    check_event("WaitFlag", source, destination, event);
    uint8_t &flags = state().flags[source][destination];
    if ((flags & 1u << event) == 0) {
        print("WaitFlag: event %d of pipelines %d and %d was not set: a card hangs here\n", event, source, destination);
        fault();
    }
    flags = static_cast<uint8_t>(flags & ~(1u << event));
}

} // namespace device
} // namespace toprope

/* Built-in functions of the compiler. */
inline void set_flag(pipe_t source, pipe_t destination, int event) { toprope::device::set_event(source, destination, event); }
inline void wait_flag(pipe_t source, pipe_t destination, int event) { toprope::device::wait_event(source, destination, event); }
inline void pipe_barrier(pipe_t) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

namespace AscendC {

using TEventID = int8_t;

#define TOPROPE_EVENTS_FROM(SOURCE)                                                                                        \
    SOURCE##_S = PIPE_##SOURCE * toprope::device::PIPELINES + PIPE_S,                                                      \
    SOURCE##_V = PIPE_##SOURCE * toprope::device::PIPELINES + PIPE_V,                                                      \
    SOURCE##_M = PIPE_##SOURCE * toprope::device::PIPELINES + PIPE_M,                                                      \
    SOURCE##_MTE1 = PIPE_##SOURCE * toprope::device::PIPELINES + PIPE_MTE1,                                                \
    SOURCE##_MTE2 = PIPE_##SOURCE * toprope::device::PIPELINES + PIPE_MTE2,                                                \
    SOURCE##_MTE3 = PIPE_##SOURCE * toprope::device::PIPELINES + PIPE_MTE3,                                                \
    SOURCE##_FIX = PIPE_##SOURCE * toprope::device::PIPELINES + PIPE_FIX

/* The second pipeline waits for the first. */
enum class HardEvent : uint8_t {
    TOPROPE_EVENTS_FROM(S),
    TOPROPE_EVENTS_FROM(V),
    TOPROPE_EVENTS_FROM(M),
    TOPROPE_EVENTS_FROM(MTE1),
    TOPROPE_EVENTS_FROM(MTE2),
    TOPROPE_EVENTS_FROM(MTE3),
    TOPROPE_EVENTS_FROM(FIX)
};
#undef TOPROPE_EVENTS_FROM

template <HardEvent EVENT> inline void SetFlag(int32_t event)
{
    toprope::device::set_event(int(EVENT) / toprope::device::PIPELINES, int(EVENT) % toprope::device::PIPELINES, event);
}
template <HardEvent EVENT> inline void WaitFlag(int32_t event)
{
    toprope::device::wait_event(int(EVENT) / toprope::device::PIPELINES, int(EVENT) % toprope::device::PIPELINES, event);
}

template <pipe_t PIPE> inline void PipeBarrier() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/* The same with the two pipelines in the type. */
template <pipe_t SOURCE, pipe_t DESTINATION> class TQueSync {
public:
    void SetFlag(TEventID event) { toprope::device::set_event(SOURCE, DESTINATION, event); }
    void WaitFlag(TEventID event) { toprope::device::wait_event(SOURCE, DESTINATION, event); }
};

struct SyncAllConfig {
    pipe_t triggerPipe;
    pipe_t waitPipe;
};
constexpr SyncAllConfig DEFAULT_SYNC_ALL_CONFIG = {PIPE_ALL, PIPE_ALL};

/* Returns when every block of the launch has called it as often as this one. */
template <bool isAIVOnly = true> inline void SyncAll()
{
    const toprope_block &block = toprope::device::here();
    block.services->sync_all(&block);
}
template <bool isAIVOnly, const SyncAllConfig &config> inline void SyncAll() { SyncAll<isAIVOnly>(); }

} // namespace AscendC

#endif
