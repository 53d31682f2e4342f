/* The block that the calling thread runs, and what device code asks about it.
 *
 * A kernel's entry makes a Scope first; until it ends, everything here answers for that block. The state is one per thread and
 * per image: it is hidden, so that neither another image nor the program shares it.
 */
#ifndef TOPROPE_DEVICE_BLOCK_H
#define TOPROPE_DEVICE_BLOCK_H

#include "toprope/device/qualifiers.h"
#include "toprope/device_image.h"

#include <stdio.h>
#include <stdlib.h>

namespace toprope {
namespace device {

/* Pipelines of a core, and events of each ordered pair of them (Ascend C API, "SetFlag/WaitFlag"). */
constexpr int PIPELINES = 16;

/* What one thread knows while it runs a block. */
struct State {
    const toprope_block *block;
    uint32_t core; /* enum toprope_core */
    uint8_t flags[PIPELINES][PIPELINES]; /* by source and destination: the events that are set, a bit each */
    uint8_t events[PIPELINES][PIPELINES]; /* likewise: the event ids that are taken */
};

__attribute__((visibility("hidden"))) inline State &state()
{
    static thread_local State mine;
    return mine;
}

/* The block of this thread, or null outside of a kernel. */
inline const toprope_block *current() { return state().block; }

/* Makes `block` the block of this thread. For the entries of kernels, which the compiler writes. */
class Scope {
public:
    explicit Scope(const toprope_block *block, uint32_t core = TOPROPE_CORE_MIX)
    {
        state() = State();
        state().block = block;
        state().core = core;
    }
    ~Scope() { state().block = nullptr; }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
};

/* Ends the block as a fault: the launch fails with the error of a kernel exception. */
[[noreturn]] inline void fault()
{
#ifdef TOPROPE_ILLEGAL_INSTRUCTION
    __asm__ volatile(TOPROPE_ILLEGAL_INSTRUCTION);
    __builtin_unreachable();
#else
    __builtin_trap();
#endif
}

/* The block of this thread, for functions that mean nothing without one. */
inline const toprope_block &here()
{
    const toprope_block *block = current();
    if (block == nullptr) {
        fputs("toprope: a device function was called outside of a kernel\n", stderr);
        abort();
    }
    return *block;
}

/* A value of the running block that device code reads like a variable; a local variable may take its name. */
template <uint32_t toprope_block::*MEMBER> struct BlockValue {
    constexpr BlockValue() {}
    operator int64_t() const { return static_cast<int64_t>(here().*MEMBER); }
};

} // namespace device
} // namespace toprope

/* Built-in variables and functions of the compiler: the block as launched, without its vector cores. */
static constexpr toprope::device::BlockValue<&toprope_block::index> block_idx{};
static constexpr toprope::device::BlockValue<&toprope_block::count> block_num{};

inline int64_t get_block_idx() { return toprope::device::here().index; }
inline int64_t get_block_num() { return toprope::device::here().count; }
inline int64_t get_subblockid() { return toprope::device::here().sub_index; }
inline int64_t get_subblockdim() { return toprope::device::here().sub_count; }

/* Which kind of core runs this. A kernel for both kinds runs as a vector core. */
#define ASCEND_IS_AIC (::toprope::device::state().core == ::TOPROPE_CORE_CUBE)
#define ASCEND_IS_AIV (::toprope::device::state().core != ::TOPROPE_CORE_CUBE)

namespace AscendC {

/* Index of the core that runs this, counting every vector core of every block. */
inline int64_t GetBlockIdx()
{
    const toprope_block &block = toprope::device::here();
    return static_cast<int64_t>(block.index) * block.sub_count + block.sub_index;
}

/* Blocks of the launch. */
inline int64_t GetBlockNum() { return toprope::device::here().count; }

/* Index of the core within its block, and cores of a block. */
inline int64_t GetSubBlockIdx() { return toprope::device::here().sub_index; }
inline int64_t GetSubBlockNum() { return toprope::device::here().sub_count; }

/* Cores that run the kernel for each block; the second spelling is the older one. */
inline int64_t GetTaskRatio() { return toprope::device::here().sub_count; }
inline int64_t GetTaskRation() { return toprope::device::here().sub_count; }

/* Stops the kernel. */
[[noreturn]] inline void Trap() { toprope::device::fault(); }

} // namespace AscendC

#endif
