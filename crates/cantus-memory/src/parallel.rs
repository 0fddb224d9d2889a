//! Work on many items at once, in their order.

use std::panic::resume_unwind;
use std::thread;

/// How many threads a long list is worth. Fixed, so that nothing of the machine is asked; the result never depends on it.
const THREADS: usize = 4;
/// Below this many items threads cost more than they save.
const WORTH_IT: usize = 128;

/// `f` of every item, in the order of the items; a long list is shared among threads.
pub fn map<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() < WORTH_IT {
        return items.into_iter().map(f).collect();
    }
    let size = items.len().div_ceil(THREADS);
    let mut rest = items.into_iter();
    let first: Vec<T> = rest.by_ref().take(size).collect();
    let mut chunks = Vec::with_capacity(THREADS);
    while rest.len() > 0 {
        chunks.push(rest.by_ref().take(size).collect::<Vec<T>>());
    }
    let f = &f;
    let work = |chunk: Vec<T>| chunk.into_iter().map(f).collect::<Vec<R>>();
    thread::scope(|scope| {
        let workers: Vec<_> = chunks.into_iter().map(|chunk| scope.spawn(move || work(chunk))).collect();
        let mut results = work(first);
        for worker in workers {
            results.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_kept_for_every_length() {
        for length in [0, 1, WORTH_IT - 1, WORTH_IT, WORTH_IT + 1, 1000, 1003] {
            let items: Vec<usize> = (0..length).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map(items, |item| item * 2), expected);
        }
    }
}
