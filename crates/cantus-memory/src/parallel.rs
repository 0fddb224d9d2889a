//! Work on many items at once, in their order.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// How many threads share a long list. Fixed, so that nothing of the machine is asked; the result never depends on them. The
/// allocator of a static Linux program has one lock, for which they would wait longer than they work.
const THREADS: usize = if cfg!(target_env = "musl") { 1 } else { 4 };
/// How many items are taken at once, so that a thread which gets less time does less.
const PART: usize = 32;
/// About how many bytes the results of a part take.
const ROOM: usize = 64 << 10;
/// Below this many items threads cost about what they save: on a virtual machine a thread may start a millisecond after it was
/// asked for, when half of the work is done, and what it needs of the system is more than it takes over.
const WORTH_IT: usize = 2_000;

/// `f` of every item, in the order of the items; a long list is shared among threads. Where the machine gives no thread, the
/// caller's own does all the work.
pub fn map<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    map_with(items, f, Builder::new)
}

fn map_with<T: Send, R: Send>(
    items: Vec<T>,
    f: impl Fn(T) -> R + Sync,
    builder: impl Fn() -> Builder,
) -> Vec<R> {
    if items.len() < WORTH_IT {
        return items.into_iter().map(f).collect();
    }
    let count = items.len();
    let mut rest = items.into_iter();
    let mut chunks = Vec::with_capacity(count.div_ceil(PART));
    while rest.len() > 0 {
        chunks.push((chunks.len(), rest.by_ref().take(PART).collect::<Vec<T>>()));
    }
    let left = Mutex::new(chunks);
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let done = |(index, chunk): (usize, Vec<T>)| (index, chunk.into_iter().map(&f).collect());
    let work = || std::iter::from_fn(next).map(done).collect::<Vec<(usize, Vec<R>)>>();
    let spawned_work =
        || std::iter::from_fn(next).inspect(|_| make_room()).map(done).collect::<Vec<(usize, Vec<R>)>>();
    let mut results = std::thread::scope(|scope| {
        let spawned = (1..THREADS).map_while(|_| builder().spawn_scoped(scope, spawned_work).ok());
        let workers: Vec<_> = spawned.collect();
        let mut results = work();
        for worker in workers {
            results.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_by_key(|(index, _)| *index);
    let mut all = Vec::with_capacity(count);
    results.into_iter().for_each(|(_, chunk)| all.extend(chunk));
    all
}

/// Has the allocator ask the system once for what a part will need: glibc's gives the heap of a thread one page at a time, each
/// by a call that every other thread waits for.
fn make_room() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(ROOM)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_kept_for_every_length() {
        for length in [0, 1, WORTH_IT - 1, WORTH_IT, WORTH_IT + 1, 3 * WORTH_IT + 3] {
            let items: Vec<usize> = (0..length).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map(items, |item| item * 2), expected);
        }
    }

    #[test]
    fn without_a_thread_the_work_is_done_all_the_same() {
        // No machine has a stack of this size to give.
        let builder = || Builder::new().stack_size(1 << 60);
        assert!(builder().spawn(|| ()).is_err());
        let items: Vec<usize> = (0..WORTH_IT).collect();
        assert_eq!(map_with(items.clone(), |item| item, builder), items);
    }
}
