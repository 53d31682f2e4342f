//! Chapter 12's built-in tasks through the C interface, on the default product (a2): reductions and random numbers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[macro_use]
mod stream_common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ascendcl::copy::{aclrtMemcpy, aclrtMemset};
use ascendcl::memory::{aclrtMalloc, aclrtMallocHost};
use ascendcl::task::*;
use stream_common::*;
use sys::{
    ACL_BF16, ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_UINT32,
    ACL_UINT64,
};

const SUM: u32 = sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
const MAX: u32 = sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX;
const MIN: u32 = sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
const EQUAL: u32 = sys::ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL;

fn memory(size: usize) -> *mut c_void {
    let mut memory = null_mut();
    ok!(aclrtMalloc(&mut memory, size, sys::ACL_MEM_MALLOC_HUGE_FIRST));
    ok!(aclrtMemset(memory, size, 0, size));
    memory
}

fn put<T: Copy>(memory: *mut c_void, values: &[T]) {
    let len = size_of_val(values);
    ok!(aclrtMemcpy(memory, len, values.as_ptr().cast(), len, sys::ACL_MEMCPY_HOST_TO_DEVICE));
}

fn get<T: Copy + Default>(memory: *mut c_void, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    let len = size_of_val(&values[..]);
    ok!(aclrtMemcpy(values.as_mut_ptr().cast(), len, memory, len, sys::ACL_MEMCPY_DEVICE_TO_HOST));
    values
}

fn uploaded<T: Copy>(values: &[T]) -> *mut c_void {
    let memory = memory(size_of_val(values).max(1));
    put(memory, values);
    memory
}

/// What a reduction makes of two arrays.
fn reduced<T: Copy + Default>(kind: u32, data_type: i32, dst: &[T], src: &[T]) -> Vec<T> {
    let (to, from) = (uploaded(dst), uploaded(src));
    let len = size_of_val(dst) as u64;
    ok!(aclrtReduceAsync(to, from, len, kind, data_type, null_mut(), null_mut()));
    ok!(aclrtSynchronizeStream(null_mut()));
    get(to, dst.len())
}

/// aclrtReduceAsync#07, #08, #11, #17
#[test]
fn kinds_and_types() {
    device(0);
    assert_eq!(reduced(SUM, ACL_FLOAT, &[1.0f32, 2.5, -3.0], &[4.0, 0.25, 3.0]), [5.0, 2.75, 0.0]);
    assert_eq!(reduced(MAX, ACL_FLOAT, &[1.0f32, 2.5, -3.0], &[4.0, 0.25, -9.0]), [4.0, 2.5, -3.0]);
    assert_eq!(reduced(MIN, ACL_FLOAT, &[1.0f32, 2.5, -3.0], &[4.0, 0.25, -9.0]), [1.0, 0.25, -9.0]);
    assert_eq!(reduced(EQUAL, ACL_FLOAT, &[1.0f32, 2.5], &[1.0, 2.25]), [1.0, 0.0]);
    assert_eq!(reduced(SUM, ACL_INT8, &[100_i8, -7], &[100, 3]), [-56, -4]);
    assert_eq!(reduced(MAX, ACL_INT8, &[-100_i8, 7], &[100, 3]), [100, 7]);
    assert_eq!(reduced(MIN, ACL_INT16, &[-100_i16, 7000], &[100, 3000]), [-100, 3000]);
    assert_eq!(reduced(SUM, ACL_INT16, &[300_i16], &[-301]), [-1]);
    assert_eq!(reduced(EQUAL, ACL_INT16, &[300_i16, 4], &[300, 5]), [1, 0]);
    assert_eq!(reduced(SUM, ACL_INT32, &[1_i32 << 30, -5], &[1 << 30, 6]), [i32::MIN, 1]);
    assert_eq!(reduced(MIN, ACL_INT32, &[3_i32], &[-70_000]), [-70_000]);
    // Halves: 1.5 + 2.25 = 3.75; 65504 + 65504 is infinity in the mode that is the default here.
    assert_eq!(reduced(SUM, ACL_FLOAT16, &[0x3e00_u16, 0x7bff], &[0x4080, 0x7bff]), [0x4380, 0x7c00]);
    assert_eq!(reduced(MAX, ACL_FLOAT16, &[0xbc00_u16], &[0x3800]), [0x3800]);
    // bfloat16: 1 + 2 = 3; 256 + 1 stays.
    assert_eq!(reduced(SUM, ACL_BF16, &[0x3f80_u16, 0x4380], &[0x4000, 0x3f80]), [0x4040, 0x4380]);
    assert_eq!(reduced(MIN, ACL_BF16, &[0x3f80_u16], &[0xc000]), [0xc000]);
}

/// 25-02 aclrtFloatOverflowMode: in saturation mode, the largest number for infinity and 0 for NaN.
#[test]
fn saturation_mode() {
    device(0);
    ok!(aclrtSetDeviceSatMode(sys::ACL_RT_OVERFLOW_MODE_SATURATION));
    let (inf, max) = (f32::INFINITY, f32::MAX);
    assert_eq!(reduced(SUM, ACL_FLOAT, &[max, inf], &[max, -inf]), [max, 0.0]);
    assert_eq!(reduced(SUM, ACL_FLOAT16, &[0x7bff_u16], &[0x7bff]), [0x7bff]);
    ok!(aclrtSetDeviceSatMode(sys::ACL_RT_OVERFLOW_MODE_INFNAN));
    assert_eq!(reduced(SUM, ACL_FLOAT, &[max], &[max]), [inf]);
}

/// Large ranges, of a length that is no whole number of pieces, at odd addresses.
#[test]
fn large_and_unaligned() {
    device(0);
    const COUNT: usize = 100_003;
    let values: Vec<i32> = (0..COUNT as i32).collect();
    let (to, from) = (memory(4 * COUNT + 8), memory(4 * COUNT + 8));
    let [to_1, from_3] = [to.wrapping_byte_add(1), from.wrapping_byte_add(3)];
    put(to_1, &values);
    put(from_3, &values);
    ok!(aclrtReduceAsync(to_1, from_3, 4 * COUNT as u64, SUM, ACL_INT32, null_mut(), null_mut()));
    ok!(aclrtSynchronizeStream(null_mut()));
    assert!(get::<i32>(to_1, COUNT).iter().zip(values).all(|(sum, value)| *sum == 2 * value));
    assert_eq!((get::<u8>(to, 1), get::<u8>(to_1.wrapping_byte_add(4 * COUNT), 4)), (vec![0], vec![0; 4]));
}

/// aclrtReduceAsync#16: the memory is read when the task runs.
#[test]
fn reductions_run_in_stream_order() {
    device(0);
    let stream = stream();
    let (to, from) = (uploaded(&[1.0f32]), uploaded(&[2.0f32]));
    let hold = Hold::on(stream);
    for _ in 0..3 {
        ok!(aclrtReduceAsync(to, from, 4, SUM, ACL_FLOAT, stream, null_mut()));
    }
    hold.begun();
    put(from, &[10.0f32]);
    assert_eq!(get::<f32>(to, 1), [1.0]);
    hold.release();
    ok!(aclrtSynchronizeStream(stream));
    assert_eq!(get::<f32>(to, 1), [31.0]);
}

/// aclrtReduceAsync#01 to #06, #11, #15, #18, #20
#[test]
fn reduce_checks_its_arguments() {
    device(0);
    let other = context(0);
    let foreign = stream();
    ok!(aclrtSetDevice(0));
    let (dead, good) = (stream(), stream());
    ok!(aclrtDestroyStream(dead));
    let (a, b) = (memory(64), memory(64));
    let none = null_mut();
    let mut local = [0_u8; 64];
    let host: *mut c_void = local.as_mut_ptr().cast();
    let mut pinned = null_mut();
    ok!(aclrtMallocHost(&mut pinned, 64));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtReduceAsync(none, b, 0, 9, ACL_UINT8, dead, host));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtReduceAsync(a, null(), 0, 9, ACL_UINT8, dead, host));
    refused!(ACL_ERROR_INVALID_PARAM, aclrtReduceAsync(a, b, 0, 9, ACL_UINT8, dead, host));
    assert!(why().contains("aclrtReduceAsync#03"));
    for data_type in [ACL_UINT8, ACL_INT64, ACL_UINT64, sys::ACL_DOUBLE, -1, 77, i32::MAX] {
        refused!(ACL_ERROR_INVALID_PARAM, aclrtReduceAsync(a, b, 0, 9, data_type, dead, none));
        assert!(why().contains("aclrtReduceAsync#04"));
    }
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtReduceAsync(a, b, 0, 9, ACL_FLOAT, dead, none));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtReduceAsync(a, b, 0, 9, ACL_FLOAT, foreign, none));
    assert!(why().contains("aclrtReduceAsync#05"));
    for kind in [0, 9, 14, u32::MAX] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtReduceAsync(a, b, 4, kind, ACL_FLOAT, foreign, none));
        assert!(why().contains("aclrtReduceAsync#06"));
    }
    // uint32 is for other products.
    refused!(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtReduceAsync(a, b, 4, SUM, ACL_UINT32, good, none));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtReduceAsync(a, b, 4, SUM, ACL_FLOAT, foreign, none));
    for count in [3, 6, 1 << 40, u64::MAX - 3] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtReduceAsync(a, b, count, SUM, ACL_FLOAT, good, none));
    }
    for elsewhere in [host, pinned] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtReduceAsync(elsewhere, b, 4, SUM, ACL_FLOAT, good, none));
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtReduceAsync(a, elsewhere, 4, SUM, ACL_FLOAT, good, none));
    }
    device(1);
    let far = memory(64);
    device(0);
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtReduceAsync(a, far, 4, SUM, ACL_FLOAT, good, none));
    assert!(why().contains("aclrtReduceAsync#15"));
    ok!(aclrtSynchronizeStream(good));
    assert_eq!(get::<u8>(a, 64), [0; 64]);
    ok!(aclrtDestroyContext(other));
}

const DROPOUT: u32 = sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
const UNIFORM: u32 = sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
const NORMAL: u32 = sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
const TRUNCATED: u32 = sys::ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;

/// A parameter; the bytes that do not count are garbage.
fn value<T: Copy>(value: T) -> sys::aclrtRandomParaInfo {
    let mut info = sys::aclrtRandomParaInfo {
        isAddr: 0,
        valueOrAddr: [0xa5; 8],
        size: size_of::<T>() as u8,
        rsv: [0xa5; 6],
    };
    // SAFETY: at most 8 bytes of plain data.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
    info.valueOrAddr[..bytes.len()].copy_from_slice(bytes);
    info
}

fn address(memory: *mut c_void) -> sys::aclrtRandomParaInfo {
    sys::aclrtRandomParaInfo { isAddr: 1, ..value(memory as u64) }
}

type Info = sys::aclrtRandomNumTaskInfo;

/// A task; whatever its distribution does not use is garbage.
fn info(data_type: i32, func: u32, params: [sys::aclrtRandomParaInfo; 2], num: u64) -> Info {
    // SAFETY: plain data.
    let mut info: Info = unsafe { std::mem::zeroed() };
    info.rsv = [0xa5; 8];
    info.dataType = data_type;
    info.randomNumFuncParaInfo.funcType = func;
    info.randomNumFuncParaInfo.paramInfo.uniformDisInfo =
        sys::aclrtUniformDisInfo { min: params[0], max: params[1] };
    if func == DROPOUT {
        info.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max =
            sys::aclrtRandomParaInfo { isAddr: 1, valueOrAddr: [0xa5; 8], size: 0xa5, rsv: [0xa5; 6] };
        info.randomNumFuncParaInfo.paramInfo.dropoutBitmaskInfo.dropoutRation = params[0];
    }
    info.randomResultAddr = memory(8 * num as usize + 64);
    info.randomCounterAddr = uploaded(&[0_u64; 2]);
    info.randomSeed = value(0_u64);
    info.randomNum = value(num);
    info
}

fn run(info: &Info) {
    ok!(aclrtRandomNumAsync(info, null_mut(), null_mut()));
    ok!(aclrtSynchronizeStream(null_mut()));
}

fn drawn<T: Copy + Default>(info: &Info, count: usize) -> Vec<T> {
    run(info);
    get(info.randomResultAddr, count)
}

/// Words 0 to 3 of Philox4x32-10 for seed 0 and counter 0, as its authors publish them.
const FIRST: [u32; 4] = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];

/// aclrtRandomNumAsync#05, #06, and the words that the module's table names.
#[test]
fn integers_are_words_of_philox_scaled() {
    device(0);
    let all = info(ACL_UINT32, UNIFORM, [value(0_u32), value(u32::MAX)], 4);
    assert_eq!(drawn::<u32>(&all, 5), [FIRST[0] - 1, FIRST[1] - 1, FIRST[2] - 1, FIRST[3] - 1, 0]);
    let dice = info(ACL_INT32, UNIFORM, [value(-3_i32), value(3_i32)], 4);
    let wanted = FIRST.map(|word| -3 + ((u64::from(word) * 6) >> 32) as i32);
    assert_eq!(drawn::<i32>(&dice, 4), wanted);
    let long = info(ACL_UINT64, UNIFORM, [value(10_u64), value(u64::MAX)], 2);
    let word = u128::from(FIRST[1]) << 32 | u128::from(FIRST[0]);
    let wanted = 10 + ((word * u128::from(u64::MAX - 10)) >> 64) as u64;
    assert_eq!(drawn::<u64>(&long, 2)[0], wanted);
    let signed = info(ACL_INT64, UNIFORM, [value(i64::MIN), value(i64::MAX)], 1000);
    let values = drawn::<i64>(&signed, 1000);
    assert!(values.iter().filter(|value| **value < 0).count().abs_diff(500) < 80);
    let one = info(ACL_INT32, UNIFORM, [value(7_i32), value(7_i32)], 3);
    assert_eq!(drawn::<i32>(&one, 4), [7, 7, 7, 0]);
}

#[test]
fn the_counter_moves_the_window_and_the_seed_changes_it() {
    device(0);
    let mut task = info(ACL_UINT32, UNIFORM, [value(0_u32), value(u32::MAX)], 2500);
    let base = drawn::<u32>(&task, 2500);
    assert_eq!(drawn::<u32>(&task, 2500), base);
    // The task leaves its counter alone.
    assert_eq!(get::<u64>(task.randomCounterAddr, 2), [0, 0]);
    put(task.randomCounterAddr, &[3_u64, 0]);
    assert_eq!(drawn::<u32>(&task, 2488), base[12..]);
    // At any address, and all 128 bits of it.
    let odd = memory(17).wrapping_byte_add(1);
    put(odd, &[u64::MAX, u64::MAX]);
    task.randomCounterAddr = odd;
    assert_eq!(drawn::<u32>(&task, 2500)[4..], base[..2496]);
    put(odd, &[0_u64, 0]);
    task.randomSeed = value(1_u64 << 40);
    assert_ne!(drawn::<u32>(&task, 2500)[..4], base[..4]);
    task.randomSeed = address(uploaded(&[0_u64]));
    task.randomNum = address(uploaded(&[2500_u64]));
    assert_eq!(drawn::<u32>(&task, 2500), base);
}

fn half(bits: u16) -> f64 {
    assert_ne!(bits & 0x7c00, 0x7c00);
    let magnitude = match (bits >> 10 & 31, f64::from(bits & 1023)) {
        (0, fraction) => fraction * 2f64.powi(-24),
        (exponent, fraction) => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

fn brain(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

const N: usize = 20_001;

/// The numbers of a floating-point task, of each of the three types; parameters as floats.
fn floats(func: u32, a: f32, b: f32) -> [Vec<f64>; 3] {
    let brains = [value((a.to_bits() >> 16) as u16), value((b.to_bits() >> 16) as u16)];
    // The tests' numbers are powers of two and sums of few of them: exact in all three formats.
    let short = |x: f32| {
        let bits = x.to_bits();
        let sign = (bits >> 16) as u16 & 0x8000;
        let exponent = ((bits >> 23 & 0xff) as i32 - 127 + 15) as u16;
        if x == 0.0 { sign } else { sign | exponent << 10 | (bits >> 13 & 0x3ff) as u16 }
    };
    let halves = [value(short(a)), value(short(b))];
    let float = drawn::<f32>(&info(ACL_FLOAT, func, [value(a), value(b)], N as u64), N);
    let half_bits = drawn::<u16>(&info(ACL_FLOAT16, func, halves, N as u64), N);
    let brain_bits = drawn::<u16>(&info(ACL_BF16, func, brains, N as u64), N);
    [
        float.into_iter().map(f64::from).collect(),
        half_bits.into_iter().map(half).collect(),
        brain_bits.into_iter().map(brain).collect(),
    ]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

#[track_caller]
fn about(what: f64, wanted: f64, off: f64) {
    assert!((what - wanted).abs() < off, "{what}, wanted {wanted}");
}

#[test]
fn uniform_floats() {
    device(0);
    for values in floats(UNIFORM, -1.0, 3.0) {
        assert!(values.iter().all(|value| (-1.0..3.0).contains(value)));
        about(mean(&values), 1.0, 0.05);
        // 4 / sqrt(12)
        about(deviation(&values), 1.1547, 0.03);
        for quarter in [-1.0, 0.0, 1.0, 2.0] {
            let inside = values.iter().filter(|value| (quarter..quarter + 1.0).contains(*value)).count();
            about(inside as f64 / N as f64, 0.25, 0.02);
        }
    }
}

#[test]
fn normal_numbers() {
    device(0);
    for values in floats(NORMAL, 3.0, 2.0) {
        about(mean(&values), 3.0, 0.06);
        about(deviation(&values), 2.0, 0.05);
        let within =
            |n: f64| values.iter().filter(|value| (*value - 3.0).abs() < 2.0 * n).count() as f64 / N as f64;
        about(within(1.0), 0.6827, 0.02);
        about(within(2.0), 0.9545, 0.01);
        about(within(3.0), 0.9973, 0.003);
        assert!(within(2.0) < 0.97 && values.iter().any(|value| (value - 3.0).abs() > 6.0));
        // Neighbours, made of the same two words, are not related.
        let related = values.windows(2).map(|pair| (pair[0] - 3.0) * (pair[1] - 3.0) / 4.0).sum::<f64>();
        about(related / N as f64, 0.0, 0.03);
    }
}

#[test]
fn truncated_normal_numbers() {
    device(0);
    for values in floats(TRUNCATED, 1.0, 2.0) {
        assert!(values.iter().all(|value| (value - 1.0).abs() <= 4.0));
        about(mean(&values), 1.0, 0.06);
        // 0.8796 of that of the whole distribution.
        about(deviation(&values), 1.7593, 0.04);
        let inner = values.iter().filter(|value| (*value - 1.0).abs() < 2.0).count();
        about(inner as f64 / N as f64, 0.6827 / 0.9545, 0.02);
    }
}

#[test]
fn dropout_masks() {
    device(0);
    for (data_type, ratio) in
        [(ACL_FLOAT, value(0.25f32)), (ACL_FLOAT16, value(0x3400_u16)), (ACL_BF16, value(0x3e80_u16))]
    {
        let task = info(data_type, DROPOUT, [ratio; 2], N as u64);
        put(task.randomResultAddr, &[0xff_u8; N]);
        let bytes = drawn::<u8>(&task, N);
        let kept: u32 = bytes[..N.div_ceil(8)].iter().map(|byte| byte.count_ones()).sum();
        about(f64::from(kept) / N as f64, 0.75, 0.02);
        // The last byte has one bit, and what is behind it is not touched.
        assert!(bytes[N / 8] <= 1);
        assert!(bytes[N.div_ceil(8)..].iter().all(|byte| *byte == 0xff));
        // Lowest bit first; 0.25 of a word's range is 0x40000000.
        let first = FIRST.iter().zip(0..).fold(0, |byte, (word, at)| byte | u8::from(*word >= 1 << 30) << at);
        assert_eq!(bytes[0] & 15, first);
    }
    for (ratio, byte) in [(0.0f32, 0xff), (1.0, 0)] {
        assert_eq!(drawn::<u8>(&info(ACL_FLOAT, DROPOUT, [value(ratio); 2], 64), 8), [byte; 8]);
    }
}

#[test]
fn parameters_in_device_memory_are_read_when_the_task_runs() {
    device(0);
    let params = uploaded(&[1.0f32, 2.0]);
    let task = info(ACL_FLOAT, UNIFORM, [address(params), address(params.wrapping_byte_add(4))], 1000);
    let stream = stream();
    let hold = Hold::on(stream);
    ok!(aclrtRandomNumAsync(&task, stream, null_mut()));
    put(params, &[10.0f32, 20.0]);
    hold.release();
    ok!(aclrtSynchronizeStream(stream));
    let values = get::<f32>(task.randomResultAddr, 1000);
    assert!(values.iter().all(|value| (10.0..20.0).contains(value)));
    // What makes no sense then fails the stream.
    put(params, &[2.0f32, 1.0]);
    ok!(aclrtRandomNumAsync(&task, stream, null_mut()));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(stream));
    // So does a number of elements that does not fit.
    let mut many = info(ACL_FLOAT, UNIFORM, [value(0.0f32), value(1.0f32)], 4);
    many.randomNum = address(uploaded(&[1_u64 << 40]));
    ok!(aclrtRandomNumAsync(&many, stream, null_mut()));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(stream));
    assert_eq!(get::<u8>(many.randomResultAddr, 16), [0; 16]);
}

/// aclrtRandomNumAsync#01 to #04, #07, #09
#[test]
fn random_checks_its_arguments() {
    device(0);
    let other = context(0);
    let foreign = stream();
    ok!(aclrtSetDevice(0));
    let (dead, good) = (stream(), stream());
    ok!(aclrtDestroyStream(dead));
    let none = null_mut();
    let mut local = [0_u64; 8];
    let host: *mut c_void = local.as_mut_ptr().cast();
    let base = info(ACL_FLOAT, UNIFORM, [value(0.0f32), value(1.0f32)], 4);
    refused!(ACL_ERROR_INVALID_PARAM, aclrtRandomNumAsync(null(), dead, host));
    for data_type in [-1, 77, ACL_INT8, sys::ACL_DOUBLE] {
        refused!(
            ACL_ERROR_INVALID_PARAM,
            aclrtRandomNumAsync(&Info { dataType: data_type, ..base }, dead, host)
        );
    }
    refused!(ACL_ERROR_RT_INVALID_HANDLE, aclrtRandomNumAsync(&base, dead, host));
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRandomNumAsync(&base, foreign, host));
    assert!(why().contains("aclrtRandomNumAsync#04"));
    refused!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRandomNumAsync(&base, foreign, none));
    let mut strange = base;
    strange.randomNumFuncParaInfo.funcType = 4;
    refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRandomNumAsync(&strange, good, none));
    for func in [DROPOUT, NORMAL, TRUNCATED] {
        let integers = info(ACL_INT32, func, [value(0_i32), value(1_i32)], 4);
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRandomNumAsync(&integers, good, none));
    }
    for bad in [
        Info { randomResultAddr: none, ..base },
        Info { randomResultAddr: host, ..base },
        Info { randomCounterAddr: host, ..base },
        Info { randomCounterAddr: none, ..base },
        Info { randomParaAddr: host, ..base },
        Info { randomNum: value(1_u64 << 40), ..base },
        Info { randomNum: value(u64::MAX), ..base },
        Info { randomSeed: address(host), ..base },
        info(ACL_FLOAT, UNIFORM, [value(1.0f32), value(0.5f32)], 4),
        info(ACL_FLOAT, DROPOUT, [value(1.5f32), value(0.0f32)], 4),
    ] {
        refused!(ACL_ERROR_RT_PARAM_INVALID, aclrtRandomNumAsync(&bad, good, none));
    }
    ok!(aclrtRandomNumAsync(&Info { randomNum: value(0_u64), ..base }, good, none));
    ok!(aclrtRandomNumAsync(&Info { randomParaAddr: memory(64), ..base }, good, none));
    ok!(aclrtSynchronizeStream(good));
    ok!(aclrtDestroyContext(other));
}
