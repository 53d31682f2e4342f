//! A stream's tasks: chunks of 32-byte records, filled under the producer lock, emptied by the owner without it.

use super::task::Task;
use crate::sync::plain::ShortGuard;
use crate::sync::{AtomicPtr, AtomicU64, Ordering, ShortMutex};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr;

/// Tasks of a stream's first chunk: most streams never hold more at once, since an empty queue starts over at the
/// beginning of its chunk.
const FIRST: u32 = 16;
/// Tasks of all other chunks (4 KiB).
const MORE: u32 = 128;

/// Header of a chunk; `room` tasks follow it.
#[repr(C, align(32))]
struct Chunk {
    next: AtomicPtr<Chunk>,
    room: u32,
}

fn layout(room: u32) -> Layout {
    // At most 4 KiB and a header: the size cannot overflow, so the fallback is never taken.
    let size = size_of::<Chunk>() + room as usize * size_of::<Task>();
    Layout::from_size_align(size, align_of::<Chunk>()).unwrap_or(Layout::new::<Chunk>())
}

impl Chunk {
    fn new(room: u32) -> *mut Chunk {
        let layout = layout(room);
        // SAFETY: the layout has a size above zero.
        let chunk = unsafe { alloc(layout) }.cast::<Chunk>();
        if chunk.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: fresh memory of that layout.
        unsafe { chunk.write(Chunk { next: AtomicPtr::new(ptr::null_mut()), room }) };
        chunk
    }

    /// Where task `at` of a chunk lies.
    ///
    /// # Safety
    /// `chunk` is alive and `at` below its room.
    #[inline]
    unsafe fn task(chunk: *mut Chunk, at: u32) -> *mut Task {
        // SAFETY: the tasks follow the header, whose size is a multiple of their alignment.
        unsafe { chunk.add(1).cast::<Task>().add(at as usize) }
    }

    /// Frees a chunk; its tasks have been taken out.
    ///
    /// # Safety
    /// `chunk` is null or came from [`Chunk::new`] and is used no more.
    unsafe fn free(chunk: *mut Chunk) {
        if !chunk.is_null() {
            // SAFETY: as promised; `room` is what it was allocated with.
            unsafe { dealloc(chunk.cast(), layout((*chunk).room)) };
        }
    }
}

/// One end of the queue: a chunk (null before the first task) and the next record in it.
pub(crate) struct End {
    chunk: *mut Chunk,
    at: u32,
    room: u32,
}

// SAFETY: an end belongs to whoever owns the stream, not to a thread.
unsafe impl Send for End {}

impl End {
    /// Leaves the first task behind, whose value has been taken or needs no drop. Follows a [`Fifo::peek`].
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.at += 1;
    }
}

impl Default for End {
    fn default() -> Self {
        End { chunk: ptr::null_mut(), at: 0, room: 0 }
    }
}

/// The queue. The producer lock also guards leaving and entering IDLE. The front end is not in here: it belongs to the
/// stream's owner, who keeps it off the producers' cache line.
#[derive(Default)]
pub(crate) struct Fifo {
    producer: ShortMutex<Producer>,
    /// Tasks ever added: the last one's position.
    tail: AtomicU64,
    /// The first chunk of all, for an owner that has none yet.
    first: AtomicPtr<Chunk>,
    /// A chunk kept for the next need.
    spare: AtomicPtr<Chunk>,
}

/// What is under the producer lock.
#[derive(Default)]
struct Producer {
    back: End,
    /// Nanoseconds of work added since a worker was last fetched.
    unfetched: u64,
}

/// The held producer lock.
pub(crate) struct Back<'a> {
    fifo: &'a Fifo,
    producer: ShortGuard<'a, Producer>,
}

impl Fifo {
    /// Tasks ever added.
    #[inline]
    pub(crate) fn tail(&self) -> u64 {
        self.tail.load(Ordering::Acquire)
    }

    /// Takes the producer lock.
    #[inline]
    pub(crate) fn lock(&self) -> Back<'_> {
        Back { fifo: self, producer: self.producer.lock() }
    }

    /// The first task.
    ///
    /// # Safety
    /// The caller is the stream's owner, `front` its end, and it has seen by [`Fifo::tail`] that there is a task. The task
    /// stays in place until the next call after [`End::pop`].
    #[inline]
    pub(crate) unsafe fn peek(&self, front: &mut End) -> *mut Task {
        if front.at == front.room {
            // SAFETY: there is a task and this chunk is spent, so the next one stands.
            unsafe { self.turn(front) };
        }
        // SAFETY: `at` is below the chunk's room.
        unsafe { Chunk::task(front.chunk, front.at) }
    }

    /// Goes to the next chunk.
    ///
    /// # Safety
    /// As [`Fifo::peek`].
    #[cold]
    unsafe fn turn(&self, front: &mut End) {
        let spent = front.chunk;
        if spent.is_null() {
            // Set before the tail that the owner saw.
            *front = End { chunk: self.first.load(Ordering::Relaxed), at: 0, room: FIRST };
            return;
        }
        // SAFETY: `next` was set before the tail that the owner saw went past the chunk.
        let next = unsafe { (*spent).next.load(Ordering::Relaxed) };
        // SAFETY: a chunk in the queue is alive.
        *front = End { chunk: next, at: 0, room: unsafe { (*next).room } };
        // SAFETY: the producers have left the spent chunk, and the owner leaves it now.
        unsafe {
            if (*spent).room == MORE {
                (*spent).next.store(ptr::null_mut(), Ordering::Relaxed);
                Chunk::free(self.spare.swap(spent, Ordering::AcqRel));
            } else {
                Chunk::free(spent);
            }
        }
    }
}

impl Back<'_> {
    /// Adds a task; its position.
    #[inline(always)]
    pub(crate) fn push(&mut self, task: Task) -> u64 {
        if self.producer.back.at == self.producer.back.room {
            self.grow();
        }
        let back = &mut self.producer.back;
        // SAFETY: `at` is below the chunk's room, and the record is free.
        unsafe { Chunk::task(back.chunk, back.at).write(task) };
        back.at += 1;
        let position = self.fifo.tail.load(Ordering::Relaxed) + 1;
        self.fifo.tail.store(position, Ordering::Release);
        position
    }

    #[cold]
    fn grow(&mut self) {
        let (fifo, back) = (self.fifo, &mut self.producer.back);
        if back.chunk.is_null() {
            *back = End { chunk: Chunk::new(FIRST), at: 0, room: FIRST };
            fifo.first.store(back.chunk, Ordering::Relaxed);
            return;
        }
        let mut next = fifo.spare.swap(ptr::null_mut(), Ordering::AcqRel);
        if next.is_null() {
            next = Chunk::new(MORE);
        }
        // SAFETY: the last chunk is alive; the owner reads `next` after it has seen a later tail.
        unsafe { (*back.chunk).next.store(next, Ordering::Relaxed) };
        *back = End { chunk: next, at: 0, room: MORE };
    }

    /// Adds to the work that no worker was fetched for; the sum.
    #[inline]
    pub(crate) fn unfetched(&mut self, more: u64) -> u64 {
        self.producer.unfetched = self.producer.unfetched.saturating_add(more);
        self.producer.unfetched
    }

    /// A worker is being fetched, or the queue was empty: counts from zero.
    #[inline]
    pub(crate) fn fetched(&mut self) {
        self.producer.unfetched = 0;
    }

    /// Starts over at the beginning of the chunk.
    ///
    /// # Safety
    /// The caller is the owner, `front` its end, and the queue is empty.
    #[inline]
    pub(crate) unsafe fn rewind(&mut self, front: &mut End) {
        // Both ends are in the same chunk since the queue is empty.
        front.at = 0;
        self.producer.back.at = 0;
    }

    /// Gives the chunks back.
    ///
    /// # Safety
    /// The caller is the owner (or the state is IDLE), `front` the owner's end, and the queue is empty.
    pub(crate) unsafe fn release(&mut self, front: &mut End) {
        let back = std::mem::take(&mut self.producer.back);
        // SAFETY: both ends are in the same chunk, and nobody else is in it.
        unsafe {
            Chunk::free(back.chunk);
            Chunk::free(self.fifo.spare.swap(ptr::null_mut(), Ordering::AcqRel));
        }
        *front = End::default();
    }
}

impl Fifo {
    /// Drops the tasks that were never run and frees all chunks.
    pub(crate) fn clear(&mut self, front: &mut End) {
        let back = &mut self.producer.get_mut().back;
        if front.chunk.is_null() && !back.chunk.is_null() {
            *front = End { chunk: self.first.load(Ordering::Relaxed), at: 0, room: FIRST };
        }
        // SAFETY: nobody else is here; the records between the ends hold tasks.
        unsafe {
            while !front.chunk.is_null() {
                let last = front.chunk == back.chunk;
                let end = if last { back.at } else { front.room };
                (front.at..end).for_each(|at| Chunk::task(front.chunk, at).drop_in_place());
                let next = (*front.chunk).next.load(Ordering::Relaxed);
                Chunk::free(front.chunk);
                *front = if last { End::default() } else { End { chunk: next, at: 0, room: (*next).room } };
            }
            Chunk::free(self.spare.swap(ptr::null_mut(), Ordering::AcqRel));
        }
        *back = End::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Arc;

    fn code(fifo: &Fifo, front: &mut End) -> u32 {
        // SAFETY: the only owner, and the caller knows that there is a task.
        match unsafe { &*fifo.peek(front) } {
            Task::Fail { code } => *code,
            _ => u32::MAX,
        }
    }

    #[test]
    fn keeps_order_over_chunks_and_rewinds() {
        let (fifo, mut front) = (Fifo::default(), End::default());
        let mut next = 0;
        for burst in [1, 15, 16, 17, 300, 128, 5, 1000] {
            for i in 0..burst {
                assert_eq!(fifo.lock().push(Task::Fail { code: next + i }), u64::from(next + i) + 1);
            }
            for i in 0..burst {
                assert_eq!(code(&fifo, &mut front), next + i);
                front.pop();
            }
            // SAFETY: the only owner, of an empty queue.
            unsafe { fifo.lock().rewind(&mut front) };
            next += burst;
        }
        // SAFETY: as above.
        unsafe { fifo.lock().release(&mut front) };
        fifo.lock().push(Task::Fail { code: 1 });
        assert_eq!(code(&fifo, &mut front), 1);
        front.pop();
        // SAFETY: as above.
        unsafe { fifo.lock().release(&mut front) };
    }

    #[test]
    fn drops_what_was_never_run() {
        let alive = Arc::new(());
        let mut fifo = Fifo::default();
        for _ in 0..200 {
            let held = Arc::clone(&alive);
            let run = Box::new(move || {
                let _held = &held;
                Ok(())
            });
            fifo.lock().push(Task::Work(Box::new(super::super::Work { run, cost_ns: 1, user_code: false })));
        }
        assert_eq!(Arc::strong_count(&alive), 201);
        fifo.clear(&mut End::default());
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
