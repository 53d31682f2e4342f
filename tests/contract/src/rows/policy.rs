//! The allocation policies (25-02, aclrtMemMallocPolicy), which are rules of all functions that take one.

use super::prelude::*;

const FIRST: u32 = ACL_MEM_MALLOC_HUGE_FIRST;
const HUGE_ONLY: u32 = ACL_MEM_MALLOC_HUGE_ONLY;
const NORMAL: u32 = ACL_MEM_MALLOC_NORMAL_ONLY;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// Device memory with a policy, freed at the end.
struct Block(*mut c_void);

impl Block {
    #[track_caller]
    fn new(size: usize, policy: u32) -> Block {
        let mut ptr = null_mut();
        ok!(aclrtMalloc(&mut ptr, size, policy));
        Block(ptr)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        acl!(aclrtFree(self.0));
    }
}

fn malloc(size: usize, policy: u32) -> i32 {
    let mut ptr = null_mut();
    let code = acl!(aclrtMalloc(&mut ptr, size, policy));
    assert_eq!(code == 0, !ptr.is_null());
    if code == 0 {
        ok!(aclrtFree(ptr));
    }
    code
}

/// Whether a block of this size is on huge pages.
#[track_caller]
fn huge(size: usize, policy: u32) -> bool {
    let (block, bytes) = taken(|| Block::new(size, policy));
    is_huge(block.0, bytes)
}

/// Takes all huge pages: some memory is left, less than such a page has.
fn no_huge_pages() -> [Block; 2] {
    let odd = Block::new(1, NORMAL);
    let whole = free_bytes() / HUGE * HUGE;
    let rest = Block::new(whole - 64, HUGE_ONLY);
    assert!((MIB..HUGE).contains(&free_bytes()), "{} bytes left", free_bytes());
    [odd, rest]
}

pub fn rows(r: &mut Rows) {
    r.row("aclrtMemMallocPolicy#01", |_| {
        assert!(!huge(1, FIRST) && !huge(MIB, FIRST));
        assert!(huge(MIB + 1, FIRST) && huge(5 * MIB, FIRST));
        let all = no_huge_pages();
        let block = Block::new(MIB + 1, FIRST);
        if has("aclrtPointerGetAttributes") {
            assert_ne!(attributes(block.0).2, HUGE);
        }
        drop(all);
    });
    r.row("aclrtMemMallocPolicy#02", |_| {
        let mut all = Vec::from(no_huge_pages());
        let no_huge = malloc(1, HUGE_ONLY);
        all.push(Block::new(free_bytes() - 64, NORMAL));
        assert_eq!(free_bytes(), 0);
        [no_huge, malloc(1, NORMAL)]
    });
    r.row("aclrtMemMallocPolicy#03", |t| {
        let bytes = |size, policy| taken(|| Block::new(size, policy)).1;
        assert_eq!((bytes(1, HUGE_ONLY), bytes(HUGE, HUGE_ONLY) % HUGE), (HUGE, 0));
        assert!(bytes(1, NORMAL) < HUGE);
        if t.has("page_1g") {
            for policy in [ACL_MEM_MALLOC_HUGE1G_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P] {
                assert_eq!((bytes(1, policy), bytes(GIB + 1, policy)), (GIB, 2 * GIB));
            }
        }
    });
    r.decided("aclrtMemMallocPolicy#04", |_| {
        [ACL_MEM_MALLOC_HUGE1G_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P].map(|policy| malloc(64, policy))
    });
    r.decided("aclrtMemMallocPolicy#05", |_| {
        let policies =
            [ACL_MEM_MALLOC_HUGE_FIRST_P2P, ACL_MEM_MALLOC_HUGE_ONLY_P2P, ACL_MEM_MALLOC_NORMAL_ONLY_P2P];
        policies.map(|policy| malloc(64, policy))
    });
    r.row("aclrtMemMallocPolicy#06", |_| {
        for width in [ACL_MEM_TYPE_LOW_BAND_WIDTH, ACL_MEM_TYPE_HIGH_BAND_WIDTH] {
            for (policy, sizes) in [(FIRST, [MIB, MIB + 1]), (HUGE_ONLY, [1, HUGE]), (NORMAL, [1, 3 * HUGE])]
            {
                for size in sizes {
                    let make = |policy| {
                        let mut ptr = null_mut();
                        ok!(aclrtMallocWithCfg(&mut ptr, size, policy, null_mut()));
                        Block(ptr)
                    };
                    assert_eq!(taken(|| make(policy | width)).1, taken(|| make(policy)).1, "{policy} {size}");
                }
            }
            same("alone", malloc(64, width), 0);
        }
    });
    r.decided("aclrtMemMallocPolicy#07", |t| {
        let mut ptr = null_mut();
        let code = if t.supports("aclrtMallocWithCfg") {
            acl!(aclrtMallocWithCfg(&mut ptr, 64, ACL_MEM_ACCESS_USER_SPACE_READONLY, null_mut()))
        } else {
            acl!(aclrtMalloc(&mut ptr, 64, ACL_MEM_ACCESS_USER_SPACE_READONLY))
        };
        let block = Block(ptr);
        // The runtime writes it as it writes other memory.
        let (mut bytes, kind) = ([7_u8; 8], ACL_MEMCPY_DEVICE_TO_HOST);
        ok!(aclrtMemset(block.0, 64, 1, 64));
        ok!(aclrtMemcpy(bytes.as_mut_ptr().cast(), 8, block.0, 8, kind));
        assert_eq!(bytes, [1; 8]);
        // The program cannot, where the processor has keys for the pages of device memory; one with host memory can.
        let keys = std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(" ospke "));
        if keys && !t.target.rc() {
            let zeros = unsafe { libc::open(c"/dev/zero".as_ptr(), libc::O_RDONLY) };
            let written = unsafe { libc::read(zeros, block.0, 8) };
            let error = std::io::Error::last_os_error().raw_os_error();
            unsafe { libc::close(zeros) };
            assert_eq!((written, error), (-1, Some(libc::EFAULT)), "the program wrote to it");
        }
        code
    });
}
