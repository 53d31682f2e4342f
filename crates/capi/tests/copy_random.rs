//! Random copies and fills against a model: kinds, sizes, offsets, overlap, both ends, order of a stream.

#[macro_use]
mod copy_support;

use ascendcl::copy::*;
use ascendcl::memory::{aclrtFree, aclrtFreeHost};
use copy_support::*;
use proptest::prelude::*;

/// Two blocks of a device, two pinned ones, two of pageable memory; all of this size.
const SIZE: usize = 1000;
/// aclrtMalloc#09
const USABLE: usize = 1056;
const PLACES: usize = 6;

#[derive(Clone, Debug)]
enum Op {
    Copy { asynchronous: bool, to: usize, at: usize, from: usize, of: usize, len: usize, kind: u32 },
    Rows { asynchronous: bool, to: usize, from: usize, pitches: [usize; 2], width: usize, height: usize },
    Fill { asynchronous: bool, to: usize, at: usize, len: usize, byte: u8 },
    Words { asynchronous: bool, to: usize, at: usize, count: usize, word: u32 },
    Finish,
}

fn op() -> impl Strategy<Value = Op> {
    let place = 0..PLACES;
    // Always in the block: behind its end another one may lie.
    let offset = prop_oneof![4 => 0..SIZE, 1 => SIZE - 2..SIZE];
    let len =
        prop_oneof![6 => 0..200usize, 1 => 0..USABLE + 3, 1 => Just(usize::MAX), 1 => Just(1usize << 63)];
    prop_oneof![
        6 => (any::<bool>(), place.clone(), offset.clone(), place.clone(), offset.clone(), len.clone(), 1..5u32)
            .prop_map(|(asynchronous, to, at, from, of, len, kind)| Op::Copy { asynchronous, to, at, from, of, len, kind }),
        2 => (any::<bool>(), place.clone(), place.clone(), [1..60usize, 1..60usize], 0..40usize, 0..40usize)
            .prop_map(|(asynchronous, to, from, pitches, width, height)| Op::Rows { asynchronous, to, from, pitches, width, height }),
        2 => (any::<bool>(), place.clone(), offset.clone(), len, any::<u8>())
            .prop_map(|(asynchronous, to, at, len, byte)| Op::Fill { asynchronous, to, at, len, byte }),
        1 => (any::<bool>(), place, offset, 0..60usize, any::<u32>())
            .prop_map(|(asynchronous, to, at, count, word)| Op::Words { asynchronous, to, at, count, word }),
        1 => Just(Op::Finish),
    ]
}

fn on_device(place: usize) -> bool {
    place < 2
}

fn pageable(place: usize) -> bool {
    place >= 4
}

/// How many bytes may be touched.
fn room(place: usize) -> usize {
    if on_device(place) { USABLE } else { SIZE }
}

struct World {
    stream: aclrtStream,
    memory: [Ptr; PLACES],
    /// What each place holds once the stream is finished.
    model: [Vec<u8>; PLACES],
}

impl World {
    fn new() -> World {
        let stream = device(0);
        let page = || Box::into_raw(vec![0u8; SIZE].into_boxed_slice()).cast();
        let memory = [
            device_memory(SIZE, 0),
            device_memory(SIZE, 0),
            pinned_memory(SIZE, 0),
            pinned_memory(SIZE, 0),
            page(),
            page(),
        ];
        let mut world = World { stream, memory, model: std::array::from_fn(|place| vec![0; room(place)]) };
        for place in 0..PLACES {
            let bytes: Vec<u8> = (0..room(place)).map(|n| (n * 13 + place * 37) as u8).collect();
            put(world.memory[place], &bytes);
            world.model[place] = bytes;
        }
        world
    }

    /// Does the operation; whether its code is 0, and whether the model says it must be.
    fn step(&mut self, op: &Op) -> (i32, bool) {
        let stream = self.stream;
        match *op {
            Op::Finish => {
                finish(stream);
                (0, true)
            }
            Op::Copy { asynchronous, to, at: start, from, of, len, kind } => {
                // A synchronous call goes past the stream; the model has one order only.
                if !asynchronous {
                    finish(stream);
                }
                let (dst, src) = (at(self.memory[to], start), at(self.memory[from], of));
                let code = if asynchronous {
                    acl! { aclrtMemcpyAsync(dst, len, src, len, kind, stream) }
                } else {
                    acl! { aclrtMemcpy(dst, len, src, len, kind) }
                };
                let fits = |place, start, len| inside(start, len, room(place)) || pageable(place);
                let right = len == 0
                    || (dst == src && !asynchronous)
                    || (fits(to, start, len)
                        && fits(from, of, len)
                        && (!asynchronous || direction(to, from, kind)));
                if right && len > 0 && dst != src {
                    let bytes = self.model[from][of..of + len].to_vec();
                    self.model[to][start..start + len].copy_from_slice(&bytes);
                }
                (code, right)
            }
            Op::Rows { asynchronous, to, from, pitches: [dpitch, spitch], width, height } => {
                if !asynchronous {
                    finish(stream);
                }
                let (dst, src) = (self.memory[to], self.memory[from]);
                let code = if asynchronous {
                    acl! { aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, ACL_MEMCPY_DEFAULT, stream) }
                } else {
                    acl! { aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, ACL_MEMCPY_DEFAULT) }
                };
                if width == 0 || height == 0 {
                    return (code, true);
                }
                let fits = |place, pitch: usize| inside(0, (height - 1) * pitch + width, room(place));
                let sides = match (on_device(to), on_device(from)) {
                    (false, false) => false,
                    (true, true) => asynchronous,
                    _ => true,
                };
                let right =
                    width <= dpitch && width <= spitch && fits(to, dpitch) && fits(from, spitch) && sides;
                if right {
                    for row in 0..height {
                        let bytes = self.model[from][row * spitch..row * spitch + width].to_vec();
                        self.model[to][row * dpitch..row * dpitch + width].copy_from_slice(&bytes);
                    }
                }
                (code, right)
            }
            Op::Fill { asynchronous, to, at: start, len, byte } => {
                if !asynchronous {
                    finish(stream);
                }
                let dst = at(self.memory[to], start);
                let code = if asynchronous {
                    acl! { aclrtMemsetAsync(dst, len, byte.into(), len, stream) }
                } else {
                    acl! { aclrtMemset(dst, len, byte.into(), len) }
                };
                let right = len == 0 || inside(start, len, room(to));
                if right {
                    self.model[to][start.min(room(to))..][..len].fill(byte);
                }
                (code, right)
            }
            Op::Words { asynchronous, to, at: start, count, word } => {
                // On the host this happens at once.
                finish(stream);
                let (dst, len) = (at(self.memory[to], start), count * 4);
                let code = if asynchronous {
                    acl! { aclrtMemsetD32Async(dst, len, word, count, stream) }
                } else {
                    acl! { aclrtMemsetD32(dst, len, word, count) }
                };
                let right = count == 0 || (start % 4 == 0 && inside(start, len, room(to)) && !pageable(to));
                if right && count > 0 {
                    self.model[to][start..start + len].copy_from_slice(&word.to_le_bytes().repeat(count));
                }
                (code, right)
            }
        }
    }
}

/// The program's own memory cannot be checked: such operations are left out.
fn past_pageable(op: &Op) -> bool {
    let past = |place, start, len| pageable(place) && !inside(start, len, SIZE);
    match *op {
        Op::Copy { to, at, from, of, len, .. } => len > 0 && (past(to, at, len) || past(from, of, len)),
        Op::Rows { to, from, pitches, width, height, .. } => {
            let hull = |pitch: usize| height.saturating_sub(1) * pitch + width;
            past(to, 0, hull(pitches[0])) || past(from, 0, hull(pitches[1]))
        }
        Op::Fill { to, at, len, .. } => len > 0 && past(to, at, len),
        Op::Words { .. } | Op::Finish => false,
    }
}

fn inside(start: usize, len: usize, room: usize) -> bool {
    start.checked_add(len).is_some_and(|end| end <= room)
}

/// aclrtMemcpyAsync#08, #16 to #18
fn direction(to: usize, from: usize, kind: u32) -> bool {
    match (on_device(to), on_device(from)) {
        (false, false) => false,
        (true, false) if pageable(from) => kind != ACL_MEMCPY_DEVICE_TO_HOST,
        (false, true) if pageable(to) => kind != ACL_MEMCPY_HOST_TO_DEVICE,
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn copies_do_what_the_model_does(ops in proptest::collection::vec(op(), 1..100)) {
        let mut world = World::new();
        for op in ops.iter().filter(|op| !past_pageable(op)) {
            let (code, right) = world.step(op);
            prop_assert_eq!(code == 0, right, "{:?}: code {}: {}", op, code, said());
        }
        prop_assert_eq!(failure(world.stream), 0);
        for place in 0..PLACES {
            prop_assert_eq!(&get(world.memory[place], room(place)), &world.model[place], "place {}", place);
        }
        for (place, pointer) in world.memory.into_iter().enumerate() {
            let code = match place {
                0 | 1 => acl! { aclrtFree(pointer) },
                2 | 3 => acl! { aclrtFreeHost(pointer) },
                _ => {
                    // SAFETY: made from a box of this length.
                    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer.cast::<u8>(), SIZE)) });
                    0
                }
            };
            prop_assert_eq!(code, 0);
        }
    }
}
