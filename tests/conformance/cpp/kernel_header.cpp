// kernel_operator.h on the host: the 16-bit types, scalar functions, tensors, formatting, and what a block asks the runtime.
#include "kernel_operator.h"
#include "check.h"

#include <string>

using toprope::device::Narrow;

// What a block of these tests printed, and how often it waited for the others.
static std::string printed;
static int waits = 0;
static void take(const toprope_block *, const char *text, size_t length) { printed.append(text, length); }
static void wait(const toprope_block *) { ++waits; }
static const toprope_services services = {sizeof(toprope_services), 0, wait, take};

static uint16_t half_bits(double value) { return Narrow<5>(value).bits; }

static void narrow_types() {
    // IEEE 754: round to nearest, ties to even; overflow to infinity; subnormal numbers.
    CHECK_EQ(half_bits(1.0), 0x3c00);
    CHECK_EQ(half_bits(-2.0), 0xc000);
    CHECK_EQ(half_bits(65504.0), 0x7bff);
    CHECK_EQ(half_bits(65519.99), 0x7bff);
    CHECK_EQ(half_bits(65520.0), 0x7c00);
    CHECK_EQ(half_bits(2049.0), 0x6800); // a tie, down to the even one
    CHECK_EQ(half_bits(2051.0), 0x6802); // a tie, up
    CHECK_EQ(half_bits(5.960464477539063e-8), 0x0001);
    CHECK_EQ(half_bits(2.9802322387695312e-8), 0x0000);
    CHECK_EQ(half_bits(2.9802322387695316e-8), 0x0001);
    CHECK_EQ(half_bits(6.097555160522461e-5), 0x03ff);
    CHECK_EQ(half_bits(6.103515625e-5), 0x0400);
    CHECK_EQ(half_bits(-0.0), 0x8000);
    // From double in one step: by way of float this would be a tie, and go down.
    CHECK_EQ(half_bits(1.0 + 1.0 / 2048 + 1e-12), 0x3c01);
    CHECK(static_cast<float>(Narrow<5>(3.0)) == 3.0f);
    CHECK(static_cast<float>(Narrow<5>::from_bits(1)) == 5.9604644775390625e-8f);
    CHECK(static_cast<float>(Narrow<5>::from_bits(0xfc00)) < -3e38f);
    const float nan = Narrow<5>::from_bits(0x7e01);
    CHECK(nan != nan);
    CHECK_EQ(bfloat16_t(3.14159f).bits, 0x4049);
    CHECK_EQ(bfloat16_t(1e39).bits, 0x7f80);
    // Each operation rounds: 2048 + 1 is 2048, twice.
    Narrow<5> sum = 2048;
    sum = sum + 1 + 1;
    CHECK(sum == 2048);
    sum += 2.0f;
    CHECK(sum == 2050);
    CHECK((Narrow<5>(1) / 3 * 3.0) != 1.0);
    CHECK(-Narrow<5>(2) == -2);
    const half product = half(1.5f) * half(2.25f);
    CHECK(static_cast<float>(product) == 3.375f);
}

static void scalar_functions() {
    CHECK_EQ(AscendC::GetBitCount<1>(0xffff), 16);
    CHECK_EQ(AscendC::GetBitCount<0>(0xffff), 48);
    CHECK_EQ(AscendC::CountLeadingZero(0x0100000000000020ULL), 7);
    CHECK_EQ(AscendC::CountLeadingZero(0), 64);
    CHECK_EQ(AscendC::CountBitsCntSameAsSignBit(0x0100000000000020LL), 6);
    CHECK_EQ(AscendC::CountBitsCntSameAsSignBit(-1), -1);
    CHECK_EQ(AscendC::CountBitsCntSameAsSignBit(0), -1);
    CHECK_EQ(AscendC::GetSFFValue<1>(0x1000000000000100ULL), 8);
    CHECK_EQ(AscendC::GetSFFValue<0>(0xffffffffffffffffULL), -1);
    CHECK_EQ(AscendC::GetSFFValue<1>(0), -1);
    CHECK_EQ(AscendC::CeilDivision(9, 4), 3);
    using AscendC::RoundMode;
    CHECK_EQ((AscendC::Cast<float, int32_t, RoundMode::CAST_ROUND>(2.5f)), 3);
    CHECK_EQ((AscendC::Cast<float, int32_t, RoundMode::CAST_CEIL>(1.5f)), 2);
    CHECK_EQ((AscendC::Cast<float, int32_t, RoundMode::CAST_FLOOR>(2.5f)), 2);
    CHECK_EQ((AscendC::Cast<float, int32_t, RoundMode::CAST_RINT>(2.5f)), 2);
    CHECK_EQ((AscendC::Cast<float, int32_t, RoundMode::CAST_CEIL>(3e9f)), 2147483647);
    const half odd = AscendC::Cast<float, half, RoundMode::CAST_ODD>(3.14159f);
    CHECK(static_cast<float>(odd) == 3.142578125f);
    CHECK(AscendC::Cast(AscendC::Cast(3.14159f)) == 3.140625f);
}

static void tensors() {
    int values[8] = {0, 100, 200, 300, 400, 500, 600, 700};
    AscendC::GlobalTensor<int> tensor;
    CHECK(tensor.GetPhyAddr() == nullptr && tensor.GetSize() == 0);
    tensor.SetGlobalBuffer(values);
    CHECK_EQ(tensor.GetSize(), 0);
    tensor.SetGlobalBuffer(values, 8);
    tensor.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
    tensor.SetValue(2, -1);
    tensor(3) += 5;
    CHECK_EQ(tensor.GetValue(2), -1);
    CHECK_EQ(values[3], 305);
    CHECK_EQ(tensor[4].GetValue(1), 500);
    CHECK_EQ(tensor[4].GetSize(), 4);
    CHECK_PTR(tensor.GetPhyAddr(7), values + 7);
    CHECK_EQ(tensor.ReinterpretCast<short>().GetSize(), 16);
    AscendC::DataCacheCleanAndInvalid<int, AscendC::CacheLine::SINGLE_CACHE_LINE, AscendC::DcciDst::CACHELINE_OUT>(tensor);
    dcci(values, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
    AscendC::WriteGmByPassDCache(values + 1, 7);
    CHECK_EQ(AscendC::ReadGmByPassDCache(values + 1), 7);
}

// What one call of printf wrote.
template <class... A> static std::string text(const char *format, const A &...arguments) {
    printed.clear();
    AscendC::printf(format, arguments...);
    return printed;
}

enum Colour { RED = 2 };

static void formatting() {
    CHECK(text("plain\n") == "plain\n");
    CHECK(text("%d %i %ld %lld", int8_t(-1), int16_t(-2), int64_t(-3), 4) == "-1 -2 -3 4");
    CHECK(text("%u %lu", uint8_t(200), ~0ull) == "200 18446744073709551615");
    CHECK(text("%x %X %lx %x", -1, 255, int64_t(1) << 40, int8_t(-1)) == "ffffffff FF 10000000000 ffffffff");
    CHECK(text("%f %.2f %F", 1.5f, half(0.125f), bfloat16_t(2.0f)) == "1.500000 0.12 2.000000");
    CHECK(text("[%5d|%-5d|%05d]", 42, 42, 42) == "[   42|42   |00042]");
    CHECK(text("%s and %s", "one", std::string("two").c_str()) == "one and two");
    CHECK(text("100%% of %d", RED) == "100% of 2");
    CHECK(text("%p", reinterpret_cast<void *>(0x1234)) == "0x1234");
    CHECK(text("%d %d", true, block_idx) == "1 3");
    // ours: what has no argument, or one of another kind, stays as it is.
    CHECK(text("%d %f %s %", 1, 2) == "1 %f %s %");
    CHECK(text("%d", 1.5f) == "%d");
    // The page's limit: more than 30 KiB in one call is not printed.
    CHECK_EQ(text("%s", std::string(30 * 1024, 'x').c_str()).size(), 30 * 1024);
    CHECK_EQ(text("%s!", std::string(30 * 1024, 'x').c_str()).size(), 0);
}

static void blocks() {
    CHECK(toprope::device::current() == nullptr);
    const toprope_block block = {3, 5, 1, 2, &services};
    {
        toprope::device::Scope scope(&block, TOPROPE_CORE_VECTOR);
        const int64_t index = block_idx;
        CHECK_EQ(index, 3);
        CHECK_EQ(block_num, 5);
        CHECK_EQ(get_block_idx(), 3);
        CHECK_EQ(get_block_num(), 5);
        // GetBlockIdx counts every vector core: block times ratio plus the core's own number.
        CHECK_EQ(AscendC::GetBlockIdx(), 7);
        CHECK_EQ(AscendC::GetBlockNum(), 5);
        CHECK_EQ(AscendC::GetSubBlockIdx(), 1);
        CHECK_EQ(AscendC::GetSubBlockNum(), 2);
        CHECK_EQ(AscendC::GetTaskRatio(), 2);
        CHECK(ASCEND_IS_AIV && !ASCEND_IS_AIC);
        AscendC::SyncAll();
        AscendC::SyncAll<false>();
        CHECK_EQ(waits, 2);
        formatting();
        AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(EVENT_ID1);
        AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(EVENT_ID1);
        set_flag(PIPE_S, PIPE_V, EVENT_ID7);
        AscendC::TQueSync<PIPE_S, PIPE_V> sync;
        sync.WaitFlag(7);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::TPipe *pipe = AscendC::GetTPipePtr();
        const AscendC::TEventID first = pipe->AllocEventID<AscendC::HardEvent::V_S>();
        CHECK(pipe->FetchEventID(AscendC::HardEvent::V_S) != first);
        pipe->ReleaseEventID<AscendC::HardEvent::V_S>(first);
        CHECK_EQ(pipe->FetchEventID(AscendC::HardEvent::V_S), first);
        ascendc_assert(block_idx == 3, "not printed %d\n", 1);
    }
    CHECK(toprope::device::current() == nullptr);
}

int main() {
    narrow_types();
    scalar_functions();
    tensors();
    blocks();
    return check_end();
}
