//! Chapter 25-03: data buffers.

use super::prelude::*;

/// A data buffer, destroyed at the end.
struct Buffer(*mut aclDataBuffer);

impl Buffer {
    fn new(data: *mut c_void, size: usize) -> Buffer {
        let buffer = acl!(aclCreateDataBuffer(data, size));
        assert!(!buffer.is_null());
        Buffer(buffer)
    }

    fn values(&self) -> (*mut c_void, usize) {
        (acl!(aclGetDataBufferAddr(self.0)), acl!(aclGetDataBufferSizeV2(self.0)))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        acl!(aclDestroyDataBuffer(self.0));
    }
}

pub fn rows(r: &mut Rows) {
    r.row("aclCreateDataBuffer#01", |_| assert_eq!(Buffer::new(null_mut(), 0).values(), (null_mut(), 0)));
    r.row("aclCreateDataBuffer#02", |_| {
        for (data, size) in
            [(null_mut(), 64), (at(1), 0), (unmapped(), usize::MAX), (at(usize::MAX), 1 << 40)]
        {
            assert_eq!(Buffer::new(data, size).values(), (data, size));
        }
    });
    r.row("aclCreateDataBuffer#03", |_| {
        let memory = device_with(&[3; 64]);
        let buffer = Buffer::new(memory.p(), 64);
        // The caller may use it and give it back while the buffer lives.
        assert_eq!(memory.get(), [3; 64]);
        ok!(aclrtFree(memory.p()));
        assert_eq!(buffer.values(), (memory.p(), 64));
    });
    r.hardware("aclCreateDataBuffer#04", "the host's memory would have to be used up");
    r.row("aclDestroyDataBuffer#01", |_| acl!(aclDestroyDataBuffer(null())));
    r.row("aclDestroyDataBuffer#02", |_| {
        let memory = device_with(&[3; 64]);
        let buffer = Buffer::new(memory.p(), 64);
        let code = acl!(aclDestroyDataBuffer(buffer.0));
        assert_eq!(memory.get(), [3; 64]);
        let freed = acl!(aclrtFree(memory.p()));
        [code, freed]
    });
    r.row("aclUpdateDataBuffer#01", |_| acl!(aclUpdateDataBuffer(null_mut(), null_mut(), 0)));
    r.row("aclUpdateDataBuffer#02", |_| {
        let memory = device_with(&[3; 64]);
        let buffer = Buffer::new(memory.p(), 64);
        let mut codes = Vec::new();
        for (data, size) in [(null_mut(), 5), (at(1), 0), (unmapped(), usize::MAX)] {
            codes.push(acl!(aclUpdateDataBuffer(buffer.0, data, size)));
            assert_eq!(buffer.values(), (data, size));
        }
        assert_eq!(memory.get(), [3; 64], "the old memory lives");
        codes
    });
    r.row("aclGetDataBufferAddr#01", |_| assert!(acl!(aclGetDataBufferAddr(null())).is_null()));
    r.row("aclGetDataBufferAddr#02", |t| {
        let buffer = Buffer::new(at(0x1000), 1);
        assert_eq!(buffer.values().0, at(0x1000));
        if t.supports("aclUpdateDataBuffer") {
            ok!(aclUpdateDataBuffer(buffer.0, at(0x2000), 1));
            assert_eq!(buffer.values().0, at(0x2000));
        }
    });
    r.row("aclGetDataBufferSize#01", |_| assert_eq!(acl!(aclGetDataBufferSize(null())), 0));
    r.row("aclGetDataBufferSize#02", |_| {
        for (size, cut) in [(7, 7), (u32::MAX as usize, u32::MAX), ((1 << 32) + 5, 5)] {
            assert_eq!(acl!(aclGetDataBufferSize(Buffer::new(null_mut(), size).0)), cut);
        }
    });
    r.row("aclGetDataBufferSizeV2#01", |_| assert_eq!(acl!(aclGetDataBufferSizeV2(null())), 0));
    r.row("aclGetDataBufferSizeV2#02", |_| {
        for size in [0, 7, (1 << 32) + 5, usize::MAX] {
            assert_eq!(Buffer::new(null_mut(), size).values().1, size);
        }
    });
}
