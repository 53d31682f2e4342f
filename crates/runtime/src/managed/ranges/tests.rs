use super::Ranges;

const LENGTH: usize = 64;

/// Small numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn behaves_like_one_value_per_address() {
    let mut numbers = Numbers(7);
    for _ in 0..200 {
        let mut ranges = Ranges::<u8>::new();
        let mut plain = [0u8; LENGTH];
        for _ in 0..30 {
            let (a, b) = (numbers.below(LENGTH), numbers.below(LENGTH + 1));
            let (start, end) = (a.min(b), a.max(b));
            let bit = 1 << numbers.below(3);
            let set = numbers.below(3) > 0;
            let change = |value: &mut u8| if set { *value |= bit } else { *value &= !bit };
            ranges.update(start, end, change);
            plain[start..end].iter_mut().for_each(change);
            check(&ranges, &plain);
        }
    }
}

fn check(ranges: &Ranges<u8>, plain: &[u8; LENGTH]) {
    for start in [0, 1, LENGTH / 2] {
        let (mut at, mut seen) = (start, Vec::new());
        ranges.visit(start, LENGTH, |from, to, value| {
            assert_eq!(from, at, "stretches follow each other");
            assert!(to > from);
            seen.extend(std::iter::repeat_n(*value, to - from));
            at = to;
        });
        assert_eq!(seen, plain[start..], "values from {start}");
    }
    let stretches: Vec<_> = ranges.stretches.iter().collect();
    assert!(stretches.iter().all(|(_, (_, value))| *value != 0), "no stretch holds the default");
    for pair in stretches.windows(2) {
        let ((_, (end, left)), (start, (_, right))) = (pair[0], pair[1]);
        assert!(end < start || (end == start && left != right), "touching stretches differ: {stretches:?}");
    }
}

#[test]
fn clear_forgets() {
    let mut ranges = Ranges::<u8>::new();
    ranges.update(0, 10, |value| *value = 1);
    ranges.clear(3, 5);
    let mut seen = Vec::new();
    ranges.visit(0, 12, |from, to, value| seen.push((from, to, *value)));
    assert_eq!(seen, [(0, 3, 1), (3, 5, 0), (5, 10, 1), (10, 12, 0)]);
    ranges.clear(0, usize::MAX);
    assert!(ranges.stretches.is_empty());
}
