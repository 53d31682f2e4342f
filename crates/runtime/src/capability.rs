//! What the platform can do, and the half-precision conversions: chapter 24.

use ascendcl_sys as sys;

use crate::device;
use crate::error::Result;
use crate::generated::products::{PRODUCTS, Product};
use crate::process::Runtime;
use crate::refuse;

/// aclGetCannAttributeList.
pub fn attributes(rt: &Runtime) -> &'static [sys::aclCannAttr] {
    rt.profile.product.cann_attributes
}

/// aclGetCannAttribute (#03).
pub fn attribute(rt: &Runtime, attr: sys::aclCannAttr) -> Result<i32> {
    if !(sys::ACL_CANN_ATTR_INF_NAN..=sys::ACL_CANN_ATTR_JIT_COMPILE).contains(&attr) {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclGetCannAttribute#02",
            "cannAttr: {}; wanted is one of {}",
            sys::enums::aclCannAttr.show(attr),
            sys::enums::aclCannAttr.all()
        );
    }
    Ok(attributes(rt).contains(&attr).into())
}

/// aclGetDeviceCapability.
pub fn device_capability(rt: &Runtime, id: u32, info: sys::aclDeviceInfo) -> Result<i64> {
    let code = sys::ACL_ERROR_INVALID_PARAM;
    device::resolve_or(rt, i32::try_from(id).unwrap_or(-1), code, "aclGetDeviceCapability#02")?;
    let product = rt.profile.product;
    match info {
        sys::ACL_DEVICE_INFO_AI_CORE_NUM => Ok(product.ai_core_num.into()),
        sys::ACL_DEVICE_INFO_VECTOR_CORE_NUM => Ok(product.vector_core_num.into()),
        // #06
        sys::ACL_DEVICE_INFO_L2_SIZE => Ok(product.l2_bytes as i64),
        _ => refuse!(
            code,
            "aclGetDeviceCapability#03",
            "deviceInfo: {}; wanted is one of {}",
            sys::enums::aclDeviceInfo.show(info),
            sys::enums::aclDeviceInfo.all()
        ),
    }
}

/// aclplatformGetDeviceInfo: the item as text (#06). Items of which no row of products.csv knows a value are refused (#04).
pub fn platform_info(rt: &Runtime, item: sys::aclplatformDevInfo, room: u32) -> Result<String> {
    let product = rt.profile.product;
    let known = match item {
        sys::ACL_PLATFORM_AICORE_CNT | sys::ACL_PLATFORM_CUBE_CORE_CNT => {
            Some(product.ai_core_num.to_string())
        }
        sys::ACL_PLATFORM_AICORE_UB_SIZE => Some(product.ub_bytes.to_string()),
        sys::ACL_PLATFORM_VECTOR_CORE_CNT => Some(product.vector_core_num.to_string()),
        sys::ACL_PLATFORM_L2_SIZE => Some(product.l2_bytes.to_string()),
        sys::ACL_PLATFORM_MEMORY_SIZE => Some(rt.profile.device_memory.to_string()),
        sys::ACL_PLATFORM_SOC_VERSION => Some(rt.profile.soc.to_owned()),
        sys::ACL_PLATFORM_NPU_ARCH => product.npu_arch.map(|arch| arch.to_string()),
        sys::ACL_PLATFORM_CUBE_FREQ..=sys::ACL_PLATFORM_L1_SIZE
        | sys::ACL_PLATFORM_AIC_VERSION
        | sys::ACL_PLATFORM_MEMORY_TYPE => None,
        _ => {
            return refuse!(
                sys::ACL_ERROR_INVALID_PARAM,
                "aclplatformGetDeviceInfo#01",
                "infoType: {}",
                sys::enums::aclplatformDevInfo.show(item)
            );
        }
    };
    let Some(text) = known else {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclplatformGetDeviceInfo#04",
            "infoType: nothing is known of {} for {}",
            sys::enums::aclplatformDevInfo.show(item),
            rt.profile.soc
        );
    };
    // #05: the text and its end mark.
    if text.len() >= room as usize {
        return refuse!(
            sys::ACL_ERROR_INVALID_PARAM,
            "aclplatformGetDeviceInfo#05",
            "maxLen: {room} is too small for '{text}' and its end mark"
        );
    }
    Ok(text)
}

/// aclDataTypeSize: bytes of one element.
pub fn data_type_size(data_type: sys::aclDataType) -> usize {
    match data_type {
        // #01
        sys::ACL_DT_UNDEFINED | sys::ACL_STRING => 0,
        // #02
        sys::ACL_INT4 | sys::ACL_UINT1 | sys::ACL_BOOL | sys::ACL_INT8 | sys::ACL_UINT8 => 1,
        sys::ACL_HIFLOAT8 | sys::ACL_FLOAT8_E5M2 | sys::ACL_FLOAT8_E4M3FN | sys::ACL_FLOAT8_E8M0 => 1,
        // #03
        sys::ACL_FLOAT16 | sys::ACL_BF16 | sys::ACL_INT16 | sys::ACL_UINT16 => 2,
        // #04
        sys::ACL_FLOAT | sys::ACL_INT32 | sys::ACL_UINT32 | sys::ACL_COMPLEX32 => 4,
        // #06
        sys::ACL_COMPLEX128 => 16,
        // #05, #07
        _ => 8,
    }
}

/// aclFloat16ToFloat. #01: exact for finite values. #02 to #04: the largest exponent counts as an ordinary one, so that
/// infinity reads as 65536 and a NaN as a number above it.
pub fn half_to_float(half: u16) -> f32 {
    let exponent = i32::from(half >> 10 & 0x1f);
    let mantissa = f32::from(half & 0x3ff);
    let magnitude = match exponent {
        0 => mantissa * 2f32.powi(-24),
        _ => (mantissa + 1024.0) * 2f32.powi(exponent - 25),
    };
    if half >> 15 == 1 { -magnitude } else { magnitude }
}

/// The largest finite half.
const LARGEST: u16 = 0x7bff;

/// aclFloatToFloat16. #01: to nearest, ties to even. #02 to #04: infinities, NaNs and what is too large saturate.
pub fn float_to_half(float: f32) -> u16 {
    let bits = float.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23 & 0xff) as i32 - 127;
    let mantissa = bits & 0x7f_ffff;
    if exponent > 15 {
        return sign | LARGEST;
    }
    // The value as `significand * 2^(exponent - 23)`; a half keeps 10 bits of it, subnormal ones fewer.
    let significand = u64::from(mantissa | 0x80_0000);
    let (dropped, biased) = match exponent {
        -14.. => (13, (exponent + 15) as u64),
        // #05: below half of the smallest subnormal nothing is left.
        -25..-14 => ((-1 - exponent) as u32, 0),
        _ => return sign,
    };
    let kept = significand >> dropped;
    let rest = significand & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    let rounded = kept + u64::from(rest > half || (rest == half && kept & 1 == 1));
    // A normal significand carries the hidden bit, which adds 1 to the exponent; a carry out of the mantissa does the same.
    let magnitude = if biased == 0 { rounded } else { ((biased - 1) << 10) + rounded };
    sign | (magnitude as u16).min(LARGEST)
}

/// aclrtCheckArchCompatibility (#04): whether code for the named chip runs here. ours: chips of one architecture number
/// (`npu_arch` in products.csv) run each other's; an unknown name is not compatible.
pub fn arch_compatible(rt: &Runtime, soc: &[u8]) -> Result<bool> {
    if soc.is_empty() {
        return refuse!(
            sys::ACL_ERROR_RT_PARAM_INVALID,
            "aclrtCheckArchCompatibility#03",
            "socVersion: must not be empty"
        );
    }
    let own = rt.profile.product;
    let named = |product: &&Product| product.soc_names.iter().any(|name| name.as_bytes() == soc);
    Ok(PRODUCTS
        .iter()
        .filter(named)
        .any(|other| other.key == own.key || (other.npu_arch.is_some() && other.npu_arch == own.npu_arch)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a half means, from its definition, in f64.
    fn meaning(half: u16) -> f64 {
        let (exponent, mantissa) = (i32::from(half >> 10 & 0x1f), f64::from(half & 0x3ff));
        let magnitude = if exponent == 0 {
            mantissa / 1024.0 * 2f64.powi(-14)
        } else {
            (1.0 + mantissa / 1024.0) * 2f64.powi(exponent - 15)
        };
        if half & 0x8000 == 0 { magnitude } else { -magnitude }
    }

    /// aclFloat16ToFloat#01, aclFloatToFloat16#01, for each of the 65536 halves.
    #[test]
    fn every_half_reads_exactly_and_finite_ones_come_back() {
        for half in 0..=u16::MAX {
            let float = half_to_float(half);
            assert_eq!(f64::from(float), meaning(half), "{half:#x}");
            assert_eq!(float.is_sign_negative(), half & 0x8000 != 0, "{half:#x}");
            let finite = half & 0x7c00 != 0x7c00;
            let back = float_to_half(float);
            let expected = if finite { half } else { half & 0x8000 | LARGEST };
            assert_eq!(back, expected, "{half:#x}");
        }
    }

    /// aclFloat16ToFloat#02 to #04
    #[test]
    fn infinity_and_nan_read_as_numbers() {
        assert_eq!(half_to_float(0x7c00), 65536.0);
        assert_eq!(half_to_float(0xfc00), -65536.0);
        assert_eq!(half_to_float(0x7e00), 98304.0);
    }

    /// aclFloatToFloat16#01: between each two neighbours, the middle goes to the even one, and what is beside it to the nearer.
    #[test]
    fn every_middle_rounds_to_even() {
        for low in 0..LARGEST {
            let (down, up) = (half_to_float(low), half_to_float(low + 1));
            let middle = (down + up) / 2.0;
            let even = if low & 1 == 0 { low } else { low + 1 };
            assert_eq!(float_to_half(middle), even, "{low:#x}");
            assert_eq!(float_to_half(-middle), even | 0x8000, "{low:#x}");
            assert_eq!(float_to_half(middle.next_down()), low, "{low:#x}");
            assert_eq!(float_to_half(middle.next_up()), low + 1, "{low:#x}");
        }
    }

    /// aclFloatToFloat16#02 to #05
    #[test]
    fn the_ends_saturate() {
        let saturating = [
            (f32::INFINITY, 0x7bff),
            (f32::NEG_INFINITY, 0xfbff),
            (f32::NAN.copysign(1.0), 0x7bff),
            (f32::NAN.copysign(-1.0), 0xfbff),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7bff),
            (1e30, 0x7bff),
            (-1e30, 0xfbff),
        ];
        for (float, half) in saturating {
            assert_eq!(float_to_half(float), half, "{float}");
        }
        let tiny = 2f32.powi(-25);
        assert_eq!(float_to_half(tiny), 0);
        assert_eq!(float_to_half(-tiny), 0x8000);
        assert_eq!(float_to_half(tiny.next_up()), 1);
        assert_eq!(float_to_half(f32::from_bits(1)), 0);
        assert_eq!(float_to_half(-0.0), 0x8000);
    }
}
