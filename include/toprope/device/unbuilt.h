/* What kernels of Ascend C use and this version does not have: vector and cube computation, local memory, queues.
 *
 * The names are there, so that a header which only mentions them compiles. A use that reaches generated code is an error at the line of
 * the use. Nothing here computes anything.
 */
#ifndef TOPROPE_DEVICE_UNBUILT_H
#define TOPROPE_DEVICE_UNBUILT_H

#include "toprope/device/global.h"
#include "toprope/device/scalar.h"
#include "toprope/device/sync.h"

#define TOPROPE_UNBUILT __attribute__((error("vector intrinsics are not built yet (scalar kernels only)")))
#define TOPROPE_UNBUILT_FLAG __attribute__((error("flags between cores are not built yet: use SyncAll")))

namespace toprope {
namespace device {

/* A parameter that takes every argument, braces included. */
struct Anything {
    template <class... A> constexpr Anything(A &&...) {}
};

/* A result that any variable takes. */
struct Nothing {
    template <class T> operator T() const { return T(); }
};

} // namespace device
} // namespace toprope

/* One function for each way to write template arguments: types, a type and then values, values. Scoped enumerators need C++17. */
#define TOPROPE_PARAMETERS                                                                                                 \
    ::toprope::device::Anything = {}, ::toprope::device::Anything = {}, ::toprope::device::Anything = {},                 \
        ::toprope::device::Anything = {}, ::toprope::device::Anything = {}, ::toprope::device::Anything = {},             \
        ::toprope::device::Anything = {}, ::toprope::device::Anything = {}, ::toprope::device::Anything = {},             \
        ::toprope::device::Anything = {}, ::toprope::device::Anything = {}, ::toprope::device::Anything = {}
#if __cplusplus >= 201703L
#define TOPROPE_VALUE auto
#else
#define TOPROPE_VALUE long long
#endif
#define TOPROPE_UNBUILT_FUNCTION(NAME, ERROR)                                                                              \
    template <class...> ERROR ::toprope::device::Nothing NAME(TOPROPE_PARAMETERS);                                         \
    template <class, TOPROPE_VALUE, TOPROPE_VALUE...> ERROR ::toprope::device::Nothing NAME(TOPROPE_PARAMETERS);           \
    template <class, class, TOPROPE_VALUE, TOPROPE_VALUE...> ERROR ::toprope::device::Nothing NAME(TOPROPE_PARAMETERS);    \
    template <TOPROPE_VALUE, TOPROPE_VALUE...> ERROR ::toprope::device::Nothing NAME(TOPROPE_PARAMETERS);
#define TOPROPE_VECTOR(NAME) TOPROPE_UNBUILT_FUNCTION(NAME, TOPROPE_UNBUILT)
#define TOPROPE_BETWEEN_CORES(NAME) TOPROPE_UNBUILT_FUNCTION(NAME, TOPROPE_UNBUILT_FLAG)

namespace AscendC {

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX
};
using QuePosition = TPosition;

/* Values in local memory. */
template <class T> class LocalTensor {
public:
    using PrimType = T;

    template <class... A> TOPROPE_UNBUILT T GetValue(const A &...) const;
    template <class... A> TOPROPE_UNBUILT void SetValue(const A &...) const;
    template <class A> TOPROPE_UNBUILT LocalTensor operator[](const A &) const;
    template <class A> TOPROPE_UNBUILT T &operator()(const A &) const;
    template <class OTHER> TOPROPE_UNBUILT LocalTensor<OTHER> ReinterpretCast() const;
    template <class... A> TOPROPE_UNBUILT uint64_t GetPhyAddr(const A &...) const;
    template <class... A> TOPROPE_UNBUILT uint32_t GetSize(const A &...) const;
    template <class... A> TOPROPE_UNBUILT uint32_t GetLength(const A &...) const;
    template <class... A> TOPROPE_UNBUILT int32_t GetPosition(const A &...) const;
    template <class... A> TOPROPE_UNBUILT void SetSize(const A &...);
};

/* Queues between the pipelines, and buffers. */
template <TPosition SOURCE, TPosition DESTINATION, int32_t DEPTH, int32_t MASK = 0> class TQueBind {
public:
    template <class T> TOPROPE_UNBUILT LocalTensor<T> AllocTensor();
    template <class T> TOPROPE_UNBUILT LocalTensor<T> DeQue();
    template <class T> TOPROPE_UNBUILT bool EnQue(const LocalTensor<T> &);
    template <class T> TOPROPE_UNBUILT void FreeTensor(const LocalTensor<T> &);
    template <class... A> TOPROPE_UNBUILT bool VacantInQue(const A &...);
    template <class... A> TOPROPE_UNBUILT bool HasTensorInQue(const A &...);
    template <class... A> TOPROPE_UNBUILT bool HasIdleBuffer(const A &...);
    template <class... A> TOPROPE_UNBUILT int32_t GetTensorCountInQue(const A &...);
    template <class... A> TOPROPE_UNBUILT void FreeAllEvent(const A &...);
};
template <TPosition POSITION, int32_t DEPTH, int32_t MASK = 0> class TQue : public TQueBind<POSITION, POSITION, DEPTH, MASK> {};

template <TPosition POSITION = TPosition::LCM> class TBuf {
public:
    template <class T, class... A> TOPROPE_UNBUILT LocalTensor<T> Get(const A &...);
    template <class T, class... A> TOPROPE_UNBUILT LocalTensor<T> GetWithOffset(const A &...);
};

/* Owner of buffers, which are not built, and of event ids, which are. */
class TPipe {
public:
    template <class... A> TOPROPE_UNBUILT bool InitBuffer(A &&...);
    template <class... A> TOPROPE_UNBUILT bool InitBufPool(A &&...);
    template <class... A> TOPROPE_UNBUILT void Reset(const A &...);

    /* An id that is free, without taking it; taken until it is released. All 8 taken is a fault. */
    TEventID FetchEventID(HardEvent event) { return free_of(event); }
    template <HardEvent EVENT> TEventID FetchEventID() { return free_of(EVENT); }
    template <HardEvent EVENT> TEventID AllocEventID()
    {
        const TEventID id = free_of(EVENT);
        taken(EVENT) = static_cast<uint8_t>(taken(EVENT) | 1u << id);
        return id;
    }
    template <HardEvent EVENT> void ReleaseEventID(TEventID id)
    {
        toprope::device::check_event("ReleaseEventID", int(EVENT) / toprope::device::PIPELINES,
            int(EVENT) % toprope::device::PIPELINES, id);
        taken(EVENT) = static_cast<uint8_t>(taken(EVENT) & ~(1u << id));
    }

private:
    static uint8_t &taken(HardEvent event)
    {
        toprope::device::here();
        return toprope::device::state()
            .events[int(event) / toprope::device::PIPELINES][int(event) % toprope::device::PIPELINES];
    }
    static TEventID free_of(HardEvent event)
    {
        for (int id = 0; id < toprope::device::EVENTS; ++id) {
            if ((taken(event) & 1u << id) == 0) {
                return static_cast<TEventID>(id);
            }
        }
        toprope::device::print("AllocEventID: all 8 ids of this event are taken\n");
        toprope::device::fault();
    }
};

inline TPipe *GetTPipePtr()
{
    static TPipe pipe;
    return &pipe;
}

/* Parameters of the functions below. */
#define TOPROPE_UNBUILT_TYPE(NAME)                                                                                         \
    struct NAME {                                                                                                          \
        template <class... A> TOPROPE_UNBUILT NAME(A &&...);                                                               \
    };
TOPROPE_UNBUILT_TYPE(BinaryRepeatParams)
TOPROPE_UNBUILT_TYPE(UnaryRepeatParams)
TOPROPE_UNBUILT_TYPE(CopyRepeatParams)
TOPROPE_UNBUILT_TYPE(DataCopyParams)
TOPROPE_UNBUILT_TYPE(DataCopyExtParams)
TOPROPE_UNBUILT_TYPE(DataCopyPadParams)
#undef TOPROPE_UNBUILT_TYPE
template <class T> struct DataCopyPadExtParams {
    template <class... A> TOPROPE_UNBUILT DataCopyPadExtParams(A &&...);
};

/* Beside the scalar form of scalar.h. */
TOPROPE_VECTOR(Cast)

TOPROPE_VECTOR(Abs) TOPROPE_VECTOR(AbsSub) TOPROPE_VECTOR(Add) TOPROPE_VECTOR(AddDeqRelu) TOPROPE_VECTOR(AddRelu)
TOPROPE_VECTOR(AddReluCast) TOPROPE_VECTOR(Adds) TOPROPE_VECTOR(And) TOPROPE_VECTOR(Ands) TOPROPE_VECTOR(Arange)
TOPROPE_VECTOR(AscendDequant) TOPROPE_VECTOR(AscendQuant) TOPROPE_VECTOR(Axpy) TOPROPE_VECTOR(BilinearInterpolation)
TOPROPE_VECTOR(BlockReduceMax) TOPROPE_VECTOR(BlockReduceMin) TOPROPE_VECTOR(BlockReduceSum) TOPROPE_VECTOR(Brcb)
TOPROPE_VECTOR(BroadCastVecToMM) TOPROPE_VECTOR(Broadcast) TOPROPE_VECTOR(CastDequant)
TOPROPE_VECTOR(CheckLocalMemoryIA) TOPROPE_VECTOR(Compare) TOPROPE_VECTOR(Compares) TOPROPE_VECTOR(Concat)
TOPROPE_VECTOR(Copy) TOPROPE_VECTOR(CreateVecIndex) TOPROPE_VECTOR(DataCopy) TOPROPE_VECTOR(DataCopyPad)
TOPROPE_VECTOR(Div) TOPROPE_VECTOR(Divs) TOPROPE_VECTOR(DumpAccChkPoint) TOPROPE_VECTOR(DumpTensor)
TOPROPE_VECTOR(Duplicate) TOPROPE_VECTOR(Exp) TOPROPE_VECTOR(Exp10) TOPROPE_VECTOR(ExpSub) TOPROPE_VECTOR(Extract)
TOPROPE_VECTOR(Fill) TOPROPE_VECTOR(Fixpipe) TOPROPE_VECTOR(FusedMulAdd) TOPROPE_VECTOR(Gather)
TOPROPE_VECTOR(GatherMask) TOPROPE_VECTOR(Gatherb) TOPROPE_VECTOR(Gelu) TOPROPE_VECTOR(GetCmpMask)
TOPROPE_VECTOR(GetMrgSortResult) TOPROPE_VECTOR(GetReduceRepeatMaxMinSpr) TOPROPE_VECTOR(GetReduceRepeatSumSpr)
TOPROPE_VECTOR(InitSpmBuffer) TOPROPE_VECTOR(LayerNorm) TOPROPE_VECTOR(LeakyRelu) TOPROPE_VECTOR(Ln)
TOPROPE_VECTOR(LoadData) TOPROPE_VECTOR(LoadDataUnzip) TOPROPE_VECTOR(LoadDataWithSparse)
TOPROPE_VECTOR(LoadDataWithTranspose) TOPROPE_VECTOR(LoadImageToLocal) TOPROPE_VECTOR(LoadUnzipIndex)
TOPROPE_VECTOR(Max) TOPROPE_VECTOR(Maxs) TOPROPE_VECTOR(Min) TOPROPE_VECTOR(Mins) TOPROPE_VECTOR(Mmad)
TOPROPE_VECTOR(MmadWithSparse) TOPROPE_VECTOR(MrgSort) TOPROPE_VECTOR(MrgSort4) TOPROPE_VECTOR(Mul)
TOPROPE_VECTOR(MulAddDst) TOPROPE_VECTOR(MulAddRelu) TOPROPE_VECTOR(MulCast) TOPROPE_VECTOR(Mull) TOPROPE_VECTOR(Muls)
TOPROPE_VECTOR(MulsCast) TOPROPE_VECTOR(Neg) TOPROPE_VECTOR(Not) TOPROPE_VECTOR(Or) TOPROPE_VECTOR(Ors)
TOPROPE_VECTOR(Pad) TOPROPE_VECTOR(PairReduceElem) TOPROPE_VECTOR(PairReduceSum) TOPROPE_VECTOR(PopStackBuffer)
TOPROPE_VECTOR(Power) TOPROPE_VECTOR(Prelu) TOPROPE_VECTOR(ProposalConcat) TOPROPE_VECTOR(ProposalExtract)
TOPROPE_VECTOR(ReadSpmBuffer) TOPROPE_VECTOR(Reciprocal) TOPROPE_VECTOR(ReduceMax) TOPROPE_VECTOR(ReduceMin)
TOPROPE_VECTOR(ReduceSum) TOPROPE_VECTOR(Relu) TOPROPE_VECTOR(RepeatReduceSum) TOPROPE_VECTOR(ResetMask)
TOPROPE_VECTOR(RmsNorm) TOPROPE_VECTOR(RpSort16) TOPROPE_VECTOR(Rsqrt) TOPROPE_VECTOR(Scatter) TOPROPE_VECTOR(Select)
TOPROPE_VECTOR(SetAippFunctions) TOPROPE_VECTOR(SetAtomicAdd) TOPROPE_VECTOR(SetAtomicMax) TOPROPE_VECTOR(SetAtomicMin)
TOPROPE_VECTOR(SetAtomicNone) TOPROPE_VECTOR(SetAtomicType) TOPROPE_VECTOR(SetCmpMask) TOPROPE_VECTOR(SetDeqScale)
TOPROPE_VECTOR(SetFixPipeAddr) TOPROPE_VECTOR(SetFixPipeClipRelu) TOPROPE_VECTOR(SetFixPipeConfig)
TOPROPE_VECTOR(SetFixpipeNz2ndFlag) TOPROPE_VECTOR(SetFixpipePreQuantFlag) TOPROPE_VECTOR(SetFmatrix)
TOPROPE_VECTOR(SetHF32Mode) TOPROPE_VECTOR(SetHF32TransMode) TOPROPE_VECTOR(SetLoadDataBoundary)
TOPROPE_VECTOR(SetLoadDataPaddingValue) TOPROPE_VECTOR(SetLoadDataRepeat) TOPROPE_VECTOR(SetMaskCount)
TOPROPE_VECTOR(SetMaskNorm) TOPROPE_VECTOR(SetPadValue) TOPROPE_VECTOR(SetVectorMask) TOPROPE_VECTOR(ShiftLeft)
TOPROPE_VECTOR(ShiftRight) TOPROPE_VECTOR(Sigmoid) TOPROPE_VECTOR(SoftMax) TOPROPE_VECTOR(Sort) TOPROPE_VECTOR(Sort32)
TOPROPE_VECTOR(Sqrt) TOPROPE_VECTOR(Sub) TOPROPE_VECTOR(SubRelu) TOPROPE_VECTOR(SubReluCast) TOPROPE_VECTOR(Subs)
TOPROPE_VECTOR(Sum) TOPROPE_VECTOR(Tanh) TOPROPE_VECTOR(TransDataTo5HD) TOPROPE_VECTOR(Transpose)
TOPROPE_VECTOR(Truncate) TOPROPE_VECTOR(VectorPadding) TOPROPE_VECTOR(WholeReduceMax) TOPROPE_VECTOR(WholeReduceMin)
TOPROPE_VECTOR(WholeReduceSum) TOPROPE_VECTOR(WriteSpmBuffer) TOPROPE_VECTOR(Xor)

TOPROPE_BETWEEN_CORES(CrossCoreSetFlag) TOPROPE_BETWEEN_CORES(CrossCoreWaitFlag) TOPROPE_BETWEEN_CORES(IBSet)
TOPROPE_BETWEEN_CORES(IBWait) TOPROPE_BETWEEN_CORES(InitDetermineComputeWorkspace)
TOPROPE_BETWEEN_CORES(NotifyNextBlock) TOPROPE_BETWEEN_CORES(WaitPreBlock)

/* The form that counts in memory of the program. */
template <bool isAIVOnly = true>
TOPROPE_UNBUILT void SyncAll(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, int32_t = 0);

} // namespace AscendC

#undef TOPROPE_VECTOR
#undef TOPROPE_BETWEEN_CORES
#undef TOPROPE_UNBUILT_FUNCTION
#undef TOPROPE_PARAMETERS
#undef TOPROPE_VALUE

#endif
